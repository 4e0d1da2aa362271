"""The ports: everything the stories need from the world, so that a simulation can own all of it.

All are async and one colour. An adapter translates its vendor's errors into ``InfrastructureError``s and raises
nothing else of its own. Every call may be the last thing a process does, before or after its effect: each story says
what then holds.
"""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime, timedelta
from typing import Protocol

from onceward.domain.change import RowChange
from onceward.domain.job import Job
from onceward.domain.names import CoalesceKey, Identity, JobId, TenantId
from onceward.domain.records import ColdItem
from onceward.domain.transaction import Op, WriteReply
from onceward.usecases.account_store import AccountStore
from onceward.usecases.model_port import ModelReply, ModelRequest, Provider, Submitted, Target

__all__ = [
    "Background",
    "Blob",
    "BlobInfo",
    "ChildEnd",
    "Clock",
    "DeadLetter",
    "DueRow",
    "Ids",
    "ModelReply",
    "ModelRequest",
    "Page",
    "Provider",
    "Queue",
    "Signal",
    "Spawn",
    "Stopper",
    "Store",
    "Submitted",
    "Target",
    "UploadForm",
    "Wakeup",
]


@dataclass(frozen=True, slots=True)
class DueRow:
    """What the ``due`` index knows of a row: a hint, to be checked on the base row."""

    tenant_id: TenantId
    identity: Identity
    due: datetime


@dataclass(frozen=True, slots=True)
class Page:
    """Job ids of one page of a tenant's list, newest first, and where the next page starts."""

    job_ids: tuple[JobId, ...]
    next_key: str | None


class Store(AccountStore, Protocol):
    """The tables. Each method is one request (a page, a batch or a write) and atomic."""

    async def get_job(self, tenant_id: TenantId, identity: Identity) -> Job | None:
        """The row under an identity, consistently read; expired rows come back too: callers compare ``expires_at``."""

    async def update_job(self, tenant_id: TenantId, job_id: JobId, change: RowChange) -> WriteReply:
        """Apply a change if all its conditions hold; else the row as it is (``None`` if absent)."""

    async def transact(self, ops: Sequence[Op], token: str) -> WriteReply:
        """Apply all or nothing; ``token`` (36 characters at most) makes a retried request one transaction.

        Raises ``StoreBusy`` when it kept conflicting with other transactions.
        """

    async def put_cold(self, item: ColdItem, expires_at: datetime) -> bool:
        """Put an item if nothing is at its place; ``False``: something is, and it stays."""

    async def get_cold(self, tenant_id: TenantId, job_id: JobId, sort_key: str) -> ColdItem | None:
        """One item, consistently read."""

    async def list_cold(self, tenant_id: TenantId, job_id: JobId, prefix: str) -> tuple[ColdItem, ...]:
        """All items whose sort key begins with ``prefix``, in its order, consistently read."""

    async def due_page(self, shard: str, until: datetime, limit: int) -> tuple[DueRow, ...]:
        """The oldest rows of a shard that are due; eventually consistent."""

    async def count_due(self, shard: str) -> int:
        """How many rows a shard holds, due or not yet; over as many pages as they fill; eventually consistent."""

    async def tenant_page(self, tenant_id: TenantId, start: str | None, limit: int) -> Page:
        """A page of a tenant's jobs, newest first; eventually consistent."""

    async def get_flight(self, tenant_id: TenantId, key: CoalesceKey) -> JobId | None:
        """The flight that a coalesce key points to, consistently read; its own row tells whether it can be joined."""


@dataclass(frozen=True, slots=True)
class Wakeup:
    """A message of the jobs queue: which job to look at, and whose trace it continues."""

    tenant_id: TenantId
    job_id: JobId
    traceparent: str | None = None


@dataclass(frozen=True, slots=True)
class DeadLetter:
    """A message of the dead letters: an exhausted job, or one in review, of one epoch."""

    tenant_id: TenantId
    job_id: JobId
    epoch: int
    reason: str


class Queue(Protocol):
    """The jobs queue and its dead letters."""

    async def wake(self, wakeup: Wakeup) -> None:
        """Send a wake-up; a lost answer may have sent it, and a duplicate is harmless."""

    async def bury(self, letter: DeadLetter) -> None:
        """Send a dead letter."""

    async def bury_unreadable(self, body: str, reason: str) -> None:
        """Keep a message that names no job."""

    async def hide(self, receipt: str, visibility: timedelta) -> None:
        """Deliver the received message again only after ``visibility`` (rounded up to whole seconds, 12 h at most)."""


@dataclass(frozen=True, slots=True)
class BlobInfo:
    """An immutable version of a stored object."""

    key: str
    version: str
    size: int
    sha256: str | None
    content_type: str | None


@dataclass(frozen=True, slots=True)
class UploadForm:
    """A browser-style form: POST these fields and then the file to ``url``."""

    url: str
    fields: Mapping[str, str]
    expires_at: datetime


class Blob(Protocol):
    """Objects too large for the tables, and uploaded documents."""

    async def put(self, key: str, body: bytes, content_type: str) -> None:
        """Store an object under a key that no one else writes; storing the same again changes nothing."""

    async def get(self, key: str, version: str | None = None) -> bytes | None:
        """An object's bytes; ``None`` if it is not there."""

    async def head(self, key: str) -> BlobInfo | None:
        """What is stored under a key now."""

    async def erase(self, key: str) -> None:
        """Remove every version of an object; one that is not there is fine."""

    async def upload_form(self, key: str, *, content_type: str, sha256: str, size: int, valid: timedelta) -> UploadForm:
        """A form that lets one file of exactly this type, checksum and size in, once, for a while."""


class Clock(Protocol):
    """The only source of time."""

    def now(self) -> datetime:
        """The wall clock, aware UTC, cut to milliseconds as stored."""

    def monotonic(self) -> float:
        """Seconds that never run backwards."""

    async def sleep(self, duration: timedelta) -> None:
        """Wait."""


class Ids(Protocol):
    """The only source of randomness."""

    def token(self) -> str:
        """26 base32 characters: 128 random bits and two of padding."""

    def jitter(self) -> float:
        """A draw from [0, 1)."""


class Background(Protocol):
    """Work that goes on beside the event loop until it is stopped."""

    async def stop(self) -> None:
        """End it and wait until it has ended; raises what it raised."""


class Spawn(Protocol):
    """The only way to start a thread or a child."""

    def background(self, work: Callable[[Stopper], Awaitable[None]]) -> Background:
        """Run ``work`` where a busy event loop cannot starve it (a thread with a loop of its own)."""

    def signal(self) -> Signal:
        """A flag that any thread may set and this loop can wait for."""

    async def child(self, module: str, stdin: bytes, *, timeout: timedelta, memory_bytes: int) -> ChildEnd:
        """Run ``python -m module`` apart, with limits, and end it and its children in every case."""


class Stopper(Protocol):
    """How background work learns that it shall end."""

    async def wait(self, duration: timedelta) -> bool:
        """Wait that long; ``True`` as soon as the work shall end."""


class Signal(Protocol):
    """A one-way flag."""

    def set(self) -> None:
        """Raise it; from any thread."""

    def is_set(self) -> bool:
        """Whether it was raised."""

    async def wait(self) -> None:
        """Until it is raised; on the loop that made it."""


@dataclass(frozen=True, slots=True)
class ChildEnd:
    """How a child ended: its exit code (negative: the signal), its output, whether a limit ended it."""

    code: int
    stdout: bytes
    is_timed_out: bool
