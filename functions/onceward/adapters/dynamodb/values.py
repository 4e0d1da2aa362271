"""Plain values to and from DynamoDB's typed ones: text, bytes, whole numbers, truth, lists and maps; there is no null.

What is absent is not stored, so that conditions can ask for it and the row stays small.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

type Plain = str | bytes | int | bool | Sequence[Plain] | Mapping[str, Plain]
type Typed = dict[str, Any]  # {"S": "text"}, {"N": "12"}, …: botocore's own shape
type Item = dict[str, Typed]


def to_typed(plain: Plain) -> Typed:
    """Write one value the way the service wants it."""
    match plain:
        case bool():  # before int: a bool is one, too
            return {"BOOL": plain}
        case int():
            return {"N": str(plain)}
        case str():
            return {"S": plain}
        case bytes():
            return {"B": plain}
        case Mapping():
            return {"M": to_item(plain)}
        case _:
            return {"L": [to_typed(one) for one in plain]}


def from_typed(typed: Mapping[str, Any]) -> Plain:
    """Read one value; ``ValueError`` for a type, or a number, that we never write."""
    [(kind, value)] = typed.items()
    match kind:
        case "S" | "B" | "BOOL":
            plain: Plain = value
            return plain
        case "N":
            return int(value)
        case "M":
            return {name: from_typed(one) for name, one in value.items()}
        case "L":
            return [from_typed(one) for one in value]
        case _:
            raise ValueError(f"a value of type {kind} is none of ours")


def to_item(plain: Mapping[str, Plain]) -> Item:
    """Write every value of a map."""
    return {name: to_typed(value) for name, value in plain.items()}
