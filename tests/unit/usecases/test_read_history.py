"""The history of a job: every attempt, closed by whoever comes next; every call; and what came late."""

from __future__ import annotations

from datetime import timedelta

import pytest

from onceward.domain.money import Cost
from onceward.domain.names import run_name
from onceward.domain.records import Usage
from onceward.domain.states import AttemptOutcome, AttemptStage, CallState, JobState, Resolution
from onceward.errors import CallFailure, JobNotFound
from onceward.usecases.cancel_job import cancel_job
from onceward.usecases.read_history import History, read_history
from onceward.usecases.read_job import read_job
from onceward.usecases.resolve_job import resolve_job
from tests.support.builders import JOB_ID, TENANT, a_policy, an_answer, an_open_call
from tests.support.reviews import UNKNOWN, a_verdict, in_review, intake
from tests.support.worker_world import WorkerWorld

pytestmark = pytest.mark.anyio

BUSY = CallFailure("", code="http_429", error_class="rate_limited", was_sent=True, model="fake-1", request_id="req-9")


async def history(world: WorkerWorld, tenant: str = TENANT) -> History:
    """The whole of it."""
    return await read_history(world.store, world.clock, tenant_id=tenant, job_id=JOB_ID)  # type: ignore[arg-type]


async def test_an_attempt_tells_its_run_its_stage_and_its_call() -> None:
    """Who began it, how far it came, whom it asked under which name, and what that cost, token by token."""
    world = WorkerWorld()
    await world.create()
    await world.deliver()
    told = await history(world)
    (line,) = told.attempts
    (call,) = line.calls

    assert world.row.run_token is not None
    assert (line.epoch, line.number, line.attempt.run) == (1, 1, run_name(world.row.run_token))
    assert (line.attempt.outcome, line.stage) == (AttemptOutcome.SUCCEEDED, AttemptStage.ACCEPTED)
    assert (call.state, call.provider, call.model, call.request_id) == (CallState.SUCCEEDED, "fake", "fake-1", "req-1")
    assert (call.usage, call.cost, told.cost) == (Usage(input=7, output=3), Cost.exact(10), Cost.exact(10))


async def test_a_killed_workers_attempt_is_closed_by_who_takes_over() -> None:
    """Interrupted where nothing was sent; the next attempt is another run's."""
    world = WorkerWorld()
    await world.create()
    await world.lose_a_run()
    await world.deliver()
    first, second = (await history(world)).attempts

    assert (first.attempt.outcome, first.stage, first.calls) == (AttemptOutcome.INTERRUPTED, AttemptStage.STARTED, ())
    assert first.attempt.ended_at is not None
    assert (second.attempt.outcome, second.number) == (AttemptOutcome.SUCCEEDED, 2)
    assert first.attempt.run != second.attempt.run


async def test_a_killed_workers_call_is_told_with_its_bound() -> None:
    """Sent, and no answer: the attempt is unknown, and may have cost up to the call's most."""
    world = WorkerWorld()
    await world.create()
    await world.lose_a_run(open=(an_open_call(),))
    await world.deliver()
    (line,) = (await history(world)).attempts

    assert (world.row.state, line.stage, line.attempt.outcome) == (
        JobState.NEEDS_REVIEW,
        AttemptStage.SENT,
        AttemptOutcome.UNKNOWN,
    )
    assert [(call.state, call.cost) for call in line.calls] == [(CallState.UNKNOWN, Cost.maybe(1_000))]
    assert line.attempt.cost == Cost.maybe(1_000)


async def test_a_failed_answer_keeps_its_request_id_and_the_decision_its_reasons() -> None:
    """What a person needs to ask the provider, and why the job was tried again."""
    world = WorkerWorld()
    world.provider.script = [BUSY]
    await world.create()
    await world.deliver()
    (line,) = (await history(world)).attempts
    (call,) = line.calls

    assert (line.stage, call.state, call.request_id, call.error_code) == (
        AttemptStage.ANSWERED,
        CallState.FAILED,
        "req-9",
        "http_429",
    )
    assert line.attempt.decision


@pytest.mark.parametrize("resolution", [Resolution.FAIL, Resolution.ACCEPT])
async def test_an_answer_after_the_end_brings_its_cost(resolution: Resolution) -> None:
    """The books keep the bound, which the truth lies within; whoever reads the job is told the truth."""
    world = WorkerWorld()
    await in_review(world)
    await resolve_job(intake(world), a_verdict(resolution))
    before = await history(world)
    await world.store.put_cold(an_answer(cost=Cost.exact(250)), world.row.expires_at)
    after = await history(world)
    reading = await read_job(world.store, world.blob, world.clock, tenant_id=TENANT, job_id=JOB_ID)

    assert (before.cost, before.attempts[0].attempt.cost) == (Cost.maybe(1_000), Cost.maybe(1_000))
    assert (after.cost, after.attempts[0].attempt.cost) == (Cost.exact(250), Cost.exact(250))
    assert [call.state for call in after.attempts[0].calls] == [CallState.SUCCEEDED]
    assert reading.open_at_end == after_open(world)


def after_open(world: WorkerWorld) -> object:
    """What the last attempt's item keeps."""
    return world.items["attempt#0001#0001"].open


@pytest.mark.failure_mode("F32")
async def test_an_answer_after_a_cancel_brings_its_cost() -> None:
    """A call that was under way when the job was cancelled, and came through all the same."""
    world = WorkerWorld()
    await world.create()
    await world.lose_a_run(open=(an_open_call(),))
    await cancel_job(world.store, world.queue, world.clock, world.ids, tenant_id=TENANT, job_id=JOB_ID)
    await world.deliver()
    assert world.row.state is JobState.CANCELLED
    before = await history(world)
    await world.store.put_cold(an_answer(cost=Cost.exact(250)), world.row.expires_at)

    assert (before.cost, (await history(world)).cost) == (Cost.maybe(1_000), Cost.exact(250))


async def test_all_epochs_are_told_the_oldest_first() -> None:
    """A retry of a review: both epochs' attempts, each with its own call under the one downstream key."""
    world = WorkerWorld()
    await in_review(world)
    await resolve_job(intake(world), a_verdict(Resolution.RETRY))
    await world.deliver()
    told = await history(world)

    assert [(line.epoch, line.number, str(line.attempt.outcome)) for line in told.attempts] == [
        (1, 1, "unknown"),
        (2, 1, "succeeded"),
    ]
    assert len({call.key for line in told.attempts for call in line.calls}) == 1
    assert told.cost == Cost(low=10, high=1_010)


async def test_an_unpriced_answer_is_never_told_as_nothing() -> None:
    """Its bound stays the kind's maximum."""
    world = WorkerWorld(policy=a_policy(max_call_cost=1_000))
    await in_review(world)
    await resolve_job(intake(world), a_verdict())
    unpriced = Cost(low=0, high=1_000, unpriced=True)
    await world.store.put_cold(an_answer(cost=unpriced), world.row.expires_at)

    assert (await history(world)).cost == unpriced


async def test_the_deadline_before_a_retry_is_told_too() -> None:
    """A decision not to try again has reasons as well."""
    world = WorkerWorld()
    told = {"code": "http_429", "error_class": "rate_limited", "was_sent": True}
    world.provider.script = [CallFailure("", **told, retry_after=timedelta(seconds=20))]  # type: ignore[arg-type]
    await world.create(deadline_at=world.clock.now() + timedelta(seconds=40))
    await world.deliver()
    (line,) = (await history(world)).attempts

    assert "deadline" in (line.attempt.decision or "")


async def test_a_foreign_history_is_an_absent_one() -> None:
    """Invariant 9."""
    world = WorkerWorld()
    await world.create()

    with pytest.raises(JobNotFound):
        await history(world, "globex")


async def test_a_lost_reset_is_one_call_of_one_attempt() -> None:
    """The worker itself learned that the outcome is unknown."""
    world = WorkerWorld()
    world.provider.script = [UNKNOWN]
    await world.create()
    await world.deliver()
    (line,) = (await history(world)).attempts

    assert [(call.step, call.state) for call in line.calls] == [("generate/1", CallState.UNKNOWN)]
