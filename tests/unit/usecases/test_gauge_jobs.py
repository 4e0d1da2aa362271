"""How much is open, as the sweeper tells it: counted from the index, and silent where there is nothing."""

from __future__ import annotations

from datetime import timedelta

import pytest

from onceward.adapters.memory.store import MemoryStore
from onceward.domain.job import Job
from onceward.domain.names import Identity, TenantId
from onceward.errors import CallFailure, StoreUnavailable
from onceward.handlers.sweeper import sweep_and_gauge
from onceward.usecases.gauge_jobs import EVERY_MINUTES, Gauge, gauge_jobs, is_time_to_gauge
from onceward.usecases.measuring import gauge_metrics
from onceward.usecases.ports import ModelReply
from onceward.usecases.sweep import Sweeper
from tests.support.builders import NOW
from tests.support.fakes import a_reply
from tests.support.flight_world import FlightWorld
from tests.support.worker_world import WorkerWorld

pytestmark = pytest.mark.anyio

RESET = CallFailure("", code="connection_lost", error_class="outcome_unknown", was_sent=True)


def a_sweeper(world: WorkerWorld) -> Sweeper:
    """The sweeper of a worker's world."""
    return Sweeper(store=world.store, queue=world.queue, clock=world.clock, timing=world.timing)


async def test_open_jobs_are_counted_and_ended_ones_are_not() -> None:
    """Queued is open; succeeded is not."""
    world = WorkerWorld()
    await world.create()

    assert await gauge_jobs(a_sweeper(world)) == Gauge(open=1)
    await world.deliver()
    assert await gauge_jobs(a_sweeper(world)) == Gauge()


async def test_a_flight_is_no_open_job() -> None:
    """Three wait for it: three jobs are open, as without sharing."""
    world = FlightWorld()
    jobs = [await world.ask(number) for number in range(3)]
    seen: list[Gauge] = []

    async def look() -> ModelReply:
        for job in jobs[1:]:
            await world.give(job)
        seen.append(await gauge_jobs(a_sweeper(world)))
        return a_reply()

    world.provider.script = [look]
    await world.give(jobs[0])

    assert seen == [Gauge(open=3)]
    assert await gauge_jobs(a_sweeper(world)) == Gauge()


async def test_oldest_review_s_age_counts_from_the_end_of_its_attempt() -> None:
    """However often it was looked at since."""
    world = WorkerWorld()
    world.provider.script = [RESET]
    await world.create()
    await world.deliver()
    world.clock.move(timedelta(hours=30))
    await world.deliver()

    assert await gauge_jobs(a_sweeper(world)) == Gauge(in_review=1, oldest_review=timedelta(hours=30))


async def test_a_review_that_cannot_be_read_is_counted_and_tells_no_age() -> None:
    """The figures of all others do not hang on one row."""

    class Illegible(MemoryStore):
        """Holds rows that this code cannot read."""

        is_illegible = False

        async def get_job(self, tenant_id: TenantId, identity: Identity) -> Job | None:
            if self.is_illegible:
                raise ValueError("planned")
            return await super().get_job(tenant_id, identity)

    world = WorkerWorld()
    world.provider.script = [RESET]
    world.store = illegible = Illegible()
    await world.create()
    await world.deliver()
    illegible.is_illegible = True

    assert await gauge_jobs(a_sweeper(world)) == Gauge(in_review=1)


def test_stage_at_rest_writes_no_metric() -> None:
    """Each series costs money for the hours in which it has values."""
    assert gauge_metrics(Gauge()) == ()
    assert [one.name for one in gauge_metrics(Gauge(open=2))] == ["jobs_open"]


def test_it_is_looked_every_few_minutes() -> None:
    """Passes come each minute; alarms look at five."""
    minutes = [is_time_to_gauge(NOW + timedelta(minutes=number)) for number in range(60)]

    assert minutes.count(True) == 60 // EVERY_MINUTES


async def test_index_that_does_not_answer_spoils_no_pass() -> None:
    """The rescue is done; the figure is missing and said to be."""

    class Uncounted(MemoryStore):
        """Counts nothing."""

        async def count_due(self, shard: str) -> int:
            raise StoreUnavailable("planned")

    world = WorkerWorld()
    world.store = Uncounted()
    await world.create()
    while not is_time_to_gauge(world.clock.now()):
        world.clock.move(timedelta(minutes=1))
    counts, metrics = await sweep_and_gauge(a_sweeper(world))

    assert (counts["not_gauged"], metrics) == (1, ())
