"""Bodies of cold items: small ones inline, large ones in the blob store first, then named by the item.

Order matters: the blob is stored before the item that names it, so that an item never points at nothing. A blob left
behind by a crash in between is removed by the bucket's lifecycle.
"""

from __future__ import annotations

from contextlib import suppress
from dataclasses import dataclass

from onceward.domain.names import JobId, TenantId
from onceward.domain.records import ITEM_INLINE_LIMIT
from onceward.errors import BlobUnavailable, InfrastructureError
from onceward.usecases.ports import Blob

JSON = "application/json"


@dataclass(frozen=True, slots=True)
class StoredBody:
    """Where a body is: inline, or in the blob store."""

    body: str | None
    blob_key: str | None


async def store_body(
    blob: Blob, tenant_id: TenantId, job_id: JobId, name: str, text: str, *, limit: int = ITEM_INLINE_LIMIT
) -> StoredBody:
    """Keep a body of at most ``limit`` UTF-8 bytes inline; put a larger one to ``jobs/{tenant}/{job}/{name}``."""
    content = text.encode()
    if len(content) <= limit:
        return StoredBody(text, None)
    key = f"jobs/{tenant_id}/{job_id}/{name}"
    await blob.put(key, content, JSON)
    return StoredBody(None, key)


async def take_back(blob: Blob, blob_key: str | None) -> None:
    """Erase what was stored for a write that was refused, if anything was; only what no row can name any more."""
    if blob_key is not None:
        with suppress(InfrastructureError):  # nothing waits for it: the lifecycle comes later
            await blob.erase(blob_key)


async def load_body(blob: Blob, body: str | None, blob_key: str | None) -> str:
    """The body of an item, wherever it is."""
    if body is not None:
        return body
    content = None if blob_key is None else await blob.get(blob_key)
    if content is None:
        raise BlobUnavailable("a stored body is not there")
    return content.decode()
