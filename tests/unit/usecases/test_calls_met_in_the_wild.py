"""What calls did to other people's workers (time-outs, layered retries, odd answers), each by its case's id."""

from __future__ import annotations

from datetime import timedelta

import pytest

from onceward.domain.deliveries import Acknowledge
from onceward.domain.money import Cost
from onceward.domain.policy import RetryPolicy
from onceward.domain.states import AttemptOutcome, CallState, JobState
from onceward.errors import CallFailure
from tests.support.builders import a_policy, seconds
from tests.support.fakes import a_reply
from tests.support.worker_world import WorkerWorld

pytestmark = pytest.mark.anyio

BUSY = CallFailure("", code="busy", error_class="rate_limited", was_sent=True)
TIMED_OUT = CallFailure("", code="read_timeout", error_class="outcome_unknown", was_sent=True)


async def test_timed_out_call_is_one_call_and_a_stored_maybe() -> None:
    """SQS-17, LE-05: no client retries beneath us; the outcome is in the row before the function's time is up."""
    world = WorkerWorld()
    await world.create()
    world.provider.script = [TIMED_OUT]
    await world.deliver()

    assert (len(world.provider.keys), world.row.state) == (1, JobState.NEEDS_REVIEW)
    (call,) = world.row.open
    assert (call.state, call.max_cost) == (CallState.UNKNOWN, 1_000)
    assert world.row.attempt is not None
    assert world.row.attempt.outcome is AttemptOutcome.UNKNOWN


@pytest.mark.failure_mode("F37")
@pytest.mark.parametrize("seconds_left", [39, 41])
async def test_call_leaves_only_if_the_invocation_outlasts_it(seconds_left: int) -> None:
    """SQS-17: its hard limit (30 s) and the time to settle (10 s) must fit, or nothing is sent and no attempt burnt."""
    world = WorkerWorld()
    await world.create()
    await world.deliver(seconds_left=seconds_left)

    assert len(world.provider.keys) == (0 if seconds_left == 39 else 1)
    assert world.row.attempts == (0 if seconds_left == 39 else 1)


async def test_five_attempts_are_five_calls() -> None:
    """SQS-18: layers of retries do not multiply: there is one."""
    world = WorkerWorld(policy=a_policy(retry=RetryPolicy(max_attempts=5)))
    await world.create()
    world.provider.script = [BUSY] * 99
    for count in range(1, 20):
        await world.deliver(receive_count=count)
        world.clock.move(timedelta(minutes=1))

    assert len(world.provider.keys) == 5
    assert (world.row.state, world.row.error_code) == (JobState.FAILED, "attempts_exhausted")


async def test_wait_beyond_sqs_s_limits_is_the_row_s() -> None:
    """SQS-21: half an hour: the message ends, the row says when, and nothing starts before."""
    world = WorkerWorld()
    await world.create()
    wish = timedelta(seconds=1_800)
    world.provider.script = [CallFailure("", code="busy", error_class="rate_limited", was_sent=True, retry_after=wish)]
    report = await world.deliver()
    assert report.disposition == Acknowledge()
    world.clock.move(timedelta(seconds=1_799))
    await world.deliver()
    assert len(world.provider.keys) == 1
    world.clock.move(seconds(60))
    await world.deliver()

    assert (len(world.provider.keys), world.row.state) == (2, JobState.SUCCEEDED)


@pytest.mark.failure_mode("F27")
async def test_paid_answer_that_breaks_the_schema_is_failed_with_its_tokens() -> None:
    """LE-01: parsing failed here, the provider was paid: tokens and cost are booked, nothing is bought again."""
    world = WorkerWorld()
    await world.create()
    world.provider.script = [a_reply('{"tekst":"no"}')]
    await world.deliver()

    assert (world.row.state, world.row.error_code, len(world.provider.keys)) == (JobState.FAILED, "invalid_output", 1)
    assert world.row.attempt is not None
    assert (world.row.attempt.outcome, world.row.attempt.cost) == (AttemptOutcome.FAILED, Cost.exact(10))
    assert world.items["call#0001#generate/1#0001"].usage.output == 3
