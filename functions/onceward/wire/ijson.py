"""Reading a request's bytes: only what every parser understands alike.

Only I-JSON (RFC 7493) is read: what another parser might understand differently is refused, since a fingerprint over
it would compare guesses.

One deviation: I-JSON forbids Unicode's noncharacters (U+FFFF, U+10FFFF, U+FDD0 ...), and they are kept. No two parsers
differ about them, they have UTF-8 and a canonical form, Unicode itself (corrigendum 9) lets them be interchanged, and a
text that was copied out of a PDF may hold one: refusing it would protect nobody.
"""

from __future__ import annotations

import json
import math
import re
from typing import NoReturn

from pydantic import JsonValue

from onceward.errors import MalformedJson, TooDeep, TooLarge

MAX_BODY_BYTES = 256 * 1024  # larger content is a document: uploaded, not sent inline
MAX_DEPTH = 64  # far beyond any model of ours, far below any recursion limit
MAX_INTEGER = 2**53 - 1  # beyond it a double skips integers, and two requests could look like one

# Strings are matched whole, also one that never ends, so that brackets inside do not count and a scan stays linear.
_TOKENS = re.compile(r'"(?:[^"\\]|\\[\s\S]?)*+(?:"|\Z)|[\[{]|[\]}]')
_SURROGATE_ESCAPE = re.compile(r"\\u[dD][89a-fA-F]")
_SURROGATE = re.compile("[\ud800-\udfff]")


def read_json(raw: bytes) -> JsonValue:
    """Read one I-JSON text, with noncharacters; a byte order mark is refused.

    Raises ``MalformedJson``, ``TooDeep`` or ``TooLarge``.
    """
    if len(raw) > MAX_BODY_BYTES:
        raise TooLarge(f"the body has more than {MAX_BODY_BYTES} bytes; upload documents instead of sending them")
    try:
        text = raw.decode("utf-8")
    except UnicodeDecodeError:
        raise MalformedJson("the body is not UTF-8") from None
    if text.startswith("\ufeff"):
        raise MalformedJson("the body begins with a byte order mark")
    check_depth(text)
    try:
        value: JsonValue = json.loads(
            text,
            object_pairs_hook=_object,
            parse_constant=_constant,
            parse_int=_integer,
            parse_float=_float,
        )
    except ValueError:
        raise MalformedJson("the body is not JSON") from None
    if _SURROGATE_ESCAPE.search(text):
        _check_surrogates(value)
    return value


def check_depth(text: str) -> None:
    """Refuse deep nesting before any parser recurses into it; raises ``TooDeep``."""
    depth = 0
    for token in _TOKENS.finditer(text):
        match token.group()[0]:
            case "[" | "{":
                depth += 1
                if depth > MAX_DEPTH:
                    raise TooDeep(f"it is nested more than {MAX_DEPTH} levels deep")
            case "]" | "}":
                depth -= 1


def _object(pairs: list[tuple[str, JsonValue]]) -> dict[str, JsonValue]:
    """Build an object; a name given twice means different things to different parsers."""
    made = dict(pairs)
    if len(made) != len(pairs):
        raise MalformedJson("an object has two members of one name")
    return made


def _constant(_: str) -> NoReturn:
    """Refuse NaN and the infinities, which Python would read."""
    raise MalformedJson("NaN and Infinity are not JSON")


def _integer(digits: str) -> int:
    """Read an integer that every reader sees exactly; the length is checked before the digits are converted."""
    value = int(digits) if len(digits) <= len(str(MAX_INTEGER)) + 1 else MAX_INTEGER + 1
    if abs(value) > MAX_INTEGER:
        raise MalformedJson("an integer is beyond 2^53 - 1: send it as a string")
    return value


def _float(digits: str) -> float:
    """Read a double; what rounds to infinity is refused, what rounds to zero is zero."""
    value = float(digits)
    if math.isinf(value):
        raise MalformedJson("a number is beyond the range of a double")
    return value


def _check_surrogates(value: JsonValue) -> None:
    """Refuse half of a surrogate pair anywhere: it is no character and has no UTF-8."""
    match value:
        case str():
            if _SURROGATE.search(value):
                raise MalformedJson("a string holds half of a surrogate pair")
        case list():
            for part in value:
                _check_surrogates(part)
        case dict():
            for name, part in value.items():
                _check_surrogates(name)
                _check_surrogates(part)
        case _:
            pass
