"""One delivery: the plain run, what ends a job, and what becomes of the message."""

from __future__ import annotations

import pytest

from onceward.domain.claim import Claim, Unclaimable
from onceward.domain.deliveries import Acknowledge, PutBack
from onceward.domain.job import AnswerRef, ResultRef
from onceward.domain.money import Cost
from onceward.domain.states import AttemptOutcome, JobState, WaitingFor
from onceward.errors import CallFailure, JobFailure
from onceward.usecases.context import Context
from tests.support.builders import JOB_ID, STEP, TENANT, TOKEN, seconds
from tests.support.worker_world import Ask, Said, WorkerWorld

pytestmark = pytest.mark.anyio

REFUSED = CallFailure("", code="rate_limited", error_class="rate_limited", was_sent=True, retry_after=seconds(120))
UNREACHABLE = CallFailure("", code="provider_unreachable", error_class="transient", was_sent=False)
REJECTED = CallFailure("", code="content_filter", error_class="policy_rejected", was_sent=True)


async def test_plain_run_is_one_attempt_one_call_one_charge() -> None:
    """Invariant 4: without faults, one attempt and one call; the result is the answer; the reservation is captured."""
    world = WorkerWorld()
    await world.create(reserved_micro_usd=5_000)
    report = await world.deliver()

    assert (report.disposition, report.found) == (Acknowledge(), Claim.START)
    assert (world.row.state, world.row.attempts, len(world.provider.keys)) == (JobState.SUCCEEDED, 1, 1)
    assert world.row.result == ResultRef(epoch=1, attempt=1, step=STEP)
    assert (world.row.spent, world.row.charge_micro_usd, world.row.due) == (Cost.exact(10), 5_000, None)
    assert (world.account.captured, world.account.reserved) == (5_000, 0)
    assert world.row.attempt is not None
    assert (world.row.attempt.outcome, world.row.attempt.cost) == (AttemptOutcome.SUCCEEDED, Cost.exact(10))
    assert not world.spawn.running


async def test_steps_of_one_attempt_are_each_asked_once_under_their_own_key() -> None:
    """Every step is journaled and accepted apart; the keys differ, also for the target."""
    world = WorkerWorld()
    await world.create(steps=["a", "b", "c"])
    await world.deliver()

    assert world.row.state is JobState.SUCCEEDED
    assert len(set(world.provider.keys)) == 3
    assert world.row.accepted == {f"{step}/1": AnswerRef(epoch=1, attempt=1) for step in "abc"}


async def test_output_that_is_not_an_answer_is_an_item_of_its_own() -> None:
    """The row names the attempt's result item."""

    async def shout(context: Context, given: Ask) -> Said:
        return Said(text=(await context.model.generate("generate", [("user", "?")])).text.upper())

    world = WorkerWorld(shout)
    await world.create()
    await world.deliver()

    assert world.row.result == ResultRef(epoch=1, attempt=1)
    assert "result#0001#0001" in world.items


@pytest.mark.failure_mode("F45")
async def test_second_delivery_of_a_settled_job_changes_nothing() -> None:
    """A redelivery of a finished job is acknowledged without a call."""
    world = WorkerWorld()
    await world.create()
    await world.deliver()
    settled = world.row
    report = await world.deliver()

    assert (report.disposition, report.found) == (Acknowledge(), Unclaimable.TERMINAL)
    assert (world.row, len(world.provider.keys)) == (settled, 1)


async def test_rate_limit_waits_at_least_as_long_as_asked() -> None:
    """Retry-After is a floor, kept in the row, not slept."""
    world = WorkerWorld()
    world.provider.script = [REFUSED]
    await world.create()
    report = await world.deliver()

    assert (world.row.state, world.row.waiting_for) == (JobState.WAITING, WaitingFor.RETRY)
    assert world.row.wake_at == world.clock.now() + seconds(126)
    assert report.disposition == PutBack(seconds(126 + 2 + 1))
    assert world.past_outcomes == [AttemptOutcome.FAILED]
    world.clock.move(seconds(127))
    await world.deliver()

    assert (world.row.state, world.row.attempts) == (JobState.SUCCEEDED, 2)


async def test_exhausted_attempts_are_a_dead_letter() -> None:
    """Three attempts that could not even connect: failed, released, one letter, nothing spent."""
    world = WorkerWorld()
    world.provider.script = [UNREACHABLE] * 3
    await world.create(reserved_micro_usd=5_000)
    for _ in range(3):
        await world.deliver()
        world.clock.move(seconds(20))

    assert (world.row.state, world.row.error_code) == (JobState.FAILED, "attempts_exhausted")
    assert (world.row.attempts, world.row.due, len(world.queue.dead_letters)) == (3, None, 1)
    assert (world.account.available, world.row.spent) == (5_000, Cost.nothing())


async def test_permanent_failure_is_final_at_once() -> None:
    """A refusal by policy is not tried again and is no dead letter."""
    world = WorkerWorld()
    world.provider.script = [REJECTED]
    await world.create()
    await world.deliver()

    assert (world.row.state, world.row.error_code) == (JobState.FAILED, "content_filter")
    assert (world.row.attempts, world.queue.dead_letters) == (1, ())


@pytest.mark.parametrize(
    ("error", "code", "state"),
    [
        (JobFailure("", code="no_text"), "no_text", JobState.FAILED),
        (RuntimeError("secret text"), "kind_error", JobState.WAITING),
        (TimeoutError(), "kind_error", JobState.WAITING),
    ],
)
async def test_kind_s_own_errors(error: Exception, code: str, state: JobState) -> None:
    """A failure raised on purpose is final; a bug is tried again and leaks nothing of its text."""

    async def broken(context: Context, given: Ask) -> Said:
        raise error

    world = WorkerWorld(broken)
    await world.create()
    await world.deliver()

    assert world.row.state is state
    assert world.row.attempt is not None
    assert world.row.attempt.error_code == code
    assert "secret text" not in str(world.row)


async def test_deadline_ends_a_job_that_nobody_could_run() -> None:
    """A closing run without an attempt: failed, ``deadline_exceeded``, nothing sent."""
    world = WorkerWorld()
    await world.create(deadline_at=world.clock.now())
    await world.deliver()

    assert (world.row.state, world.row.error_code) == (JobState.FAILED, "deadline_exceeded")
    assert (world.row.attempts, world.provider.keys) == (0, [])


@pytest.mark.failure_mode("F47")
async def test_live_lease_is_respected_and_takeover_waits_for_its_turn() -> None:
    """A second delivery is acknowledged; an expired lease is left alone until the batch's other jobs have returned."""
    world = WorkerWorld()
    await world.create()
    await world.lose_a_run()
    early = await world.deliver(may_take_over=False)

    assert (early.is_takeover_due, early.disposition) == (True, PutBack(seconds(3)))
    world.overwrite(lease_until=world.clock.now() + seconds(1))
    live = await world.deliver()

    assert (live.found, live.disposition) == (Unclaimable.LEASE_LIVE, Acknowledge())
    assert world.row.run_token != TOKEN


@pytest.mark.failure_mode("F46")
async def test_absent_job_is_acknowledged() -> None:
    """A message that outlived its job does nothing."""
    world = WorkerWorld()
    report = await world.deliver()

    assert (report.disposition, report.found) == (Acknowledge(), Unclaimable.ABSENT)
    assert (TENANT, JOB_ID) not in world.store.items
