"""Erasure: content goes for good, in an order that survives a crash anywhere; books stay."""

from __future__ import annotations

import asyncio
import json
from dataclasses import replace
from typing import Any

import pytest

from onceward.domain.job import Job, PresentAttempt, ResultRef
from onceward.domain.ledger import Entry, Verb
from onceward.domain.money import Cost
from onceward.domain.names import JobId, TenantId
from onceward.domain.records import Answer, Input, PastAttempt, Result, Usage
from onceward.domain.states import JobState
from onceward.errors import BlobUnavailable, JobNotFound, NotFinished, StoreUnavailable
from onceward.usecases.erase_job import Eraser, erase_job
from onceward.usecases.read_job import read_job
from tests.support.api_world import DOCUMENT_ID, ApiWorld
from tests.support.builders import JOB_ID, NOW, STEP, TENANT, a_job, a_running_job, an_answer

DOCUMENT = f"documents/{TENANT}/{DOCUMENT_ID}"
LARGE = [f"jobs/{TENANT}/{JOB_ID}/{name}" for name in ("input", "answer", "result")]
BOOKS: dict[str, Any] = {"usage": Usage(input=500, output=200), "cost": Cost.exact(300)}


def a_world(*, is_large: bool = True) -> ApiWorld:
    """A job that succeeded, with everything that one can hold."""
    world = ApiWorld()
    attempt, result = PresentAttempt(started_at=NOW), ResultRef(epoch=1, attempt=2)
    world.keep(a_job(state=JobState.SUCCEEDED, attempts=2, attempt=attempt, finished_at=NOW, result=result))
    document = {"key": DOCUMENT, "version": "version-1", "sha256": "a" * 64, "size": 4, "content_type": "a/b"}
    stored = json.dumps({"input": {"prompt": "CANARY"}, "documents": {DOCUMENT_ID: document}})
    for key, content in ((DOCUMENT, "CANARY"), *zip(LARGE, (stored, "CANARY", '"CANARY"'), strict=True)):
        asyncio.run(world.blob.put(key, content.encode(), "application/json"))
    bodies: list[dict[str, Any]] = [{"body": None, "blob_key": key} for key in LARGE]
    if not is_large:
        bodies = [{"body": body, "blob_key": None} for body in (stored, "CANARY", '"CANARY"')]
    own: dict[str, Any] = {"tenant_id": TENANT, "job_id": JOB_ID}
    items: list[Any] = [
        Input(**own, **bodies[0]),
        an_answer(**BOOKS, **bodies[1]),
        Result(**own, epoch=1, attempt=2, **bodies[2]),
        PastAttempt(**own, epoch=1, number=1, attempt=PresentAttempt(started_at=NOW)),
    ]
    world.store.items[TENANT, JOB_ID] = {item.sort_key: item for item in items}
    entry = Entry(tenant_id=TENANT, job_id=JOB_ID, epoch=1, verb=Verb.CAPTURE, micro_usd=5, at=NOW)
    world.store.entries[TENANT, entry.name] = entry
    return world


def erase(world: ApiWorld, tenant: str = TENANT, *, blob: Any = None, store: Any = None) -> Job:
    """Erase as a tenant."""
    ports = Eraser(store=store or world.store, blob=blob or world.blob, clock=world.clock, ids=world.ids)
    return asyncio.run(erase_job(ports, tenant_id=TenantId(tenant), job_id=JOB_ID))


def content_left(world: ApiWorld) -> bool:
    """Whether any content can still be found, in items or in any version of any object."""
    objects = [asyncio.run(world.blob.get(key)) for key in (DOCUMENT, *LARGE)]
    return "CANARY" in repr(world.store.items) or any(objects)


def test_a_document_goes_although_another_job_names_it() -> None:
    """The decision of docs/security.md: the other job, still open, finds it gone; its row is left alone."""
    world = a_world()
    other = replace(a_job(), job_id=JobId("B" * 26 + JOB_ID[26:]))
    world.keep(other)
    world.store.items[TENANT, other.job_id] = dict(world.store.items[TENANT, JOB_ID])

    erase(world)

    assert asyncio.run(world.blob.get(DOCUMENT)) is None
    assert world.kept(other.job_id) == other


@pytest.mark.parametrize("is_large", [True, False])
def test_content_goes_and_books_stay(*, is_large: bool) -> None:
    """Input, answers, result and own documents, inline or not; costs, attempts and entries are told as before."""
    world = a_world(is_large=is_large)
    for key in LARGE if not is_large else []:
        asyncio.run(world.blob.erase(key))

    job = erase(world)

    assert job == world.kept(JOB_ID)
    assert job.erased_at == NOW
    assert not content_left(world)
    reading = asyncio.run(read_job(world.store, world.blob, world.clock, tenant_id=TENANT, job_id=JOB_ID))
    assert (reading.result, len(reading.past)) == (None, 1)
    assert [(one.usage, one.cost) for one in reading.answers] == [tuple(BOOKS.values())]
    assert len(world.store.entries) == 1


def test_a_late_answer_finds_its_place_taken() -> None:
    """Items are emptied, not removed: what a late worker puts if absent brings no content back."""
    world = a_world()
    erase(world)

    late = an_answer(body="CANARY", step=STEP)
    assert not asyncio.run(world.store.put_cold(late, world.kept(JOB_ID).expires_at))
    assert isinstance(late, Answer)
    assert not content_left(world)


@pytest.mark.parametrize("job", [a_job(), a_running_job(), a_job(state=JobState.NEEDS_REVIEW)])
def test_a_job_that_may_still_run_keeps_its_input(job: Job) -> None:
    """Cancel it first; a review still needs what it is about."""
    world = a_world()
    world.keep(job)

    with pytest.raises(NotFinished):
        erase(world)

    assert world.kept(JOB_ID) == job
    assert content_left(world)


def test_a_foreign_job_is_an_absent_one() -> None:
    """Nothing of it is told or touched."""
    world = a_world()

    with pytest.raises(JobNotFound):
        erase(world, "globex")

    assert world.kept(JOB_ID).erased_at is None


class BreaksOff:
    """A port whose n-th use, and every later one, does not come through."""

    def __init__(self, port: Any, uses: int, error: Exception, counted: tuple[str, ...]) -> None:
        self._port = port
        self._uses = uses
        self._error = error
        self._counted = counted

    def __getattr__(self, name: str) -> Any:
        use = getattr(self._port, name)

        async def counted(*given: Any, **named: Any) -> Any:
            self._uses -= 1
            if self._uses < 0:
                raise self._error
            return await use(*given, **named)

        return counted if name in self._counted else use


@pytest.mark.parametrize("uses", range(7))
def test_an_erasure_that_broke_off_is_completed_by_asking_again(uses: int) -> None:
    """Wherever it stopped, the job is marked before anything is gone, and the second call leaves nothing."""
    world = a_world()
    blob = BreaksOff(world.blob, uses, BlobUnavailable(""), ("erase", "get"))
    store = BreaksOff(world.store, uses, StoreUnavailable(""), ("update_job", "transact", "list_cold"))
    broken: tuple[dict[str, Any], ...] = ({"blob": blob}, {"store": store})
    for ports in broken:
        try:
            erase(world, **ports)
        except (BlobUnavailable, StoreUnavailable):
            is_marked = world.kept(JOB_ID).erased_at is not None
            assert is_marked or content_left(world)

    erase(world)

    assert world.kept(JOB_ID).erased_at == NOW
    assert not content_left(world)


def test_erasing_twice_keeps_the_first_instant() -> None:
    """And moves the row no more."""
    world = a_world()
    first = erase(world)
    world.clock.move(first.deadline_at - NOW)

    assert erase(world) == first


def test_a_redrive_in_between_wins() -> None:
    """The mark is conditioned on the row as it was read: a job that was re-opened keeps its input."""
    world = a_world()
    world.keep(replace(world.kept(JOB_ID), state=JobState.FAILED))
    store = world.store

    class Redriven:
        """A store in which the job is re-opened just before our write."""

        def __getattr__(self, name: str) -> Any:
            if name == "update_job":
                world.keep(replace(world.kept(JOB_ID), state=JobState.QUEUED, epoch=2, seq=9))
            return getattr(store, name)

    with pytest.raises(NotFinished):
        erase(world, store=Redriven())

    assert content_left(world)
