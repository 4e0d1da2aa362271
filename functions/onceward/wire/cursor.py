"""Cursors of lists: opaque to clients, and good for one tenant's list with one filter only.

A cursor says where a page ended, never what it holds. Its seal is a hash of whose list it belongs to, so that one taken
to another tenant or filter is refused instead of answering a page that nobody asked for. It is no secret: the tenant
is taken from the token, and a forged cursor opens nothing.
"""

from __future__ import annotations

import base64
import binascii
import hashlib
from collections.abc import Sequence

from pydantic import JsonValue

from onceward.errors import Fault, InvalidInput
from onceward.wire.canonical import canonical_bytes

SEAL_BYTES = 8
MAX_CURSOR = 256


def to_cursor(place: str, belongs_to: Sequence[JsonValue]) -> str:
    """The cursor for a place in the list that ``belongs_to`` names."""
    return base64.urlsafe_b64encode(_seal(belongs_to) + place.encode()).decode().rstrip("=")


def from_cursor(cursor: str, belongs_to: Sequence[JsonValue]) -> str:
    """The place in it; raises ``InvalidInput`` for another list's cursor, and for none of ours."""
    try:
        opened = base64.b64decode(cursor + "=" * (-len(cursor) % 4), altchars=b"-_", validate=True)
        place = opened[SEAL_BYTES:].decode("ascii")
    except (binascii.Error, ValueError):
        raise _foreign() from None
    if opened[:SEAL_BYTES] != _seal(belongs_to):
        raise _foreign()
    return place


def _seal(belongs_to: Sequence[JsonValue]) -> bytes:
    """What ties a cursor to its list."""
    return hashlib.sha256(canonical_bytes([*belongs_to])).digest()[:SEAL_BYTES]


def _foreign() -> InvalidInput:
    """The one refusal: nothing tells why."""
    return InvalidInput("the cursor is not of this list", faults=[Fault("query.cursor", "not a cursor of this list")])
