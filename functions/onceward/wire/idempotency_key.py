"""The Idempotency-Key header: which spellings are read, and which value they stand for.

Two spellings of one value are one key: bare (0x21-0x7E without comma and quote), as clients send it today, and quoted,
as the structured-field string of RFC 8941 that the IETF draft asks for. A value has 1-255 characters. A
header that was sent twice reaches us joined by a comma, as HTTP allows, so a comma outside quotes means two keys, and
neither wins. Two lines that are the halves of one quoted string become that string: nobody behind the gateway can tell.
"""

from __future__ import annotations

import re

from onceward.errors import KeyTooLong, MalformedKey, MissingKey

HEADER = "idempotency-key"
MAX_LENGTH = 255

_BARE = re.compile(r"[!#-+\--~]*")
_QUOTED = re.compile(r'"((?:[ !#-\[\]-~]|\\["\\])*)"')
_ESCAPED = re.compile(r"\\(.)")


def read_key(header: str | None) -> str:
    """The key's value; raises ``MissingKey`` without a header, ``MalformedKey`` outside the grammar, ``KeyTooLong``."""
    if header is None:
        raise MissingKey("send an Idempotency-Key: the same for each retry of one request, new for a new one")
    text = header.strip(" \t")  # optional whitespace around a field's value is not part of it
    value = _unquote(text) if text.startswith('"') else _bare(text)
    if not value:
        raise MalformedKey("the Idempotency-Key is empty")
    if len(value) > MAX_LENGTH:
        raise KeyTooLong(f"an Idempotency-Key has at most {MAX_LENGTH} characters")
    return value


def _bare(text: str) -> str:
    """Read a key without quotes."""
    if "," in text:
        raise MalformedKey("the Idempotency-Key was sent twice, or holds a comma outside quotes")
    if not _BARE.fullmatch(text):
        raise MalformedKey("an Idempotency-Key is visible ASCII without quotes and commas, or a quoted string")
    return text


def _unquote(text: str) -> str:
    """Read a structured-field string; parameters after it are not taken."""
    found = _QUOTED.fullmatch(text)
    if found is None:
        raise MalformedKey("the quoted Idempotency-Key is not an RFC 8941 string, or something follows it")
    return _ESCAPED.sub(r"\1", found[1])
