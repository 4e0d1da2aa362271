"""How large DynamoDB takes an item to be, by its documented rules: names in UTF-8, two digits of a number to a byte."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any


def size_of_item(item: Mapping[str, Mapping[str, Any]]) -> int:
    """Bytes of all names and values."""
    return sum(len(name.encode()) + size_of_value(value) for name, value in item.items())


def size_of_value(typed: Mapping[str, Any]) -> int:
    """Bytes of one value; a map or list costs three, and one for each element."""
    [(kind, value)] = typed.items()
    match kind:
        case "S":
            return len(str(value).encode())
        case "B":
            return len(bytes(value))
        case "N":
            text = str(value)
            return (len(text.lstrip("-")) + 1) // 2 + 1 + text.startswith("-")
        case "M":
            return 3 + size_of_item(value) + len(value)
        case "L":
            return 3 + sum(size_of_value(one) + 1 for one in value)
        case _:
            return 1
