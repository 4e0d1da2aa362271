"""Large answers and results live in the blob store, under tenant and job; small ones in their items."""

from __future__ import annotations

from datetime import timedelta

import pytest

from onceward.domain.records import INPUT_INLINE_LIMIT, ITEM_INLINE_LIMIT
from onceward.domain.retry import ErrorClass
from onceward.domain.states import JobState
from onceward.errors import CallFailure
from onceward.usecases.context import Context
from onceward.usecases.read_job import read_job
from tests.support.builders import JOB_ID, TENANT
from tests.support.fakes import a_reply
from tests.support.worker_world import Ask, Said, WorkerWorld

pytestmark = pytest.mark.anyio

LARGE = "x" * (ITEM_INLINE_LIMIT + 1)
PLACE = f"jobs/{TENANT}/{JOB_ID}/"


async def say_more(context: Context, given: Ask) -> Said:
    """A kind whose output is none of its model's answers."""
    text = ""
    for step in given.steps:
        text += (await context.model.generate(step, [("user", "Go.")])).text
    return Said(text=f"{text} end")


async def a_world(*replies: str, steps: list[str] | None = None) -> WorkerWorld:
    """A job whose model answers so."""
    world = WorkerWorld(say_more)
    world.provider.script = [a_reply(reply) for reply in replies]
    await world.create(steps=steps or ["ask"])
    return world


@pytest.mark.failure_mode("F31")
async def test_a_large_answer_and_a_large_result_are_objects_of_their_job() -> None:
    """The items name them; what is read is the whole."""
    world = await a_world(LARGE)
    await world.deliver()
    answer, result = world.items["call#0001#ask/1#0001"], world.items["result#0001#0001"]

    assert world.row.state is JobState.SUCCEEDED
    assert (answer.body, result.body) == (None, None)
    assert answer.blob_key.startswith(f"{PLACE}call/1/")
    assert result.blob_key.startswith(f"{PLACE}result/1/1")
    for item in (answer, result):
        assert len(await world.blob.get(item.blob_key) or b"") > ITEM_INLINE_LIMIT
    reading = await read_job(world.store, world.blob, world.clock, tenant_id=TENANT, job_id=JOB_ID)
    assert reading.result == {"text": f"{LARGE} end"}


async def test_small_ones_stay_in_their_items() -> None:
    """No object, and no second request to read one."""
    world = await a_world("x" * INPUT_INLINE_LIMIT)
    await world.deliver()

    assert world.row.state is JobState.SUCCEEDED
    assert [item.blob_key for item in world.items.values() if hasattr(item, "blob_key")] == [None] * 3


@pytest.mark.failure_mode("F31")
async def test_a_large_answer_that_was_accepted_is_read_and_not_bought_again() -> None:
    """The next attempt finds it by the row, the row by its item, the item by its object."""
    world = await a_world(LARGE, steps=["one", "two"])
    refused = CallFailure(code="rate_limited", error_class=ErrorClass.RATE_LIMITED, was_sent=True)
    world.provider.script.append(refused)
    await world.deliver()
    assert sorted(world.row.accepted) == ["one/1"]

    world.clock.move(timedelta(minutes=1))
    world.provider.script = [a_reply("small")]
    await world.deliver()

    assert world.row.state is JobState.SUCCEEDED
    assert len(world.provider.keys) == 3
    assert sorted(world.row.accepted) == ["one/1", "two/1"]
    reading = await read_job(world.store, world.blob, world.clock, tenant_id=TENANT, job_id=JOB_ID)
    assert reading.result == {"text": f"{LARGE}small end"}
