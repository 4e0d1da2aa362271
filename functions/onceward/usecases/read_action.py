"""Read an agent's action: its job, how often it was asked for, and what persons said about it."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from dataclasses import dataclass
from datetime import timedelta

from onceward.domain.action_records import (
    ActionWord,
    RunEntry,
    SeenAttempt,
    run_place,
    run_prefix,
    seen_prefix,
    word_prefix,
)
from onceward.domain.job import Job
from onceward.domain.names import Identity, JobId, TenantId, identity_of
from onceward.domain.records import INPUT_PLACE, Input
from onceward.errors import OperationNotFound
from onceward.usecases.actions import PREFIX
from onceward.usecases.at_once import at_once
from onceward.usecases.bodies import load_body
from onceward.usecases.ports import Blob, Clock, Store
from onceward.usecases.read_job import Reading, read_job
from onceward.usecases.stored_input import StoredInput


@dataclass(frozen=True, slots=True, kw_only=True)
class ActionReading:
    """What is known of an action; ``seen`` and ``words`` oldest first, ``asked`` is ``None`` once it was erased."""

    reading: Reading
    asked: StoredInput | None
    seen: tuple[SeenAttempt, ...]
    words: tuple[ActionWord, ...]


@dataclass(frozen=True, slots=True)
class RunPage:
    """Operations of a run, the newest first, and where the next page begins."""

    operations: tuple[tuple[Job, str | None], ...]
    next_start: str | None


def action_name(job: Job) -> str:
    """The action that a job is of; empty for any other kind."""
    return job.kind.removeprefix(PREFIX) if job.kind.startswith(PREFIX) else ""


async def find_action_job(
    store: Store,
    clock: Clock,
    tenant_id: TenantId,
    identity: Identity,
    may_see: Callable[[str], bool] = lambda _: True,
) -> Job:
    """The row of an operation; raises ``OperationNotFound`` for an absent, foreign, expired or hidden one alike."""
    job = await store.get_job(tenant_id, identity)
    is_known = job is not None and job.expires_at > clock.now() and may_see(action_name(job))
    if job is None or not is_known or not action_name(job):
        raise OperationNotFound("no such operation")
    return job


async def await_action(store: Store, blob: Blob, clock: Clock, job: Job, wait: timedelta) -> Reading:
    """The operation's job, after at most ``wait`` if it has not come to rest before."""
    return await read_job(store, blob, clock, tenant_id=job.tenant_id, job_id=job.job_id, wait=wait)


async def read_action(store: Store, blob: Blob, clock: Clock, job: Job, wait: timedelta) -> ActionReading:
    """Everything a tenant may know of its operation."""
    reading = await await_action(store, blob, clock, job, wait)
    seen, words, asked = await at_once(
        store.list_cold(job.tenant_id, job.job_id, seen_prefix()),
        store.list_cold(job.tenant_id, job.job_id, word_prefix()),
        _asked_of(store, blob, job),
    )
    return ActionReading(
        reading=reading,
        asked=asked,
        seen=tuple(one for one in seen if isinstance(one, SeenAttempt)),
        words=tuple(one for one in words if isinstance(one, ActionWord)),
    )


async def list_run(
    store: Store, blob: Blob, clock: Clock, tenant_id: TenantId, run_id: str, start: str | None, limit: int
) -> RunPage:
    """One page of a run's operations; rows that expired or belong to a later life are left out."""
    items = await store.list_cold(tenant_id, run_place(run_id), run_prefix())
    entries = sorted(_entries(items), key=lambda one: one.sort_key, reverse=True)
    left = [one for one in entries if start is None or one.sort_key < start]
    page = left[:limit]
    rows = await at_once(*(_row(store, clock, tenant_id, one.operation) for one in page))
    jobs = [job for job in rows if job is not None]
    names = await at_once(*(operation_id_of(store, blob, job) for job in jobs))
    more = page[-1].sort_key if len(left) > limit else None
    return RunPage(tuple(zip(jobs, names, strict=True)), more)


async def operation_id_of(store: Store, blob: Blob, job: Job) -> str | None:
    """The agent's name for an operation; ``None`` once it was erased."""
    asked = await _asked_of(store, blob, job)
    return None if asked is None else asked.operation_id


async def _asked_of(store: Store, blob: Blob, job: Job) -> StoredInput | None:
    """What an operation was asked with; ``None`` once it was erased."""
    item = await store.get_cold(job.tenant_id, job.job_id, INPUT_PLACE)
    if not isinstance(item, Input) or (item.body is None and item.blob_key is None):
        return None
    return StoredInput.model_validate_json(await load_body(blob, item.body, item.blob_key))


def _entries(items: Iterable[object]) -> list[RunEntry]:
    """Those items that are a run's."""
    return [item for item in items if isinstance(item, RunEntry)]


async def _row(store: Store, clock: Clock, tenant_id: TenantId, operation: JobId) -> Job | None:
    """The row of an operation, if it still is that one."""
    job = await store.get_job(tenant_id, identity_of(operation))
    is_it = job is not None and job.job_id == operation and job.expires_at > clock.now()
    return job if is_it else None
