"""What the jobs of one invocation share: document downloads, children over equal bytes, and turns at one flight's row.

It is made for one batch and closed with it: nothing of it lives on while the environment is frozen, and nothing is
kept for the next one. Keys hold the tenant and an immutable version, so a foreign job's bytes cannot be met. Whoever
waits can be cancelled alone; a download or child that nobody waits for any more is ended.
"""

from __future__ import annotations

import asyncio
import hashlib
from collections.abc import AsyncIterator, Awaitable, Callable
from contextlib import asynccontextmanager
from dataclasses import dataclass
from datetime import timedelta

from onceward.domain.names import CoalesceKey, TenantId
from onceward.singleflight import SingleFlight
from onceward.usecases.at_once import at_once
from onceward.usecases.ports import ChildEnd

LONGEST = 900.0  # seconds: Lambda's own limit; every job's attempt and the child's limits are shorter


@dataclass(frozen=True, slots=True)
class DocumentVersion:
    """One tenant's document in one immutable version."""

    tenant_id: TenantId
    key: str
    version: str


@dataclass(frozen=True, slots=True)
class ChildWork:
    """One tenant's bytes, by their digest, in one kind of child with its limits."""

    tenant_id: TenantId
    module: str
    digest: bytes
    timeout: timedelta
    memory_bytes: int

    @classmethod
    def of(cls, tenant_id: TenantId, module: str, stdin: bytes, timeout: timedelta, memory_bytes: int) -> ChildWork:
        """The key of a child's run: equal bytes under equal limits have equal output."""
        return cls(tenant_id, module, hashlib.sha256(stdin).digest(), timeout, memory_bytes)


class Sharing:
    """One invocation's works in flight; belongs to the loop that uses it first."""

    def __init__(self) -> None:
        """Nothing is under way."""
        self._documents: SingleFlight[DocumentVersion, bytes | None] = _flight()
        self._children: SingleFlight[ChildWork, ChildEnd] = _flight()
        self._turns: dict[CoalesceKey, asyncio.Lock] = {}

    async def document(self, version: DocumentVersion, download: Callable[[], Awaitable[bytes | None]]) -> bytes | None:
        """The bytes of a document, downloaded once for all who want them now; ``None``: they are gone."""
        return await self._documents.do(version, download)

    async def child(self, work: ChildWork, run: Callable[[], Awaitable[ChildEnd]]) -> ChildEnd:
        """How a child over these bytes ended, run once for all who want to know now."""
        return await self._children.do(work, run)

    @asynccontextmanager
    async def turn(self, key: CoalesceKey) -> AsyncIterator[None]:
        """One at a time at a flight's row: in one process they would only refuse each other's transactions."""
        async with self._turns.setdefault(key, asyncio.Lock()):
            yield

    async def aclose(self) -> None:
        """End what is still under way, and wait for it; mostly that is nothing."""
        await at_once(*(flight.aclose() for flight in (self._documents, self._children) if len(flight)))


def _flight[K: (DocumentVersion, ChildWork), V]() -> SingleFlight[K, V]:
    """Works that end with their last participant; a batch has ten jobs at most, and each asks for a few things."""
    return SingleFlight(work_timeout=LONGEST, cancel_when_empty=True)
