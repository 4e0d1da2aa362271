"""The canonical form that makes two spellings of one request the same, and what is made from it.

Canonical bytes are RFC 8785. So ``1`` and ``1.0`` are one request, as are two orders of the same members, and nothing
is normalised: a composed and a decomposed ``é`` are two requests.
"""

from __future__ import annotations

import base64
import hashlib

import rfc8785
from pydantic import JsonValue

from onceward.domain.names import IDENTITY_LENGTH, Fingerprint, Identity, TenantId
from onceward.errors import MalformedJson


def canonical_bytes(value: JsonValue) -> bytes:
    """The RFC 8785 form of a value; raises ``MalformedJson`` for what has none."""
    try:
        return rfc8785.dumps(value)
    except (rfc8785.CanonicalizationError, UnicodeEncodeError, RecursionError):
        raise MalformedJson("the value has no canonical form") from None


def fingerprint(kind: str, given: JsonValue) -> Fingerprint:
    """What makes two requests the same: the kind and the input as sent, before defaults and documents."""
    return Fingerprint(hashlib.sha256(canonical_bytes({"kind": kind, "input": given})).hexdigest())


def action_fingerprint(action: str, arguments: JsonValue) -> Fingerprint:
    """What makes two requests for an action the same: no attempt, no run and no transport's id is part of it."""
    return Fingerprint(hashlib.sha256(canonical_bytes({"action": action, "arguments": arguments})).hexdigest())


def job_identity(tenant_id: TenantId, route: str, key: str) -> Identity:
    """The name under which a key of a tenant has its row.

    Hashed from a canonical array, so that two tenants and keys that differ only by where a separator falls differ.
    """
    digest = hashlib.sha256(canonical_bytes([tenant_id, route, key])).digest()
    return Identity(base64.b32encode(digest).decode()[:IDENTITY_LENGTH])
