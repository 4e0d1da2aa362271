"""After a flight that failed: who may try again does so together, also without a message of one's own."""

from __future__ import annotations

import pytest

from onceward.domain.deliveries import Acknowledge, PutBack
from onceward.domain.flights import Boarding
from onceward.domain.names import JobId
from onceward.domain.states import JobState, WaitingFor
from onceward.errors import CallFailure
from onceward.usecases.ports import ModelReply
from tests.support.builders import seconds
from tests.support.flight_world import FlightWorld

pytestmark = pytest.mark.anyio

BUSY = CallFailure("", code="rate_limited", error_class="rate_limited", was_sent=True, retry_after=seconds(20))


async def crashed(world: FlightWorld, count: int = 3) -> list[JobId]:
    """Jobs whose flight has met a busy provider; only the first one's message is left."""
    jobs = [await world.ask(number) for number in range(count)]

    async def refuse() -> ModelReply:
        for job in jobs[1:]:
            assert (await world.give(job)).disposition == Acknowledge()
        raise BUSY

    world.provider.script = [refuse]
    report = await world.give(jobs[0])
    assert isinstance(report.disposition, PutBack)
    rows = [world.of(job) for job in jobs]
    assert {(row.state, row.waiting_for) for row in rows} == {(JobState.WAITING, WaitingFor.RETRY)}
    latest = max(row.wake_at for row in rows if row.wake_at is not None)
    assert world.clock.now() + report.disposition.visibility >= latest
    return jobs


async def test_who_starts_the_next_flight_takes_the_others_along() -> None:
    """One message wakes all of them, for one more call; no sweeper is waited for."""
    world = FlightWorld()
    jobs = await crashed(world)
    world.clock.move(seconds(60))
    report = await world.give(jobs[0])

    assert {(world.of(job).state, world.of(job).attempts) for job in jobs} == {(JobState.SUCCEEDED, 2)}
    assert world.calls == 2
    boardings = [one.boarding for one in report.others if one.boarding is not None]
    assert sorted(boardings) == [Boarding.JOINED, Boarding.JOINED, Boarding.STARTED]
    assert report.disposition == Acknowledge()


async def test_who_is_not_awake_yet_is_left_alone() -> None:
    """Each keeps its own wait: it joins by itself when its time comes."""
    world = FlightWorld()
    jobs = await crashed(world)
    sleeper = world.of(jobs[2])
    world.clock.move(seconds(60))
    world.put(sleeper, wake_at=world.clock.now() + seconds(600))
    await world.give(jobs[0])

    assert [world.of(job).state for job in jobs[:2]] == [JobState.SUCCEEDED, JobState.SUCCEEDED]
    assert world.of(jobs[2]).state is JobState.WAITING
    assert world.of(jobs[2]).attempts == 1


async def test_who_has_gone_meanwhile_is_left_alone() -> None:
    """A participant that was cancelled after the failure is not woken for the next flight."""
    world = FlightWorld()
    jobs = await crashed(world)
    assert (await world.cancel(jobs[1])).state is JobState.CANCELLED
    world.clock.move(seconds(60))
    await world.give(jobs[0])

    assert [world.of(job).state for job in jobs] == [JobState.SUCCEEDED, JobState.CANCELLED, JobState.SUCCEEDED]
    assert world.calls == 2
    assert world.flights[1].participants == 2


async def test_a_flight_that_ran_out_of_its_time_ends_nobody_else_s_job() -> None:
    """Who joined it late has hours of its own left: it goes on in the same attempt, in the next flight."""
    world = FlightWorld()
    first, late = await world.ask(1), await world.ask(2)

    async def run_out() -> ModelReply:
        await world.give(late)
        raise BUSY

    world.provider.script = [run_out]
    await world.give(first)
    [flight] = world.flights
    world.put(world.of(late), waiting_for=WaitingFor.FLIGHT, flight=flight.job_id, wake_at=world.clock.now())
    world.put(flight, error_code="deadline_exceeded")
    await world.give(late)

    assert (world.of(late).state, world.of(late).attempts) == (JobState.SUCCEEDED, 1)
    assert world.of(late).flight == world.flights[1].job_id
