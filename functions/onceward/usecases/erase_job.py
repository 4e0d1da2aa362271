"""Erase what a job holds: input, answers, result and its own documents. Row, attempts and entries stay.

Its own documents are all that its input names, also where another job of the tenant names them: nothing counts who
names what, and whoever asks for an erasure wants the content gone. That job, if it still runs, ends ``document_gone``.
What a flight computed for the job goes too, once nobody waits for that flight.

In this order: the row is marked (nothing re-opens it, reads tell no result), then the objects go, then the items that
name them are emptied. A process that dies in between leaves an erasure that asking again completes.
"""

from __future__ import annotations

from collections.abc import Sequence
from contextlib import suppress
from dataclasses import dataclass
from itertools import batched

from onceward.domain.erasing import emptied, erase_change
from onceward.domain.job import Job
from onceward.domain.names import JobId, TenantId, identity_of
from onceward.domain.records import (
    INPUT_PLACE,
    PARTICIPANTS,
    Answer,
    ColdItem,
    Input,
    Participant,
    Result,
    answer_prefix,
)
from onceward.domain.transaction import PutCold, Refused
from onceward.errors import InfrastructureError, NotFinished, StoreBusy
from onceward.usecases.at_once import at_once
from onceward.usecases.ports import Blob, Clock, Ids, Store
from onceward.usecases.read_job import find_job
from onceward.usecases.stored_input import StoredInput

RESULTS = "result#"
ITEMS_AT_ONCE = 100  # DynamoDB's limit for one transaction
TRIES = 3  # a job that has ended moves only by a redrive or another erasure


@dataclass(frozen=True, slots=True, kw_only=True)
class Eraser:
    """What an erasure needs of the world."""

    store: Store
    blob: Blob
    clock: Clock
    ids: Ids


async def erase_job(ports: Eraser, *, tenant_id: TenantId, job_id: str) -> Job:
    """Erase, or complete an erasure; raises ``JobNotFound``, and ``NotFinished`` while the job may still run."""
    job = await _marked(ports, tenant_id, job_id)
    items = await _items(ports.store, job)
    await _erase_all(ports.blob, await _documents(ports.blob, items))
    await _erase_content(ports, job, items)
    if job.flight is not None:
        await _erase_flight(ports, tenant_id, job.flight)
    return job


async def _erase_content(ports: Eraser, job: Job, items: Sequence[ColdItem]) -> None:
    """Remove the objects and empty the items of a job that is marked."""
    await _erase_all(ports.blob, _objects(items, of_input=False))
    await _erase_all(ports.blob, _objects(items, of_input=True))  # last: it names the documents
    for chunk in batched([empty for item in items if (empty := emptied(item))], ITEMS_AT_ONCE, strict=False):
        await ports.store.transact([PutCold(empty, job.expires_at) for empty in chunk], ports.ids.token())


async def erase_if_deserted(ports: Eraser, flight: Job) -> bool:
    """Erase what a flight holds that has ended for nobody: all may have left, and been erased, before its end.

    Tells whether it had. Never raises: the end stands, and whoever left can be erased again.
    """
    with suppress(InfrastructureError):
        row = await _erase_flight(ports, flight.tenant_id, flight.job_id)
        return row is not None and not row.participants
    return False


async def _erase_flight(ports: Eraser, tenant_id: TenantId, flight_id: JobId) -> Job | None:
    """Erase what a flight holds, unless somebody still waits for it: everyone it served has a copy of their own.

    A flight that is under way, or owes its result, keeps it; then a later erasure takes it, or its own end if all have
    left it by then and may have been erased already. Documents are not a flight's own: who left may have kept them.
    Its row, if it was erased.
    """
    flight = await ports.store.get_job(tenant_id, identity_of(flight_id))
    if flight is None or flight.job_id != flight_id or not flight.state.is_terminal:
        return None
    members = await ports.store.list_cold(tenant_id, flight_id, PARTICIPANTS)
    for member in members:
        if isinstance(member, Participant):
            row = await ports.store.get_job(tenant_id, identity_of(member.participant))
            if row is not None and row.flight == flight_id and not row.state.is_terminal:
                return None
    if flight.erased_at is None:
        await ports.store.update_job(tenant_id, flight_id, erase_change(flight, ports.clock.now()))
    await _erase_content(ports, flight, await _items(ports.store, flight))
    return flight


async def _marked(ports: Eraser, tenant_id: TenantId, job_id: str) -> Job:
    """The row, marked by us or by an earlier call."""
    for _ in range(TRIES):
        job = await find_job(ports.store, ports.clock, tenant_id, job_id)
        if job.erased_at is not None:
            return job
        if not job.state.is_terminal:
            raise NotFinished("cancel the job, or wait for its end, before erasing it", job_id=job.job_id)
        change = erase_change(job, ports.clock.now())
        if not isinstance(await ports.store.update_job(tenant_id, job.job_id, change), Refused):
            return change.apply(job)
    raise StoreBusy("the job kept moving while it was being erased")


async def _items(store: Store, job: Job) -> list[ColdItem]:
    """Everything beside the row that can hold content."""
    given = await store.get_cold(job.tenant_id, job.job_id, INPUT_PLACE)
    answers = await store.list_cold(job.tenant_id, job.job_id, answer_prefix())
    results = await store.list_cold(job.tenant_id, job.job_id, RESULTS)
    return [*([] if given is None else [given]), *answers, *results]


async def _documents(blob: Blob, items: Sequence[ColdItem]) -> list[str]:
    """The job's own documents; none, once an erasure that broke off has removed the input that named them."""
    for item in items:
        if isinstance(item, Input):
            content = item.body if item.blob_key is None else await blob.get(item.blob_key)
            stored = None if content is None else StoredInput.model_validate_json(content)
            return [] if stored is None else [document.key for document in stored.documents.values()]
    return []


def _objects(items: Sequence[ColdItem], *, of_input: bool) -> list[str]:
    """The objects that items refer to: the input's, or all the others'."""
    kinds = Input if of_input else Answer | Result
    named = [item for item in items if isinstance(item, kinds)]
    return [item.blob_key for item in named if item.blob_key is not None]


async def _erase_all(blob: Blob, keys: Sequence[str]) -> None:
    """Remove objects."""
    await at_once(*(blob.erase(key) for key in keys))
