"""An answer that is none, twice, as a job: final at once, both calls in the books, no charge, no redelivery."""

from __future__ import annotations

import pytest
from pydantic import BaseModel, ConfigDict

from onceward.domain.deliveries import Acknowledge
from onceward.domain.money import Cost
from onceward.domain.records import Usage
from onceward.domain.states import AttemptOutcome, CallState, JobState
from onceward.kinds.asking import ask_for
from onceward.usecases.context import Context
from onceward.usecases.ports import ModelReply
from onceward.usecases.read_job import read_job
from tests.support.builders import JOB_ID, TENANT
from tests.support.fakes import a_reply
from tests.support.worker_world import Ask, Said, WorkerWorld

pytestmark = pytest.mark.anyio

HELD = 5_000


class Strict(BaseModel):
    """What is asked for."""

    model_config = ConfigDict(extra="forbid")

    text: str


async def asks(context: Context, given: Ask) -> Said:
    """A kind as the guide has it: one question, and a second one where the first answer is none."""
    found = await ask_for(context, "rate", [("user", "How was it?")], Strict)
    return Said(text=found.text)


def bad(text: str, tokens: int) -> ModelReply:
    """A paid answer that is no result; a token costs a micro-USD."""
    return ModelReply(text=text, finish="stop", model="fake-1", usage=Usage(input=tokens, output=1), request_id="req-1")


async def twice_bad() -> WorkerWorld:
    """A job that holds a reservation, and a model that says a number, then nothing that is JSON."""
    world = WorkerWorld(asks)
    world.provider.script = [bad('{"text": 5}', 11), bad("Sorry.", 22), a_reply()]
    await world.create(reserved_micro_usd=HELD)
    return world


async def test_two_bad_answers_end_the_job_in_its_first_attempt() -> None:
    """Final ``invalid_output``; the third answer, a good one, is never asked for; message and row are done."""
    world = await twice_bad()
    report = await world.deliver()
    row = world.row

    assert (row.state, row.error_code, row.attempts) == (JobState.FAILED, "invalid_output", 1)
    assert len(set(world.provider.keys)) == len(world.provider.keys) == 2
    assert (report.disposition, row.due, world.queue.dead_letters) == (Acknowledge(), None, ())


async def test_both_bad_answers_are_in_the_books_and_neither_is_charged() -> None:
    """Each call's item has its usage and its cost, the row their sum; the tenant gets the whole reservation back."""
    world = await twice_bad()
    await world.deliver()
    first, second = (world.items[f"call#0001#{step}/1#0001"] for step in ("rate", "rate-again"))

    assert [one.cost for one in (first, second)] == [Cost.exact(12), Cost.exact(23)]
    assert [one.state for one in (first, second)] == [CallState.SUCCEEDED] * 2
    assert (world.row.spent, world.row.possible_spent, world.row.open) == (Cost.exact(35), Cost.exact(35), ())
    assert (world.account.available, world.account.reserved, world.account.captured) == (HELD, 0, 0)


async def test_a_late_second_delivery_of_it_buys_nothing() -> None:
    """The queue may deliver a message twice: the end is read, and told to the user as it was."""
    world = await twice_bad()
    await world.deliver()
    report = await world.deliver(receive_count=2)
    told = await read_job(world.store, world.blob, world.clock, tenant_id=TENANT, job_id=JOB_ID)

    assert (len(world.provider.keys), report.disposition, world.row.spent) == (2, Acknowledge(), Cost.exact(35))
    assert told.result is None
    assert told.job.attempt is not None
    assert (told.job.attempt.outcome, told.job.attempt.cost) == (AttemptOutcome.FAILED, Cost.exact(35))
