"""Own steps beside others, and in jobs that end: several at once, closing runs, losses, histories."""

from __future__ import annotations

import asyncio
from typing import Any

import pytest

from onceward.adapters.dynamodb.parts_codec import from_accepted
from onceward.domain.job import AnswerRef
from onceward.domain.money import Cost
from onceward.domain.policy import Capability
from onceward.domain.states import AttemptStage, JobState, WaitingFor
from onceward.errors import CallFailure, StoreUnavailable
from onceward.usecases.context import Context
from onceward.usecases.ports import Submitted
from onceward.usecases.read_history import read_history
from tests.support.builders import JOB_ID, TENANT, seconds
from tests.support.fakes import a_reply
from tests.support.hooked_store import HookedStore
from tests.support.local_steps import Counter, Kind, a_world, again
from tests.support.worker_world import Ask, Said

pytestmark = pytest.mark.anyio


@pytest.mark.parametrize("is_local", [False, True])
async def test_more_steps_at_once_than_the_row_has_room_for_are_refused(is_local: bool) -> None:
    """Of twenty-one at once none is stored yet when the last one begins."""

    async def run(context: Context, given: Ask) -> Said:
        async def one(number: int) -> object:
            if is_local:
                return await context.step(f"s{number}", lambda: number)
            return await context.model.generate(f"s{number}", [("user", "go")])

        await asyncio.gather(*(one(number) for number in range(21)))
        return Said(text="")

    world = await a_world(run)
    await world.deliver()

    assert (world.row.state, world.row.error_code) == (JobState.FAILED, "too_many_steps")
    assert len(world.row.accepted) <= 20


async def test_others_are_stored_when_one_of_several_at_once_fails() -> None:
    """A write that is under way is let come to its end; what it stored is not made again."""
    counter = Counter()
    is_broken = True

    async def run(context: Context, given: Ask) -> Said:
        def fail() -> int:
            if is_broken:
                raise ValueError
            return 0

        legs = (context.step("good", counter), context.step("bad", fail))
        return Said(text=str(await asyncio.gather(*legs)))

    world = await a_world(run)
    await world.deliver()
    assert list(world.row.accepted) == ["good/1"]
    is_broken = False
    await again(world)

    assert (world.row.state, counter.runs) == (JobState.SUCCEEDED, 1)


async def test_closing_run_makes_what_it_needs_and_keeps_none_of_it() -> None:
    """At the deadline the answer is there and only its own code is left: the job succeeds, and nothing is sent."""
    counter = Counter()

    async def run(context: Context, given: Ask) -> Said:
        reply = await context.model.generate("ask", [("user", "go")])
        await context.step("count", counter)
        return Said.model_validate_json(reply.text)

    world = await a_world(run)

    async def put_cold(real: Any, *arguments: Any) -> Any:
        if arguments[0].step == "count/1":
            raise StoreUnavailable("no answer")
        return await real(*arguments)

    await world.deliver(store=HookedStore(world.store, put_cold=put_cold))
    assert (world.row.state, world.row.bought) == (JobState.WAITING, ("ask/1",))
    world.overwrite(deadline_at=world.clock.now())
    await again(world)

    assert (world.row.state, counter.runs, len(world.provider.keys)) == (JobState.SUCCEEDED, 2, 1)
    assert "count/1" not in world.row.accepted


async def test_job_lost_three_times_with_own_results_alone_is_exhausted() -> None:
    """Nothing of it was bought, so no person has to say what it is worth; with a bought answer one does."""
    world = await a_world(Kind(Counter()).run)
    await world.lose_a_run(accepted={"pick/1": AnswerRef(epoch=1, attempt=1, is_local=True)}, lost=2)
    await world.deliver()

    assert (world.row.state, world.row.error_code) == (JobState.FAILED, "attempts_exhausted")


async def test_history_calls_no_attempt_answered_for_its_own_results() -> None:
    """The step is told, with whose answer it is; the stage is of what was sent."""
    world = await a_world(Kind(Counter()).run)
    world.provider.script = [CallFailure("", code="refused", error_class="transient", was_sent=False)]
    await world.deliver()
    history = await read_history(world.store, world.clock, tenant_id=TENANT, job_id=JOB_ID)

    (line,) = history.attempts
    assert line.stage is AttemptStage.STARTED
    assert [(call.step, call.provider, call.cost) for call in line.calls] == [("pick/1", "local", Cost.nothing())]


async def test_provider_that_answers_later_is_waited_for_after_the_step_beside_it() -> None:
    """The run lets go when the step is stored, which is not run again when the answer is there."""
    counter = Counter()

    async def run(context: Context, given: Ask) -> Said:
        reply, _ = await asyncio.gather(
            context.model.generate("ask", [("user", "go")]), context.step("count", counter.later)
        )
        return Said.model_validate_json(reply.text)

    world = await a_world(run)
    world.provider.capability = Capability(kept=seconds(86_400))
    world.provider.script = [Submitted("ref-1")]
    await world.deliver()
    assert (world.row.waiting_for, list(world.row.accepted)) == (WaitingFor.PROVIDER, ["count/1"])
    world.provider.polled["ref-1"] = a_reply()
    world.clock.move(seconds(3_600))
    await world.deliver()

    assert (world.row.state, world.row.attempts, counter.runs) == (JobState.SUCCEEDED, 1, 1)


def test_marks_of_newer_code_are_let_pass() -> None:
    """Invariant 18: what is after the name is for whoever knows it."""
    assert from_accepted({"a/1": "2.3", "b/1": "2.3.l", "c/1": "2.3.z.l"}) == {
        "a/1": AnswerRef(epoch=2, attempt=3),
        "b/1": AnswerRef(epoch=2, attempt=3, is_local=True),
        "c/1": AnswerRef(epoch=2, attempt=3, is_local=True),
    }
