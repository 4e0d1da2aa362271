"""Reading: the row first, other items only where the row says that they exist, and waiting without burning reads."""

from __future__ import annotations

import asyncio
import json
from collections import Counter
from dataclasses import replace
from datetime import timedelta
from typing import Any

import pytest

from onceward.domain.history import history_of
from onceward.domain.job import Job, PresentAttempt, ResultRef
from onceward.domain.names import StepKey, TenantId
from onceward.domain.records import PastAttempt, Result, Usage
from onceward.domain.states import AttemptOutcome, JobState
from onceward.errors import BlobUnavailable, JobNotFound
from onceward.usecases.read_job import Reading, read_job
from tests.support.api_world import ApiWorld
from tests.support.builders import IDENTITY, JOB_ID, NOW, STEP, TENANT, a_job, a_running_job, an_answer


class CountedStore:
    """Counts what is asked of the tables, and lets the job move after so many looks."""

    def __init__(self, world: ApiWorld, after: dict[int, Job] | None = None) -> None:
        self.asked: Counter[str] = Counter()
        self._world = world
        self._after = after or {}

    def __getattr__(self, name: str) -> Any:
        self.asked[name] += 1
        if name == "get_job" and self.asked[name] in self._after:
            self._world.keep(self._after[self.asked[name]])
        return getattr(self._world.store, name)


def keep_item(world: ApiWorld, item: Any) -> None:
    """Put a cold item."""
    world.store.items.setdefault((TENANT, JOB_ID), {})[item.sort_key] = item


def read(world: ApiWorld, *, tenant: str = TENANT, job_id: str = JOB_ID, wait: float = 0, store: Any = None) -> Reading:
    """Read as a tenant."""
    return asyncio.run(
        read_job(
            store or world.store,
            world.blob,
            world.clock,
            tenant_id=TenantId(tenant),
            job_id=job_id,
            wait=timedelta(seconds=wait),
        )
    )


@pytest.mark.parametrize(
    ("tenant", "job_id"),
    [
        ("globex", JOB_ID),
        (TENANT, f"{IDENTITY}-ZZZZZZZZ"),
        (TENANT, f"{IDENTITY[::-1]}-ABCDEFGH"),
        (TENANT, IDENTITY),
        (TENANT, "none"),
        (TENANT, ""),
    ],
)
def test_absent_foreign_and_later_lives_answer_alike(tenant: str, job_id: str) -> None:
    """A foreign id, another life of the same key, an unknown and a malformed id cannot be told apart."""
    world = ApiWorld()
    world.keep(a_job())

    with pytest.raises(JobNotFound) as refused:
        read(world, tenant=tenant, job_id=job_id)

    assert refused.value.detail == "no such job"


def test_an_expired_row_is_an_absent_job() -> None:
    """Whether or not TTL has removed it."""
    world = ApiWorld()
    world.keep(a_job(expires_at=NOW))

    with pytest.raises(JobNotFound):
        read(world)


def test_a_young_job_costs_one_read() -> None:
    """A poll asks for nothing that cannot exist yet (SQS-32)."""
    world = ApiWorld()
    world.keep(a_running_job())
    store = CountedStore(world)

    assert read(world, store=store) == Reading(job=a_running_job())
    assert store.asked == {"get_job": 1}


def test_past_attempts_are_told_oldest_first() -> None:
    """An attempt already put as an item while the row still holds it is told once, by the row."""
    world = ApiWorld()
    world.keep(a_running_job(attempts=3))
    for number in (1, 2, 3):
        attempt = PresentAttempt(started_at=NOW, outcome=AttemptOutcome.FAILED)
        keep_item(world, PastAttempt(tenant_id=TENANT, job_id=JOB_ID, epoch=1, number=number, attempt=attempt))

    reading = read(world)
    told = history_of(reading.job, reading.past, ())

    assert [(one.number, one.attempt.outcome) for one in told] == [(1, "failed"), (2, "failed"), (3, None)]


def test_the_result_is_the_text_of_the_answer_that_the_row_names() -> None:
    """Not a later attempt's answer, and not another step's."""
    world = ApiWorld()
    ref = ResultRef(epoch=1, attempt=1, step=STEP)
    world.keep(a_job(state=JobState.SUCCEEDED, attempts=1, result=ref))
    for attempt, text in ((1, {"text": "right"}), (2, {"text": "late"})):
        body = json.dumps({"text": json.dumps(text), "finish": "stop", "model": "m", "usage": None, "request_id": None})
        keep_item(world, an_answer(attempt=attempt, body=body, usage=Usage(input=5, output=2)))

    reading = read(world)

    assert reading.result == {"text": "right"}
    assert [one.usage for one in reading.answers] == [Usage(input=5, output=2)] * 2


@pytest.mark.parametrize("is_large", [False, True])
def test_a_result_of_its_own_is_read_from_its_item(is_large: bool) -> None:
    """Inline, or from the blob store where it is large."""
    world = ApiWorld()
    world.keep(a_job(state=JobState.SUCCEEDED, attempts=2, result=ResultRef(epoch=1, attempt=2)))
    key = f"jobs/{TENANT}/{JOB_ID}/result"
    asyncio.run(world.blob.put(key, b'{"n": 2}', "application/json"))
    body, blob_key = (None, key) if is_large else ('{"n": 2}', None)
    keep_item(world, Result(tenant_id=TENANT, job_id=JOB_ID, epoch=1, attempt=2, body=body, blob_key=blob_key))

    assert read(world).result == {"n": 2}


def test_an_erased_result_is_null_and_a_lost_blob_is_an_error() -> None:
    """What was removed on purpose reads as nothing; what the item names and is not there may come back."""
    world = ApiWorld()
    succeeded = a_job(state=JobState.SUCCEEDED, attempts=1, result=ResultRef(epoch=1, attempt=1))
    world.keep(replace(succeeded, erased_at=NOW))
    assert read(world).result is None

    world.keep(succeeded)
    keep_item(world, Result(tenant_id=TENANT, job_id=JOB_ID, epoch=1, attempt=1, body=None, blob_key="jobs/lost"))
    with pytest.raises(BlobUnavailable):
        read(world)


@pytest.mark.parametrize("step", [None, STEP])
def test_a_success_whose_result_ttl_has_taken_is_no_job_any_more(step: StepKey | None) -> None:
    """TTL takes rows and items in any order; by a clock that is behind, the row's time is not over yet."""
    world = ApiWorld()
    world.keep(a_job(state=JobState.SUCCEEDED, attempts=1, result=ResultRef(epoch=1, attempt=1, step=step)))

    with pytest.raises(JobNotFound):
        read(world)


def test_waiting_ends_when_the_job_comes_to_rest() -> None:
    """A wait returns the state it waited for, with its result, and not later than needed."""
    world = ApiWorld()
    world.keep(a_running_job())
    done = a_job(state=JobState.SUCCEEDED, attempts=1, result=None)
    store = CountedStore(world, after={4: done})

    reading = read(world, wait=25, store=store)

    assert reading.job == done
    assert world.clock.seconds == pytest.approx(0.25 + 0.5 + 1)


@pytest.mark.parametrize("state", [JobState.SUCCEEDED, JobState.FAILED, JobState.CANCELLED, JobState.NEEDS_REVIEW])
def test_a_job_at_rest_is_answered_at_once(state: JobState) -> None:
    """Nothing more happens by itself: waiting would only cost."""
    world = ApiWorld()
    world.keep(a_job(state=state))

    read(world, wait=25)

    assert world.clock.seconds == 0


def test_waiting_ends_with_its_time_and_looks_less_and_less_often() -> None:
    """25 s of waiting are about fifteen reads, and the answer is the state at the end."""
    world = ApiWorld()
    world.keep(a_running_job())
    store = CountedStore(world)

    assert read(world, wait=25, store=store).job.state is JobState.RUNNING
    assert world.clock.seconds == pytest.approx(25)
    assert store.asked["get_job"] <= 16


def test_a_job_that_vanishes_while_it_is_waited_for_is_absent() -> None:
    """A wait over the end of the row's life ends as any read after it."""
    world = ApiWorld()
    world.keep(replace(a_running_job(), expires_at=NOW + timedelta(seconds=1)))

    with pytest.raises(JobNotFound):
        read(world, wait=25)
