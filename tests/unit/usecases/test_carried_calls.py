"""A call that a person's ``retry`` took along into a new epoch: the attempt that shares its number is not its own."""

from __future__ import annotations

import pytest

from onceward.domain.money import Cost
from onceward.domain.records import Answer
from onceward.domain.states import AttemptOutcome, CallState, JobState
from onceward.errors import JobFailure
from onceward.usecases.context import Context
from tests.support.builders import an_answer, an_open_call
from tests.support.worker_world import Ask, Said, WorkerWorld

pytestmark = pytest.mark.anyio

CARRIED = an_open_call(state=CallState.UNKNOWN)  # of the first attempt of the first epoch
ANSWER_BODY = '{"text":"{\\"text\\":\\"yes\\"}","finish":"stop","model":"fake-1","usage":null,"request_id":null}'


GOOD = an_answer(body=ANSWER_BODY)
BAD = an_answer(body=None, state=CallState.FAILED, error_class="transient", error_code="overloaded")


@pytest.mark.parametrize(("answer", "sent"), [(GOOD, 0), (BAD, 1)])
async def test_what_it_cost_is_the_job_s_and_not_the_new_attempt_s(answer: Answer, sent: int) -> None:
    """Its own attempt's item bounds it already; the first of the new epoch bought nothing, or its own call."""
    world = WorkerWorld()
    await world.create(epoch=2, open=(CARRIED,))
    await world.store.put_cold(answer, world.row.expires_at)
    await world.deliver()

    assert (world.row.state, world.row.attempts, len(world.provider.keys)) == (JobState.SUCCEEDED, 1, sent)
    assert world.row.attempt is not None
    assert world.row.spent == world.row.attempt.cost + Cost.exact(250)


async def test_it_makes_no_maybe_of_an_attempt_that_failed_before_any_call() -> None:
    """The job still waits for a person, who is told what failed and what is open."""

    async def fails(context: Context, given: Ask) -> Said:
        raise JobFailure("nothing mends it", code="no_use")

    world = WorkerWorld(fails)
    await world.create(epoch=2, open=(CARRIED,))
    await world.deliver()

    assert world.row.attempt is not None
    assert (world.row.attempt.outcome, world.row.attempt.error_code) == (AttemptOutcome.FAILED, "no_use")
    assert world.row.spent.high + sum(call.max_cost for call in world.row.open) == CARRIED.max_cost


async def test_it_makes_no_maybe_of_a_lost_attempt_that_sent_nothing() -> None:
    """The killed run of the new epoch had not come to its call."""
    world = WorkerWorld()
    await world.create(epoch=2, open=(CARRIED,))
    await world.lose_a_run()
    await world.deliver()

    assert world.past_outcomes == [AttemptOutcome.INTERRUPTED]
