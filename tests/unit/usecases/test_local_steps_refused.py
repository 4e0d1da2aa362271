"""What ``ctx.step`` refuses: another step in a step's place, and results that could not be read back."""

from __future__ import annotations

import asyncio

import pytest

from onceward.domain.money import Cost
from onceward.domain.policy import OnUnknown, RetryPolicy
from onceward.domain.records import ANSWER_LIMIT
from onceward.domain.states import JobState, WaitingFor
from onceward.usecases.context import Context
from tests.support.builders import a_policy
from tests.support.local_steps import BUSY, LOST, PLACE, Counter, Kind, Picked, a_world, again
from tests.support.worker_world import Ask, Said, WorkerWorld

pytestmark = pytest.mark.anyio


@pytest.mark.parametrize("what", ["given", "call", "model"])
async def test_changed_step_is_told_and_never_served(what: str) -> None:
    """Across a deploy: other input, a call in its place, or a result that is none of its model any more."""
    counter = Counter()
    kind = Kind(counter)
    world = await a_world(kind.run)
    world.provider.script = [BUSY]
    await world.deliver()

    async def call(context: Context, given: Ask) -> Said:
        return Said.model_validate_json((await context.model.generate("pick", [("user", "text")])).text)

    if what == "given":
        kind.given = "other"
    elif what == "model":
        kind.answer = Picked
    else:
        world.registry = WorkerWorld(call).registry
    await again(world)

    assert (world.row.state, world.row.error_code) == (JobState.FAILED, "call_changed")
    assert (counter.runs, len(world.provider.keys)) == (1, 1)


async def test_step_that_was_a_call_under_way_is_told() -> None:
    """A maybe is nobody's local result, whatever it asked: it ends as a changed question does."""
    counter = Counter()
    is_local = False

    async def run(context: Context, given: Ask) -> Said:
        if is_local:
            return Said(text=str(await context.step("ask", counter)))
        return Said.model_validate_json((await context.model.generate("ask", [("user", "go")])).text)

    world = WorkerWorld(run, policy=a_policy(retry=RetryPolicy(on_unknown=OnUnknown.RETRY)))
    await world.create()
    world.provider.script = [LOST]
    await world.deliver()
    assert (world.row.state, world.row.waiting_for) == (JobState.WAITING, WaitingFor.RETRY)
    is_local = True
    await again(world)

    assert (world.row.state, world.row.error_code) == (JobState.FAILED, "call_changed")
    assert (counter.runs, len(world.provider.keys), world.row.spent) == (0, 1, Cost.maybe(1_000))


@pytest.mark.parametrize(
    ("made", "code"),
    [
        (float("nan"), "step_not_json"),
        ("\ud800", "step_not_json"),
        ({1, 2}, "step_not_json"),
        (Picked(words=()), "step_not_json"),
        ("x" * ANSWER_LIMIT, "step_too_large"),
    ],
)
async def test_result_that_cannot_be_stored_is_final(made: object, code: str) -> None:
    """No later attempt would make another of it; nothing is stored and nothing is sent."""
    world = await a_world(Kind(lambda: made).run)
    await world.deliver()

    assert (world.row.state, world.row.error_code, PLACE in world.items) == (JobState.FAILED, code, False)


async def test_largest_result_is_taken() -> None:
    """The limit is the answers' own; with its quotes."""
    kind = Kind(lambda: "x" * (ANSWER_LIMIT - 2))
    world = await a_world(kind.run)
    await world.deliver()

    assert world.row.state is JobState.SUCCEEDED


async def test_result_of_another_model_is_invalid_output() -> None:
    """As an output that is none of the kind's."""
    world = await a_world(Kind(lambda: {"words": 7}, answer=Picked).run)
    await world.deliver()

    assert (world.row.state, world.row.error_code) == (JobState.FAILED, "invalid_output")


async def test_given_that_is_no_json_is_final() -> None:
    """It could be in no fingerprint."""
    kind = Kind(Counter())
    kind.given = {"at": float("inf")}
    world = await a_world(kind.run)
    await world.deliver()

    assert (world.row.state, world.row.error_code) == (JobState.FAILED, "request_not_writable")


async def test_what_a_step_raises_is_the_kind_s_own_error() -> None:
    """A bug is tried again, as anywhere in the kind's code; nothing of what it said is kept."""
    runs = 0

    def fail() -> str:
        nonlocal runs
        runs += 1
        if runs == 1:
            raise RuntimeError("the secret")
        return "mended"

    kind = Kind(fail)
    world = await a_world(kind.run)
    report = await world.deliver()
    assert world.row.attempt is not None
    assert (world.row.attempt.error_code, dict(world.row.accepted)) == ("kind_error", {})
    assert "secret" not in repr((report.notes, world.row, world.items))
    await again(world)

    assert (world.row.state, kind.seen) == (JobState.SUCCEEDED, ["mended"])


async def test_step_in_a_step_is_refused() -> None:
    """A call in it would wait for the step that it is in; a bug of the kind, found at once, and nothing is sent."""
    codes: list[str] = []

    async def run(context: Context, given: Ask) -> Said:
        async def outer() -> str:
            asked = (context.step("inner", lambda: 1), context.model.generate("ask", [("user", "go")]))
            ended = await asyncio.gather(*asked, return_exceptions=True)
            codes.extend(getattr(one, "code", "none") for one in ended)
            return "made"

        return Said(text=str(await context.step("outer", outer)))

    world = await a_world(run)
    await world.deliver()

    assert (codes, world.provider.keys) == (["step_in_step"] * 2, [])
    assert (world.row.state, list(world.row.accepted)) == (JobState.SUCCEEDED, ["outer/1"])


async def test_step_is_begun_once_in_an_attempt() -> None:
    """Also while it runs, and also as a call."""

    async def run(context: Context, given: Ask) -> Said:
        async def slow() -> str:
            await asyncio.sleep(0)
            return "made"

        await asyncio.gather(context.step("same", slow), context.step("same", slow))
        return Said(text="")

    world = await a_world(run)
    await world.deliver()

    assert (world.row.state, world.row.error_code) == (JobState.FAILED, "step_repeated")
