"""``ctx.step``: code of the kind's own, run once; its result is an accepted answer as any other."""

from __future__ import annotations

import asyncio
from typing import Any

import pytest

from onceward.domain.job import AnswerRef
from onceward.domain.money import Cost
from onceward.domain.records import ITEM_INLINE_LIMIT
from onceward.domain.states import JobState
from onceward.errors import StoreUnavailable
from onceward.usecases.context import Context
from tests.support.builders import JOB_ID, OTHER_TOKEN, TENANT
from tests.support.hooked_store import HookedStore
from tests.support.local_steps import BUSY, PLACE, Counter, Kind, Picked, a_world, again
from tests.support.worker_world import Ask, Said

pytestmark = pytest.mark.anyio


@pytest.mark.parametrize("is_async", [False, True])
async def test_result_is_made_once_and_comes_back_in_every_attempt(is_async: bool) -> None:
    """A function or a coroutine function; what it made first is what it made."""
    counter = Counter()
    kind = Kind(counter.later if is_async else counter)
    world = await a_world(kind.run)
    world.provider.script = [BUSY]
    await world.deliver()
    await again(world)

    assert (world.row.state, world.row.attempts, counter.runs, kind.seen) == (JobState.SUCCEEDED, 2, 1, [1, 1])
    assert world.row.accepted["pick/1"] == AnswerRef(epoch=1, attempt=1, is_local=True)  # type: ignore[index]
    assert world.row.bought == ("ask/1",)
    assert (world.items[PLACE].cost, world.items[PLACE].provider) == (Cost.nothing(), "local")


async def test_code_gets_what_was_stored_at_the_first_time_too() -> None:
    """A tuple is a list from the start, so that no attempt sees what another did not."""
    kind = Kind(lambda: {"words": ("a", "b"), 1: None})
    world = await a_world(kind.run)
    world.provider.script = [BUSY]
    await world.deliver()
    await again(world)

    assert kind.seen == [{"words": ["a", "b"], "1": None}] * 2


async def test_result_of_a_model_comes_back_as_that_model() -> None:
    """Defaults and all; a dictionary that fits is one too."""
    kind = Kind(lambda: {"words": ["a"]}, answer=Picked)
    world = await a_world(kind.run)
    world.provider.script = [BUSY]
    await world.deliver()
    await again(world)

    assert kind.seen == [Picked(words=("a",), at=0)] * 2


async def test_output_that_a_step_made_is_stored_once() -> None:
    """The result names the step's answer, as it would a model's."""

    async def run(context: Context, given: Ask) -> Said:
        return await context.step("say", lambda: Said(text="made here"), answer=Said)

    world = await a_world(run)
    await world.deliver()

    assert world.row.result is not None
    assert (world.row.result.step, world.row.spent) == ("say/1", Cost.nothing())
    assert not [place for place in world.items if place.startswith("result#")]


@pytest.mark.parametrize("is_written", [False, True])
@pytest.mark.parametrize("method", ["put_cold", "update_job"])
async def test_write_without_an_answer_makes_no_second_result(method: str, is_written: bool) -> None:
    """Of item and row, either write may have been applied: what is there counts, and nothing was seen before it did."""
    counter = Counter()
    kind = Kind(counter)
    world = await a_world(kind.run)

    async def strike(real: Any, *arguments: Any) -> Any:
        is_claim = method == "update_job" and "accepted" not in arguments[2].set
        is_end = method == "update_job" and "state" in arguments[2].set
        if is_claim or is_end:
            return await real(*arguments)
        if is_written:
            await real(*arguments)
        raise StoreUnavailable("no answer")

    await world.deliver(store=HookedStore(world.store, **{method: strike}))
    assert (world.row.state, world.row.attempts, kind.seen) == (JobState.QUEUED, 0, [])  # given back: nothing was sent
    await again(world)

    is_there = is_written or method == "update_job"
    is_accepted = method == "update_job"  # noted before its write, so the giving back carries it
    assert (world.row.state, world.row.attempts) == (JobState.SUCCEEDED, 1)
    assert (kind.seen, counter.runs) == ([1 if is_there else 2], 1 if is_accepted else 2)


async def test_run_that_was_outlived_accepts_nothing() -> None:
    """Invariant 3: its item is of its own attempt and named by nobody; its code does not come to its next call."""
    kind = Kind(Counter())
    world = await a_world(kind.run)

    async def put_cold(real: Any, *arguments: Any) -> Any:
        world.overwrite(run_token=OTHER_TOKEN)
        return await real(*arguments)

    report = await world.deliver(store=HookedStore(world.store, put_cold=put_cold))

    assert report.stopped_by == "lease_lost"
    assert (dict(world.row.accepted), kind.seen, world.provider.keys) == ({}, [], [])


@pytest.mark.parametrize("is_same", [True, False])
async def test_item_that_a_run_left_in_this_attempt_is_taken_or_told(is_same: bool) -> None:
    """The run stored it and could not say so; other input in between is another question. No object is left over."""
    large = "x" * (ITEM_INLINE_LIMIT + 1)
    kind = Kind(lambda: f"{large}{len(kind.seen)}")
    world = await a_world(kind.run)

    async def update_job(real: Any, *arguments: Any) -> Any:
        if "accepted" in arguments[2].set:
            raise StoreUnavailable("no answer")
        return await real(*arguments)

    await world.deliver(store=HookedStore(world.store, update_job=update_job))
    assert (world.row.state, dict(world.row.accepted)) == (JobState.RUNNING, {})
    world.overwrite(
        state=JobState.QUEUED, lease_until=None, attempts=0, attempt=None
    )  # as another process gave it back
    kind.seen.append("made another time")
    kind.given = "text" if is_same else "other"
    await again(world)

    if is_same:
        assert (world.row.state, kind.seen[1:]) == (JobState.SUCCEEDED, [f"{large}0"])
    else:
        assert (world.row.state, world.row.error_code) == (JobState.FAILED, "call_changed")
    kept, own = world.items[PLACE].blob_key, world.row.attempt.run  # type: ignore[union-attr]
    assert own not in kept
    assert await world.blob.get(kept) is not None
    assert await world.blob.get(f"jobs/{TENANT}/{JOB_ID}/step/1/pick/1/1/{own}") is None


async def test_large_result_is_an_object_of_its_run() -> None:
    """Another run of the same attempt cannot put another in its place."""
    kind = Kind(lambda: "x" * (ITEM_INLINE_LIMIT + 1))
    world = await a_world(kind.run)
    world.provider.script = [BUSY]
    await world.deliver()
    run = world.row.attempt.run  # type: ignore[union-attr]
    await again(world)

    assert world.items[PLACE].blob_key == f"jobs/{TENANT}/{JOB_ID}/step/1/pick/1/1/{run}"
    assert kind.seen == ["x" * (ITEM_INLINE_LIMIT + 1)] * 2


async def test_cancel_that_came_first_ends_the_job_and_no_further_step_begins() -> None:
    """No fenced write goes past a recorded cancel; what was made before it is not seen by the kind's code."""
    counter = Counter()
    seen: list[object] = []

    async def run(context: Context, given: Ask) -> Said:
        world.overwrite(cancel_requested_at=world.clock.now())
        seen.extend(await asyncio.gather(context.step("one", counter), return_exceptions=True))
        return await context.step("two", lambda: Said(text=str(counter())), answer=Said)

    world = await a_world(run)
    await world.deliver()

    assert (world.row.state, counter.runs) == (JobState.CANCELLED, 1)
    assert [getattr(one, "code", None) for one in seen] == ["cancelled"]
