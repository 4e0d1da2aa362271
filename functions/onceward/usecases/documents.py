"""Uploaded documents: where they are kept, and which version a new job reads.

A document is write-once and lives below its tenant's prefix, so a foreign or invented id resolves to nothing, exactly
as an absent one. The version is fixed at create: what is read later is what was there then.
"""

from __future__ import annotations

import re
from collections.abc import Iterable

from pydantic import JsonValue

from onceward.domain.names import TenantId
from onceward.errors import Fault, UnknownDocument
from onceward.usecases.at_once import at_once
from onceward.usecases.pointers import pointers_of
from onceward.usecases.ports import Blob
from onceward.usecases.stored_input import StoredDocument

_DOCUMENT_ID = re.compile(r"[A-Z2-7]{26}")
UNTYPED = "application/octet-stream"


def is_document_id(text: str) -> bool:
    """Whether ``text`` can be part of a key; anything else names no document."""
    return _DOCUMENT_ID.fullmatch(text) is not None


def document_key(tenant_id: TenantId, document_id: str) -> str:
    """Where a tenant's document is kept."""
    return f"documents/{tenant_id}/{document_id}"


async def resolve_documents(
    blob: Blob, tenant_id: TenantId, document_ids: Iterable[str], given: JsonValue, known: frozenset[str]
) -> dict[str, StoredDocument]:
    """The present version of each document; raises ``UnknownDocument`` with the places that name an absent one.

    ``known``: the names of the input's members that may be told.
    """
    wanted = list(dict.fromkeys(document_ids))
    found = await at_once(*(_resolve(blob, tenant_id, one) for one in wanted))
    absent = {one for one, document in zip(wanted, found, strict=True) if document is None}
    if absent:
        faults = [Fault(place, "no such document") for place in pointers_of(given, absent, known, "/input")]
        raise UnknownDocument("the input names a document that was not uploaded", faults=faults)
    return {one: document for one, document in zip(wanted, found, strict=True) if document is not None}


async def _resolve(blob: Blob, tenant_id: TenantId, document_id: str) -> StoredDocument | None:
    """One document as it is now."""
    if not is_document_id(document_id):
        return None
    info = await blob.head(document_key(tenant_id, document_id))
    if info is None:
        return None
    return StoredDocument(
        key=info.key,
        version=info.version,
        sha256=info.sha256,
        size=info.size,
        content_type=info.content_type or UNTYPED,
    )
