"""Calls that a kind's code makes at once: what it left running ends with its run, and is in the books."""

from __future__ import annotations

import asyncio
from typing import Any

import pytest

from onceward.domain.money import Cost
from onceward.domain.policy import OnUnknown, RetryPolicy
from onceward.domain.states import CallState, JobState, WaitingFor
from onceward.errors import CallFailure
from onceward.usecases.context import Context
from onceward.usecases.ports import ModelReply
from tests.support.builders import a_policy, seconds
from tests.support.fakes import a_reply
from tests.support.worker_world import Ask, Said, WorkerWorld

pytestmark = pytest.mark.anyio

REFUSED = CallFailure("", code="provider_refused_request", error_class="permanent", was_sent=True)
LOST = CallFailure("", code="connection_lost", error_class="outcome_unknown", was_sent=True)
BUSY = CallFailure("", code="rate_limited", error_class="rate_limited", was_sent=True)


async def said(context: Context, step: str) -> Said:
    """Ask one step."""
    return Said.model_validate_json((await context.model.generate(step, [("user", step)], answer=Said)).text)


async def all_ready(left: int = 20) -> None:
    """Let every task that can run do so, many times over."""
    for _ in range(left):
        await asyncio.sleep(0)


async def second_waits_for(gate: asyncio.Event, context: Context) -> tuple[Said, Said]:
    """Two legs; the second asks only once its gate is open."""

    async def second() -> Said:
        await gate.wait()
        return await said(context, "second")

    return await asyncio.gather(said(context, "first"), second())


@pytest.mark.parametrize("failure", [REFUSED, BUSY], ids=["job has failed", "job waits"])
async def test_leg_that_was_left_running_never_sends_once_its_run_is_over(failure: CallFailure) -> None:
    """Nothing is paid for after the end of a run, and no answer is kept for it."""
    gate = asyncio.Event()

    async def run(context: Context, given: Ask) -> Said:
        return (await second_waits_for(gate, context))[1]

    world = WorkerWorld(run)
    world.provider.script = [failure]
    await world.create()
    await world.deliver()
    ended = world.row
    gate.set()
    await all_ready()

    assert (world.row, len(world.provider.keys)) == (ended, 1)
    assert ended.state is (JobState.FAILED if failure is REFUSED else JobState.WAITING)


async def test_next_attempt_asks_the_leg_that_was_ended_once() -> None:
    """The first attempt's stray did not send; the second attempt's leg does: one payment for the step."""
    gate = asyncio.Event()

    async def run(context: Context, given: Ask) -> Said:
        return (await second_waits_for(gate, context))[1]

    world = WorkerWorld(run)
    world.provider.script = [BUSY]
    await world.create()
    await world.deliver()
    gate.set()
    await all_ready()
    world.clock.move(seconds(30))
    await world.deliver()

    assert (world.row.state, world.row.attempts) == (JobState.SUCCEEDED, 2)
    assert [key.split("-")[3].split("_")[0] for key in world.provider.keys] == ["first", "first", "second"]


async def test_task_that_outlives_a_success_is_ended_too() -> None:
    """Whatever the kind's code started is gone when its run has settled."""
    ended = asyncio.Event()
    started = asyncio.Event()

    async def forever() -> None:
        started.set()
        try:
            await asyncio.Event().wait()
        finally:
            ended.set()

    async def run(context: Context, given: Ask) -> Said:
        running.append(asyncio.create_task(forever()))
        await started.wait()
        return await said(context, "only")

    running: list[asyncio.Task[None]] = []
    world = WorkerWorld(run)
    await world.create()
    await world.deliver()

    assert world.row.state is JobState.SUCCEEDED
    assert (ended.is_set(), running[0].cancelled()) == (True, True)


async def test_tasks_of_other_runs_are_left_alone() -> None:
    """A batch shares one loop: a run ends what is its own, and no more."""
    others = asyncio.create_task(asyncio.Event().wait())
    world = WorkerWorld()
    await world.create()
    await world.deliver()
    assert not others.done()
    others.cancel()
    await asyncio.gather(others, return_exceptions=True)


async def both(context: Context, given: Ask) -> Said:
    """A kind that asks both at once."""
    gate = asyncio.Event()
    gate.set()
    return (await second_waits_for(gate, context))[1]


def after_a_while(act: ModelReply | CallFailure) -> Any:
    """A provider's act that comes when everything else that can go on has done so."""

    async def acting() -> ModelReply:
        await all_ready()
        if isinstance(act, CallFailure):
            raise act
        return act

    return acting


async def test_request_under_way_is_answered_although_another_leg_has_failed() -> None:
    """It is paid for: the answer is kept and counts, the books are exact, and no maybe is made of a known failure."""
    world = WorkerWorld(both)
    world.provider.script = [REFUSED, after_a_while(a_reply())]
    await world.create()
    await world.deliver()

    assert (world.row.state, world.row.error_code) == (JobState.FAILED, "provider_refused_request")
    assert (list(world.row.accepted), world.row.spent) == (["second/1"], Cost.exact(10))


async def test_next_attempt_buys_only_what_failed() -> None:
    """The first attempt's other leg was answered: the second attempt asks the failed step alone."""
    world = WorkerWorld(both)
    world.provider.script = [BUSY, after_a_while(a_reply())]
    await world.create()
    await world.deliver()
    world.clock.move(seconds(30))
    await world.deliver()

    assert (world.row.state, world.row.attempts) == (JobState.SUCCEEDED, 2)
    assert [key.split("-")[3].split("_")[0] for key in world.provider.keys] == ["first", "second", "first"]


async def test_request_under_way_that_becomes_a_maybe_is_one() -> None:
    """Policy ``review`` keeps it for a person, with its bound in the books, whatever the other leg came to."""
    world = WorkerWorld(both)
    world.provider.script = [REFUSED, after_a_while(LOST)]
    await world.create()
    await world.deliver()

    assert (world.row.state, [call.step for call in world.row.open]) == (JobState.NEEDS_REVIEW, ["second/1"])
    assert world.row.possible_spent.high == 1_000


async def test_maybe_of_another_leg_is_bought_again_where_policy_says_so() -> None:
    """Policy ``retry`` accepts a second purchase: the next attempt repeats it, and both are in the books."""
    world = WorkerWorld(both, policy=a_policy(retry=RetryPolicy(on_unknown=OnUnknown.RETRY)))
    world.provider.script = [after_a_while(BUSY), LOST]
    await world.create()
    await world.deliver()
    assert (world.row.state, world.row.waiting_for) == (JobState.WAITING, WaitingFor.RETRY)
    world.clock.move(seconds(30))
    await world.deliver()

    assert (world.row.state, len(world.provider.keys)) == (JobState.SUCCEEDED, 4)
    assert (world.row.spent.low, world.row.spent.high) == (20, 1_020)


async def test_request_that_nobody_answers_ends_with_the_attempt() -> None:
    """A provider that breaks its hard timeout holds no run beyond its attempt: the call is a maybe then."""

    async def never() -> ModelReply:
        world.clock.move(seconds(60))
        await asyncio.Event().wait()
        return a_reply()

    world = WorkerWorld(both)
    world.provider.script = [after_a_while(REFUSED), never]
    await world.create()
    await world.deliver()

    assert (world.row.state, [call.state for call in world.row.open]) == (JobState.NEEDS_REVIEW, [CallState.UNKNOWN])


async def test_one_step_asked_twice_at_once_is_sent_once() -> None:
    """Invariant 4: the second of two legs with one name is a fault of the kind's code, and costs nothing."""

    async def run(context: Context, given: Ask) -> Said:
        return (await asyncio.gather(said(context, "same"), said(context, "same")))[0]

    world = WorkerWorld(run)
    await world.create()
    await world.deliver()

    assert (world.row.state, world.row.error_code) == (JobState.FAILED, "step_repeated")
    assert len(world.provider.keys) <= 1
