"""What a run writes after its job has ended and been erased: the cost stays, the content does not."""

from __future__ import annotations

from typing import Any

import pytest

from onceward.domain.records import Answer, Result
from onceward.domain.states import JobState
from onceward.usecases.cancel_job import cancel_job
from onceward.usecases.context import Context
from onceward.usecases.erase_job import Eraser, erase_job
from onceward.usecases.ports import ModelReply
from tests.support.builders import JOB_ID, TENANT, an_answer, seconds
from tests.support.fakes import a_reply
from tests.support.hooked_store import HookedStore
from tests.support.worker_world import Ask, Said, WorkerWorld

pytestmark = pytest.mark.anyio

CANARY = "CANARY"
LARGE = CANARY * 50_000  # above what an item holds itself
SIZES = pytest.mark.parametrize("text", [CANARY, LARGE], ids=["in the item", "in an object"])


def telling(text: str) -> Any:
    """A kind whose output is not simply its answer."""

    async def run(context: Context, given: Ask) -> Said:
        await context.model.generate("generate", [("user", "x")])
        return Said(text=text)

    return run


async def outlived_by_its_erasure(world: WorkerWorld) -> None:
    """The process sleeps longer than its lease; meanwhile the job is cancelled, closed by another, and erased."""
    world.clock.move(world.timing.lease + world.timing.skew_allowance + seconds(1))
    await cancel_job(world.store, world.queue, world.clock, world.ids, tenant_id=TENANT, job_id=JOB_ID)
    await world.deliver()
    assert world.row.state is JobState.CANCELLED
    eraser = Eraser(store=world.store, blob=world.blob, clock=world.clock, ids=world.ids)
    await erase_job(eraser, tenant_id=TENANT, job_id=JOB_ID)


async def content_left(world: WorkerWorld) -> bool:
    """Whether the canary can still be found, in an item or in an object that a run may have written."""
    names = ("call/1/generate/1/1", "result/1/1")
    objects = [await world.blob.get(f"jobs/{TENANT}/{JOB_ID}/{name}") for name in names]
    return CANARY in repr(world.items) or any(objects)


@SIZES
async def test_answer_that_comes_after_the_erasure_keeps_its_cost_and_loses_its_content(text: str) -> None:
    """A late answer is still evidence of what was paid for; what it said belonged to somebody who erased it."""

    async def late() -> ModelReply:
        await outlived_by_its_erasure(world)
        return a_reply(text)

    world = WorkerWorld(telling("fine"))
    world.provider.script = [late]
    await world.create()
    report = await world.deliver()
    (answer,) = [item for item in world.items.values() if isinstance(item, Answer)]

    assert (report.stopped_by, world.row.state) == ("lease_lost", JobState.CANCELLED)
    assert (answer.body is None, answer.blob_key, answer.cost.low) == (True, None, 10)
    assert not await content_left(world)


async def test_answer_that_another_run_had_found_is_left_as_its_erasure_left_it() -> None:
    """The place is taken, by an answer that counts and was emptied: an item is written once."""

    async def late() -> ModelReply:
        await world.store.put_cold(an_answer(step="generate/1", body=CANARY), world.row.expires_at)
        await outlived_by_its_erasure(world)
        return a_reply(CANARY)

    world = WorkerWorld(telling("fine"))
    world.provider.script = [late]
    await world.create()
    await world.deliver()

    assert [item for item in world.items.values() if isinstance(item, Answer)] == [
        an_answer(step="generate/1", body=None)
    ]
    assert not await content_left(world)


@SIZES
async def test_answer_whose_put_was_asked_for_twice_loses_its_content_too(text: str) -> None:
    """The SDK repeats a put whose answer was lost: the second one is refused by the first."""

    async def late() -> ModelReply:
        await outlived_by_its_erasure(world)
        return a_reply(text)

    async def put(method: Any, item: Any, expires_at: Any) -> Any:
        await method(item, expires_at)
        return await method(item, expires_at)

    world = WorkerWorld(telling("fine"))
    world.provider.script = [late]
    await world.create()
    await world.deliver(store=HookedStore(world.store, put_cold=put))

    assert [item.cost.low for item in world.items.values() if isinstance(item, Answer)] == [10]
    assert not await content_left(world)


@SIZES
async def test_result_of_a_run_that_sleeps_before_it_is_not_stored(text: str) -> None:
    """Past its own lease a run asks before it stores a result."""

    async def run(context: Context, given: Ask) -> Said:
        await context.model.generate("generate", [("user", "x")])
        if not slept:
            slept.append(True)
            await outlived_by_its_erasure(world)
        return Said(text=text)

    slept: list[bool] = []
    world = WorkerWorld(run)
    await world.create()
    report = await world.deliver()

    assert report.stopped_by == "lease_lost"
    assert [place for place in world.items if place.startswith("result#")] == []
    assert not await content_left(world)


@SIZES
async def test_result_of_a_run_that_sleeps_right_before_its_write_loses_its_content(text: str) -> None:
    """Between the question and the write a process can be frozen too: it looks again after the write."""
    slept: list[bool] = []

    async def put(method: Any, item: Any, expires_at: Any) -> Any:
        if isinstance(item, Result) and not slept:
            slept.append(True)
            await outlived_by_its_erasure(world)
        return await method(item, expires_at)

    world = WorkerWorld(telling(text))
    await world.create()
    await world.deliver(store=HookedStore(world.store, put_cold=put))

    assert (slept, world.row.erased_at is not None) == ([True], True)
    assert not await content_left(world)


async def test_late_answer_of_a_job_that_was_not_erased_keeps_its_content() -> None:
    """It is the evidence that ends the maybe: whoever looks next adopts it."""

    async def late() -> ModelReply:
        world.clock.move(world.timing.lease + world.timing.skew_allowance + seconds(1))
        await world.deliver()
        assert world.row.state is JobState.NEEDS_REVIEW
        return a_reply()

    world = WorkerWorld()
    world.provider.script = [late]
    await world.create()
    await world.deliver()
    (answer,) = [item for item in world.items.values() if isinstance(item, Answer)]
    assert answer.body is not None
    world.clock.move(seconds(60))
    await world.deliver()

    assert (world.row.state, len(world.provider.keys)) == (JobState.SUCCEEDED, 1)
