"""Twenty equal jobs at one emulated DynamoDB, each run by a worker that knows nothing of the others."""

from __future__ import annotations

import asyncio
from collections import Counter
from collections.abc import Iterator
from typing import cast

import pytest

from onceward.adapters.dynamodb.store import DynamoStore
from onceward.adapters.memory.store import MemoryStore
from onceward.adapters.system import SystemClock, SystemIds, ThreadRunner
from onceward.domain.flights import Boarding
from onceward.domain.job import Job
from onceward.domain.money import Cost
from onceward.domain.names import JobId, identity_of
from onceward.domain.states import JobState
from onceward.local.cloud import LocalCloud
from onceward.usecases.ports import ModelReply
from tests.support.builders import TENANT
from tests.support.emulators import dynamodb_at, make_tables
from tests.support.fakes import a_reply
from tests.support.flight_world import FlightWorld

MANY = 20


@pytest.fixture
def world(ministack: LocalCloud) -> Iterator[FlightWorld]:
    """New tables; every delivery has ports of its own, so that nothing but the tables keeps workers apart."""
    client = dynamodb_at(ministack.endpoint_url)
    with ThreadRunner(8) as threads:
        made = FlightWorld()
        made.ids = SystemIds()
        made.store = cast("MemoryStore", DynamoStore(client, make_tables(client), threads, SystemClock(), made.ids))
        yield made


async def row_of(world: FlightWorld, job: JobId) -> Job:
    """As the table has it."""
    row = await world.store.get_job(TENANT, identity_of(job))
    assert row is not None
    return row


def test_twenty_at_once_are_one_flight_one_call_and_twenty_results(world: FlightWorld) -> None:
    """All try to start it: one does, nineteen join, whoever was first; no result is lost, and each is a copy."""

    async def crowd() -> None:
        jobs = [await world.ask(number) for number in range(MANY)]
        boarded: Counter[Boarding | None] = Counter()
        all_in = asyncio.Event()

        async def answer() -> ModelReply:
            async with asyncio.timeout(60):  # or who could not join is told of below, and not by a test that hangs
                await all_in.wait()
            return a_reply()

        async def deliver(job: JobId) -> None:
            report = await world.give(job)
            boarded.update(one.boarding for one in (report, *report.others) if one.boarding is not None)
            if boarded[Boarding.JOINED] == MANY - 1:
                all_in.set()

        world.provider.script = [answer]
        await asyncio.gather(*(deliver(job) for job in jobs))
        rows = [await row_of(world, job) for job in jobs]
        (flight_id,) = {row.flight for row in rows if row.flight is not None}
        flight = await row_of(world, flight_id)

        assert boarded == {Boarding.STARTED: 1, Boarding.JOINED: MANY - 1}
        assert world.calls == 1
        assert {(row.state, row.attempts, row.spent) for row in rows} == {(JobState.SUCCEEDED, 1, Cost.nothing())}
        assert (flight.state, flight.participants) == (JobState.SUCCEEDED, MANY)

    asyncio.run(crowd())
