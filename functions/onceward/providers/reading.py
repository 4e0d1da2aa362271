"""Read what a provider sends without believing it: objects, counts and names, each of its type or not at all."""

from __future__ import annotations

import json
from collections.abc import Mapping

MOST_TOKENS = 2**31  # a count beyond it is no count, and no price is computed from it
_MAX_DIGITS = 20  # as many as 64 bits and a sign have
_MAX_NAME = 128  # of a model or a request id: what is longer is not one


def read_object(body: bytes) -> dict[str, object] | None:
    """A body as a JSON object; ``None`` for anything else. What was paid for is not lost for a number beside it."""
    try:
        parsed = json.loads(body, parse_int=_believable)
    except (ValueError, RecursionError):
        return None
    return parsed if isinstance(parsed, dict) else None


def _believable(digits: str) -> int | None:
    """A number, or nothing: Python refuses to read thousands of digits, and takes quadratic time for fewer."""
    return int(digits) if len(digits) <= _MAX_DIGITS else None


def an_object(value: object) -> Mapping[str, object]:
    """A JSON object, or nothing."""
    return value if isinstance(value, dict) else {}


def a_count(value: object) -> int | None:
    """A believable number of tokens."""
    if not isinstance(value, int) or isinstance(value, bool):
        return None
    return value if 0 <= value <= MOST_TOKENS else None


def an_optional_count(value: object) -> int | None:
    """A count that may be left out: servers send null, or nothing, for what they do not count apart."""
    return a_count(value or 0)


def a_name(value: object) -> str | None:
    """A short printable name, fit for books and logs."""
    if not isinstance(value, str) or not 0 < len(value) <= _MAX_NAME:
        return None
    return value if value.isascii() and value.isprintable() else None
