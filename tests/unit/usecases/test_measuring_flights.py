"""What flights add to the metrics, with their values: beginnings, joins, refusals, waits, and what sharing saved."""

from __future__ import annotations

from collections import defaultdict

import pytest

from onceward.domain.coalescing import FlightLimits
from onceward.domain.names import JobId
from onceward.errors import CallFailure
from onceward.usecases.measuring_flights import all_metrics
from onceward.usecases.ports import ModelReply
from onceward.usecases.run_job import RunReport
from tests.support.builders import seconds
from tests.support.fakes import a_reply
from tests.support.flight_world import FlightWorld

pytestmark = pytest.mark.anyio

COST = 10  # micro-USD of one call of the fake provider
REJECTED = CallFailure("", code="content_filter", error_class="policy_rejected", was_sent=True)


def values(*reports: RunReport) -> dict[str, list[float]]:
    """Every value of every metric, in the order of its coming."""
    found: defaultdict[str, list[float]] = defaultdict(list)
    for report in reports:
        for metric in all_metrics(report):
            found[metric.name].append(metric.value)
    return found


async def flown(world: FlightWorld, jobs: list[JobId], *, steps_in: float = 0) -> dict[str, list[float]]:
    """The first starts the flight, the others come while it asks, ``steps_in`` seconds after each other."""
    reports: list[RunReport] = []

    async def join() -> ModelReply:
        for job in jobs[1:]:
            world.clock.move(seconds(steps_in))
            reports.append(await world.give(job))
        return a_reply()

    world.provider.script = [join]
    return values(await world.give(jobs[0]), *reports)


async def test_started_joined_wait_and_saved_are_what_the_books_say() -> None:
    """Three jobs of two calls: four calls and four times their price were not paid, and each wait is told."""
    world = FlightWorld()
    jobs = [await world.ask(number, steps=("one", "two")) for number in range(3)]
    found = await flown(world, jobs, steps_in=5)
    [flight] = world.flights
    spent = flight.spent

    assert (found["flights_started"], found["flights_joined"], found["flights_busy"]) == ([1], [1, 1], [])
    assert (len(flight.accepted), spent.low, spent.high) == (2, 2 * COST, 2 * COST)
    assert found["flight_calls_saved"] == [2 * 2]
    assert found["flight_cost_saved_low"] == found["flight_cost_saved_high"] == [2 * spent.low]
    assert sorted(found["flight_wait"]) == [0, 5, 10]
    assert found["flights_orphaned"] == [0]
    assert sum(found["provider_spend_low"]) == spent.low
    assert (found["jobs_accepted"], sum(found["cost_per_accepted_job_low"])) == ([1, 1, 1], spent.low)


async def test_one_alone_saves_nothing() -> None:
    """A flight that served one has cost what the job would have."""
    world = FlightWorld()
    found = await flown(world, [await world.ask(1)])

    assert (found["flights_started"], found["flight_calls_saved"], found["flight_cost_saved_high"]) == ([1], [0], [0])


async def test_whoever_finds_no_room_is_busy_and_saves_nothing() -> None:
    """The third of two pays for itself: counted, and in nobody's savings."""
    world = FlightWorld(limits=FlightLimits(participants=2))
    found = await flown(world, [await world.ask(number) for number in range(3)])

    assert (found["flights_started"], found["flights_joined"], found["flights_busy"]) == ([1], [1], [1])
    assert (found["flight_calls_saved"], found["flight_cost_saved_low"]) == ([1], [COST])
    assert sum(found["provider_spend_low"]) == 2 * COST
    assert len(found["jobs_accepted"]) == 3


async def test_a_flight_that_all_have_left_is_orphaned() -> None:
    """It has served nobody, so nothing is saved either."""
    world = FlightWorld()
    job = await world.ask(1)

    async def leave() -> ModelReply:
        await world.cancel(job)
        return a_reply()

    world.provider.script = [leave]
    found = values(await world.give(job))

    assert found["flights_orphaned"] == [1]
    assert (found["flight_wait"], found["flight_calls_saved"], found["jobs_accepted"]) == ([], [], [])


async def test_a_failed_flight_has_saved_nothing() -> None:
    """Its participants end by themselves, each counted as failed."""
    world = FlightWorld()
    jobs = [await world.ask(number) for number in range(2)]

    async def refuse() -> ModelReply:
        await world.give(jobs[1])
        raise REJECTED

    world.provider.script = [refuse]
    found = values(await world.give(jobs[0]))

    assert (found["flights_orphaned"], found["flight_calls_saved"]) == ([0], [])
    assert found["jobs_failed"] == [1, 1]


async def test_switched_off_sharing_is_busy_and_costs_no_request() -> None:
    """A stage that allows no flight asks the tables for none."""
    world = FlightWorld(limits=FlightLimits(flights=0))
    found = await flown(world, [await world.ask(1)])

    assert (found["flights_busy"], found["flights_started"], world.flights) == ([1], [], [])
    assert world.store.open_flights == {}
