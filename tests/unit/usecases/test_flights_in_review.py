"""A flight in review takes its participants with it: one entry, one decision."""

from __future__ import annotations

import json
from collections.abc import Sequence
from datetime import datetime

import pytest

from onceward.adapters.memory.store import MemoryStore
from onceward.domain.flights import Boarding
from onceward.domain.names import JobId
from onceward.domain.records import ColdItem
from onceward.domain.states import JobState, Resolution, WaitingFor
from onceward.domain.transaction import Op, WriteReply
from onceward.errors import CallFailure, JobNotFound, NotInReview, StoreUnavailable
from onceward.handlers.review_views import review_view
from onceward.usecases.list_reviews import list_reviews
from onceward.usecases.ports import ModelReply
from onceward.usecases.read_job import read_job
from onceward.usecases.read_review import read_review
from onceward.usecases.resolve_job import Verdict, resolve_job
from onceward.wire.reviews import ReviewView
from tests.support.builders import TENANT, seconds
from tests.support.flight_world import FlightWorld, intake_of

pytestmark = pytest.mark.anyio

RESET = CallFailure("", code="connection_reset", error_class="outcome_unknown", was_sent=True)
COUNT = 3


class Silent(MemoryStore):
    """Answers for rows alone, while it is told to."""

    is_silent = False

    async def put_cold(self, item: ColdItem, expires_at: datetime) -> bool:
        """As ever, or not at all."""
        if self.is_silent:
            raise StoreUnavailable("planned")
        return await super().put_cold(item, expires_at)

    async def transact(self, ops: Sequence[Op], token: str) -> WriteReply:
        """As ever, or not at all."""
        if self.is_silent:
            raise StoreUnavailable("planned")
        return await super().transact(ops, token)


async def parked(store: MemoryStore | None = None) -> tuple[FlightWorld, list[JobId]]:
    """Three jobs whose flight does not know what became of its call."""
    world = FlightWorld()
    world.store = store or world.store
    jobs = [await world.ask(number, reserved_micro_usd=5_000) for number in range(COUNT)]

    async def lose() -> ModelReply:
        for job in jobs[1:]:
            await world.give(job)
        raise RESET

    world.provider.script = [lose]
    await world.give(jobs[0])
    return world, jobs


def states(world: FlightWorld) -> set[JobState]:
    """How the participants stand."""
    return {row.state for row in world.store.rows.values() if not row.is_flight}


def verdict(world: FlightWorld, resolution: Resolution, job_id: str | None = None) -> Verdict:
    """A person decides, about the flight unless another job is named."""
    return Verdict(
        tenant_id=TENANT,
        job_id=job_id or world.flights[0].job_id,
        resolution=resolution,
        epoch=1,
        by="operator",
        why="looked it up",
        result={"text": "found by hand"} if resolution is Resolution.ACCEPT else None,
        may_pay_twice=resolution is Resolution.RETRY,
    )


async def wake_all(world: FlightWorld, jobs: list[JobId]) -> None:
    """The messages that a decision sends."""
    for job in jobs:
        await world.give(job)


async def test_one_maybe_is_one_dead_letter() -> None:
    """All are in review, all reservations are held, and the one letter names the flight."""
    world, _ = await parked()

    assert states(world) == {JobState.NEEDS_REVIEW}
    assert [json.loads(letter)["job_id"] for letter in world.queue.dead_letters] == [world.flights[0].job_id]
    assert (world.account.reserved, world.calls) == (15_000, 1)
    assert all(row.due is not None and row.wake_at is not None for row in world.store.rows.values())


async def test_review_is_read_where_it_is_decided() -> None:
    """Of the flight, what is unknown; of a participant, that its flight decides. A read of jobs knows no flight."""
    world, jobs = await parked()
    [flight] = world.flights

    async def read(job_id: str) -> ReviewView:
        return review_view(await read_review(world.store, world.blob, world.clock, tenant_id=TENANT, job_id=job_id))

    theirs, own = await read(flight.job_id), await read(jobs[0])
    assert (theirs.is_open, theirs.flight, theirs.participants) == (True, None, COUNT)
    assert [call.state for call in theirs.open_calls] == ["unknown"]
    assert (own.is_open, own.flight, own.participants, own.open_calls) == (False, flight.job_id, None, ())
    with pytest.raises(JobNotFound):
        await read_job(world.store, world.blob, world.clock, tenant_id=TENANT, job_id=flight.job_id)
    await resolve_job(intake_of(world), verdict(world, Resolution.FAIL))
    await wake_all(world, jobs)

    after = await read(jobs[0])
    assert (after.status, after.flight) == ("failed", None)
    assert [record.verdict for record in (await read(flight.job_id)).records] == ["fail"]


async def test_operators_list_has_the_flight_with_its_participants() -> None:
    """So that a person finds what to decide, by whichever of them was asked about."""
    world, jobs = await parked()
    listed = await list_reviews(world.store, world.clock, 10)

    assert {row.job_id for row in listed.jobs} == {world.flights[0].job_id, *jobs}


async def test_newcomers_do_not_join_a_review() -> None:
    """A new job is a new wish: it starts a flight of its own, and the old one waits for its decision."""
    world, _ = await parked()
    late = await world.ask(7)
    report = await world.give(late)

    assert [one.boarding for one in report.others] == [Boarding.STARTED]
    assert world.of(late).state is JobState.SUCCEEDED
    assert world.flights[0].state is JobState.NEEDS_REVIEW


async def test_an_accepted_result_is_everybody_s() -> None:
    """A person gives the result once; each participant has it, and is charged."""
    world, jobs = await parked()
    await resolve_job(intake_of(world), verdict(world, Resolution.ACCEPT))
    await wake_all(world, jobs)

    assert states(world) == {JobState.SUCCEEDED}
    assert (world.account.captured, world.account.reserved, world.calls) == (15_000, 0, 1)
    assert world.store.open_flights == {TENANT: 0}


async def test_a_failed_review_is_everybody_s_end() -> None:
    """Each ends failed with the verdict's code and is released."""
    world, jobs = await parked()
    await resolve_job(intake_of(world), verdict(world, Resolution.FAIL))
    await wake_all(world, jobs)

    assert {(row.state, row.error_code) for row in world.store.rows.values()} == {(JobState.FAILED, "review_failed")}
    assert (world.account.available, world.account.captured) == (15_000, 0)


async def test_a_knowing_retry_takes_everybody_back() -> None:
    """The flight has a new epoch; its participants wait for it again and get its result."""
    world, jobs = await parked()
    await resolve_job(intake_of(world), verdict(world, Resolution.RETRY))
    first = world.of(jobs[0])
    assert first.state is JobState.NEEDS_REVIEW
    await wake_all(world, jobs)

    assert states(world) == {JobState.SUCCEEDED}
    assert (world.flights[0].epoch, world.calls) == (2, 2)


async def test_a_participant_s_review_is_not_decided_apart() -> None:
    """There is one decision, and it is about the flight."""
    world, jobs = await parked()

    with pytest.raises(NotInReview):
        await resolve_job(intake_of(world), verdict(world, Resolution.FAIL, jobs[0]))


async def test_a_cancelled_participant_leaves_the_review() -> None:
    """Nothing was sent for it alone: it ends cancelled, the others stay."""
    world, jobs = await parked()
    first = jobs[0]
    await world.cancel(first)
    await world.give(first)

    assert world.of(first).state is JobState.CANCELLED
    assert (world.flights[0].state, world.flights[0].participants) == (JobState.NEEDS_REVIEW, COUNT - 1)
    assert world.account.available == 5_000


async def test_a_participant_that_looks_again_stays_in_review() -> None:
    """Its look finds the flight undecided, and comes back later; nothing is sent, no letter either."""
    world, jobs = await parked()
    world.clock.move(seconds(90))
    first = jobs[0]
    await world.give(first)
    row = world.of(first)

    assert (row.state, row.waiting_for) == (JobState.NEEDS_REVIEW, None)
    assert row.wake_at is not None
    assert row.wake_at > world.clock.now()
    assert (world.calls, len(world.queue.dead_letters)) == (1, 1)
    assert WaitingFor.FLIGHT not in {one.waiting_for for one in world.store.rows.values()}


@pytest.mark.parametrize("resolution", [Resolution.FAIL, Resolution.ACCEPT])
async def test_a_participant_that_could_not_follow_the_verdict_follows_it_later(resolution: Resolution) -> None:
    """Its tables did not answer in the middle of its end: it is in review with its flight as before, and not alone."""
    store = Silent()
    world, jobs = await parked(store)
    await resolve_job(intake_of(world), verdict(world, resolution))
    first = jobs[0]
    before = world.of(first)
    store.is_silent = True
    await world.give(first)
    store.is_silent = False

    assert (world.of(first).state, world.of(first).flight) == (JobState.NEEDS_REVIEW, before.flight)
    world.clock.move(seconds(60))
    await world.give(first)
    assert world.of(first).state is (JobState.FAILED if resolution is Resolution.FAIL else JobState.SUCCEEDED)
