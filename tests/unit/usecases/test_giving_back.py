"""What a run that infrastructure stopped gives back: the state it claimed from, and its attempt only if untouched."""

from __future__ import annotations

from datetime import timedelta
from typing import Any

import pytest

from onceward.domain.job import AnswerRef
from onceward.domain.policy import Capability, RetryPolicy
from onceward.domain.states import AttemptOutcome, JobState, WaitingFor
from onceward.errors import BlobUnavailable, CallFailure, SecretUnavailable, StoreUnavailable
from onceward.usecases.cancel_job import cancel_job
from onceward.usecases.context import Context
from onceward.usecases.read_job import read_job
from tests.support.builders import JOB_ID, TENANT, a_policy, an_answer, seconds
from tests.support.hooked_store import HookedStore
from tests.support.worker_world import Ask, Said, WorkerWorld, ask_all

pytestmark = pytest.mark.anyio

LOOKUP = Capability(lookup_lag=seconds(1))
UNKNOWN = CallFailure("", code="connection_lost", error_class="outcome_unknown", was_sent=True)
BUSY = CallFailure("", code="rate_limited", error_class="rate_limited", was_sent=True)
NO_KEY = SecretUnavailable("planned")


def kept_attempts(world: WorkerWorld) -> list[tuple[str, AttemptOutcome | None]]:
    """The attempts that are items, oldest first."""
    places = sorted(place for place in world.items if place.startswith("attempt#"))
    return [(place, world.items[place].attempt.outcome) for place in places]


async def looked_up_and_stopped(max_attempts: int) -> WorkerWorld:
    """The first attempt's call was a maybe, a lookup has ended it, and the second attempt finds no key to send with."""
    world = WorkerWorld(policy=a_policy(retry=RetryPolicy(max_attempts=max_attempts)))
    world.provider.capability = LOOKUP
    world.provider.script = [UNKNOWN, NO_KEY]
    await world.create()
    await world.deliver()
    assert (world.row.state, world.row.waiting_for) == (JobState.WAITING, WaitingFor.LOOKUP)
    world.clock.move(timedelta(minutes=10))
    await world.deliver()
    world.clock.move(timedelta(minutes=10))
    return world


@pytest.mark.failure_mode("F83")
async def test_resumed_job_goes_back_to_what_it_was_resumed_from() -> None:
    """Not to the queue: a start there would begin an attempt over one that no item tells of."""
    world = await looked_up_and_stopped(max_attempts=3)

    assert (world.row.state, world.row.waiting_for, world.row.attempts) == (JobState.WAITING, WaitingFor.LOOKUP, 2)
    await world.deliver()
    assert (world.row.state, world.row.attempts) == (JobState.SUCCEEDED, 3)
    assert [place for place, _ in kept_attempts(world)] == ["attempt#0001#0001", "attempt#0001#0002"]


async def test_attempt_that_followed_a_lookup_is_not_given_back() -> None:
    """Only the attempt that the claim itself started is: an outage after a resume costs the attempt."""
    world = await looked_up_and_stopped(max_attempts=2)
    await world.deliver()

    assert (world.row.state, world.row.error_code, world.row.attempts) == (JobState.FAILED, "attempts_exhausted", 2)


async def test_attempt_given_back_leaves_the_history_readable() -> None:
    """The row has no attempt of its own then, and still its past ones are told, also once it has ended."""
    world = WorkerWorld()
    world.provider.script = [BUSY, NO_KEY]
    await world.create()
    await world.deliver()
    world.clock.move(timedelta(minutes=1))
    await world.deliver()
    assert (world.row.state, world.row.attempts, world.row.attempt) == (JobState.WAITING, 1, None)
    await cancel_job(world.store, world.queue, world.clock, world.ids, tenant_id=TENANT, job_id=JOB_ID)
    reading = await read_job(world.store, world.blob, world.clock, tenant_id=TENANT, job_id=JOB_ID)

    assert [one.attempt.outcome for one in reading.past] == [AttemptOutcome.FAILED]


async def test_attempt_that_has_ended_is_not_given_back() -> None:
    """Its item is there and never changes: the next attempt has its own, and every item says what the row said."""
    runs: list[int] = []
    answered = [False]

    async def run(context: Context, given: Ask) -> Said:
        runs.append(context.attempt)
        if len(runs) == 1:
            raise KeyError
        return await ask_all(context, given)

    async def update(method: Any, tenant_id: Any, job_id: Any, change: Any) -> Any:
        if change.set.get("waiting_for") is WaitingFor.RETRY and not answered[0]:
            answered[0] = True
            raise StoreUnavailable("planned")
        return await method(tenant_id, job_id, change)

    world = WorkerWorld(run)
    store = HookedStore(world.store, update_job=update)
    world.provider.script = [BUSY]
    await world.create()
    await world.deliver(store=store)
    assert (world.row.state, world.row.waiting_for, world.row.attempts) == (JobState.WAITING, WaitingFor.LOOKUP, 1)
    world.clock.move(timedelta(minutes=1))
    await world.deliver(store=store)

    assert (world.row.attempts, runs) == (2, [1, 2])
    assert kept_attempts(world) == [
        ("attempt#0001#0001", AttemptOutcome.FAILED),
        ("attempt#0001#0002", AttemptOutcome.FAILED),
    ]
    assert world.items["attempt#0001#0002"].attempt == world.row.attempt


async def broken(context: Context, given: Ask) -> Said:
    """A kind whose document's key is gone for good, which looks like an outage."""
    raise BlobUnavailable("planned")


async def test_job_that_infrastructure_always_stops_ends_after_its_deadline() -> None:
    """No attempt is counted and no time is lost to others, but it does not last for ever: failed, and released."""
    world = WorkerWorld(broken)
    await world.create(reserved_micro_usd=5_000)
    for _ in range(23):
        await world.deliver()
        world.clock.move(timedelta(hours=1))
    assert (world.row.state, world.row.attempts) == (JobState.QUEUED, 0)
    for _ in range(3):
        await world.deliver()
        world.clock.move(timedelta(hours=1))

    assert (world.row.state, world.row.error_code) == (JobState.FAILED, "deadline_exceeded")
    assert (world.account.available, world.provider.keys) == (5_000, [])


async def test_outage_at_the_deadline_ends_no_job_before_it_may_be_over() -> None:
    """A paid answer is not thrown away for an outage of some minutes."""
    world = WorkerWorld()
    await world.create()
    await world.lose_a_run()
    await world.store.put_cold(an_answer(body=""), world.row.expires_at)
    world.overwrite(deadline_at=world.clock.now())

    async def unavailable(*_: Any) -> Any:
        raise StoreUnavailable("planned")

    await world.deliver(store=HookedStore(world.store, get_cold=unavailable))
    assert world.row.state is JobState.WAITING


async def test_cancel_ends_a_job_that_infrastructure_always_stops() -> None:
    """Nobody waits for what its code would have come to."""
    world = WorkerWorld(broken)
    await world.create(reserved_micro_usd=5_000)
    await world.lose_a_run(cancel_requested_at=world.clock.now())
    await world.deliver()

    assert (world.row.state, world.account.available) == (JobState.CANCELLED, 5_000)


async def test_paid_answer_that_its_code_cannot_read_goes_to_a_person() -> None:
    """Past the deadline and an hour of patience, an accepted answer is a review and no failure."""
    world = WorkerWorld(broken)
    await world.create()
    await world.lose_a_run(accepted={"generate/1": AnswerRef(epoch=1, attempt=1)})
    world.overwrite(deadline_at=world.clock.now() - timedelta(hours=2))
    await world.deliver()

    assert world.row.state is JobState.NEEDS_REVIEW
