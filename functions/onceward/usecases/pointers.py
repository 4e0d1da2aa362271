"""Where a request is wrong, told without a word of it: pointers of schema fields and indices, and not too many.

A client chooses the names of members that no model knows, and of a map's members too: those names are content, like
any value, and stand as ``?``. What is left is bounded by the models, so an answer's size is ours to say.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from functools import cache
from typing import Any

from pydantic import BaseModel, JsonValue, PydanticUserError, ValidationError

from onceward.errors import Fault

UNKNOWN = "?"
MOST_FAULTS = 50  # nobody mends more at once, and a body of 256 KB can be wrong in a hundred thousand places
LONGEST_POINTER = 256  # characters; a pointer is cut between two steps
LONGEST_DETAIL = 200  # characters; a kind's own validator may have much to say
_TELLS_THE_VALUE = {"union_tag_invalid": "Input tag is none of the expected tags"}  # pydantic quotes it


@cache
def field_names(model: type[BaseModel]) -> frozenset[str]:
    """All names that a model gives to members, at any depth; only its own if it has no JSON schema."""
    try:
        return frozenset(_properties(model.model_json_schema()))
    except PydanticUserError:
        return frozenset(model.model_fields)


def pointer(steps: Iterable[str | int], known: frozenset[str], at: str = "") -> str:
    """The JSON pointer (RFC 6901) of a place below ``at``."""
    told = at
    for step in steps:
        name = str(step) if isinstance(step, int) or step in known else UNKNOWN
        longer = f"{told}/{name.replace('~', '~0').replace('/', '~1')}"
        if len(longer) > LONGEST_POINTER:
            break
        told = longer
    return told


def faults_of(error: ValidationError, model: type[BaseModel], at: str = "") -> list[Fault]:
    """A model's complaints by JSON pointer below ``at``, without the values that caused them."""
    known = field_names(model)
    found = error.errors(include_url=False, include_context=False, include_input=False)
    return [Fault(pointer(one["loc"], known, at), detail_of(one)) for one in found]


def detail_of(complaint: Mapping[str, Any]) -> str:
    """What pydantic says of a place, where that does not quote what it found there."""
    told = _TELLS_THE_VALUE.get(str(complaint.get("type")), str(complaint.get("msg", "")))
    return told[:LONGEST_DETAIL]


def pointers_of(value: JsonValue, wanted: set[str], known: frozenset[str], at: str) -> Iterator[str]:
    """The pointers of all strings that are one of ``wanted``."""
    match value:
        case str() if value in wanted:
            yield at
        case list():
            for index, part in enumerate(value):
                yield from pointers_of(part, wanted, known, pointer([index], known, at))
        case dict():
            for name, part in value.items():
                yield from pointers_of(part, wanted, known, pointer([name], known, at))
        case _:
            return


def bounded(faults: Sequence[Fault]) -> tuple[Fault, ...]:
    """The first faults, and how many more there are."""
    more = len(faults) - MOST_FAULTS
    return tuple(faults) if more <= 0 else (*faults[:MOST_FAULTS], Fault("", f"{more} more"))


def _properties(schema: JsonValue | Mapping[str, Any]) -> Iterator[str]:
    """The names of members anywhere in a JSON schema."""
    match schema:
        case dict():
            named = schema.get("properties")
            yield from named if isinstance(named, dict) else ()
            for part in schema.values():
                yield from _properties(part)
        case list():
            for part in schema:
                yield from _properties(part)
        case _:
            return
