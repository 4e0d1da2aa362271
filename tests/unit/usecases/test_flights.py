"""Flights: equal questions at the same time are one computation, with a fate of its own for each participant."""

from __future__ import annotations

from collections.abc import Awaitable, Callable

import pytest

from onceward.domain.coalescing import FlightLimits
from onceward.domain.deliveries import Acknowledge, PutBack
from onceward.domain.flights import Boarding
from onceward.domain.job import FLIGHT_SCHEMA
from onceward.domain.money import Cost
from onceward.domain.names import TenantId
from onceward.domain.states import JobState, WaitingFor
from onceward.errors import CallFailure, JobNotFound
from onceward.usecases.ports import ModelReply
from onceward.usecases.read_job import find_job, read_job
from onceward.usecases.stored_input import StoredDocument
from tests.support.builders import TENANT, seconds
from tests.support.fakes import a_reply
from tests.support.flight_world import FlightWorld

pytestmark = pytest.mark.anyio

OTHER = TenantId("globex")
BUSY = CallFailure("", code="rate_limited", error_class="rate_limited", was_sent=True, retry_after=seconds(120))
REJECTED = CallFailure("", code="content_filter", error_class="policy_rejected", was_sent=True)


def document(version: str) -> dict[str, StoredDocument]:
    """A document in one of its versions."""
    one = StoredDocument(key="documents/acme/D", version=version, sha256="s", size=1, content_type="text/plain")
    return {"D": one}


def meanwhile(act: Callable[[], Awaitable[object]]) -> Callable[[], Awaitable[ModelReply]]:
    """An answer that comes after something else has happened."""

    async def reply() -> ModelReply:
        await act()
        return a_reply()

    return reply


async def fly(world: FlightWorld, count: int) -> None:
    """As many equal jobs: the first starts the flight, the others join while it asks."""
    jobs = [await world.ask(number) for number in range(count)]

    async def join() -> None:
        for job in jobs[1:]:
            await world.give(job)

    world.provider.script = [meanwhile(join)]
    await world.give(jobs[0])


async def test_equal_jobs_share_one_call_and_each_has_its_own_result_and_charge() -> None:
    """Twenty jobs, one call; twenty results and charges, and the provider's cost on the flight alone."""
    world = FlightWorld()
    jobs = [await world.ask(number, reserved_micro_usd=5_000) for number in range(20)]

    async def join() -> None:
        for job in jobs[1:]:
            report = await world.give(job)
            assert (report.boarding, report.disposition) == (Boarding.JOINED, Acknowledge())
            assert (world.of(job).state, world.of(job).waiting_for) == (JobState.WAITING, WaitingFor.FLIGHT)

    world.provider.script = [meanwhile(join)]
    await world.give(jobs[0])
    rows = [world.of(job) for job in jobs]

    assert world.calls == 1
    assert {(row.state, row.attempts, row.charge_micro_usd, row.spent) for row in rows} == {
        (JobState.SUCCEEDED, 1, 5_000, Cost.nothing())
    }
    assert all(row.is_shared for row in rows)
    assert (world.account.captured, world.account.reserved) == (100_000, 0)
    [flight] = world.flights
    assert (flight.state, flight.spent, flight.charge_micro_usd) == (JobState.SUCCEEDED, Cost.exact(10), None)
    assert world.store.open_flights == {TENANT: 0}
    readings = [await read_job(world.store, world.blob, world.clock, tenant_id=TENANT, job_id=job) for job in jobs]
    assert {str(reading.result) for reading in readings} == {str(readings[0].result)}
    assert readings[0].result is not None


async def test_whoever_comes_after_the_end_starts_the_next_flight() -> None:
    """Nothing is cached: a later job is computed anew, never given the old result."""
    world = FlightWorld()
    await fly(world, 2)
    late = await world.ask(7)
    report = await world.give(late)

    assert world.calls == 2
    assert [one.boarding for one in report.others] == [Boarding.STARTED]
    assert world.of(late).flight == world.flights[1].job_id


@pytest.mark.parametrize(
    ("first", "second"),
    [
        ({}, {"tenant": OTHER}),
        ({}, {"steps": ("other",)}),
        ({"documents": document("1")}, {"documents": document("2")}),
        ({}, {"kind_version": 0}),
    ],
    ids=["tenant", "input", "document version", "kind version"],
)
async def test_another_question_is_another_flight(first: dict[str, object], second: dict[str, object]) -> None:
    """Two tenants with the same text, two inputs, two versions of a document or kind: two calls."""
    world = FlightWorld()
    one, two = await world.ask(1, **first), await world.ask(2, **second)  # type: ignore[arg-type]
    tenant = second.get("tenant", TENANT)
    assert isinstance(tenant, str)
    world.provider.script = [meanwhile(lambda: world.give(two, tenant=TenantId(tenant)))]
    await world.give(one)

    assert world.calls == 2
    assert len(world.flights) == 2


async def test_a_request_may_ask_to_be_computed_apart() -> None:
    """``coalesce: false`` starts and joins nothing."""
    world = FlightWorld()
    job = await world.ask(1, coalesce=False)
    report = await world.give(job)

    assert (report.boarding, world.flights) == (None, [])
    assert (world.of(job).state, world.of(job).spent) == (JobState.SUCCEEDED, Cost.exact(10))


async def test_cancelling_the_first_participant_hurts_nobody_else() -> None:
    """Invariant 13: the one who started the flight leaves it; the others get their results."""
    world = FlightWorld()
    jobs = [await world.ask(number, reserved_micro_usd=5_000) for number in range(4)]

    async def leave() -> None:
        for job in jobs[1:]:
            await world.give(job)
        assert (await world.cancel(jobs[0])).state is JobState.CANCELLED

    world.provider.script = [meanwhile(leave)]
    await world.give(jobs[0])

    assert [world.of(job).state for job in jobs] == [JobState.CANCELLED, *[JobState.SUCCEEDED] * 3]
    assert (world.calls, world.account.captured, world.account.available) == (1, 15_000, 5_000)
    assert world.flights[0].participants == 3


async def test_beyond_the_limits_a_job_runs_on_its_own() -> None:
    """A full flight, and a tenant with as many flights as it may have: counted, and computed all the same."""
    world = FlightWorld(limits=FlightLimits(participants=2, flights=1))
    jobs = [await world.ask(number) for number in range(3)]
    other = await world.ask(9, steps=("other",))

    async def crowd() -> None:
        assert (await world.give(jobs[1])).boarding is Boarding.JOINED
        assert (await world.give(jobs[2])).boarding is Boarding.BUSY
        assert (await world.give(other)).boarding is Boarding.BUSY

    world.provider.script = [meanwhile(crowd)]
    await world.give(jobs[0])

    assert world.calls == 3
    assert {world.of(job).state for job in (*jobs, other)} == {JobState.SUCCEEDED}
    assert [world.of(job).is_shared for job in (*jobs, other)] == [True, True, False, False]


async def test_a_final_failure_is_everybody_s() -> None:
    """A refusal by policy ends each participant at once, with its code and its reservation released."""
    world = FlightWorld()
    jobs = [await world.ask(number, reserved_micro_usd=5_000) for number in range(3)]

    async def refuse() -> ModelReply:
        for job in jobs[1:]:
            await world.give(job)
        raise REJECTED

    world.provider.script = [refuse]
    await world.give(jobs[0])

    assert {(world.of(job).state, world.of(job).error_code) for job in jobs} == {(JobState.FAILED, "content_filter")}
    assert (world.calls, world.account.available, world.queue.dead_letters) == (1, 15_000, ())


@pytest.mark.failure_mode("F79")
async def test_a_passing_failure_is_retried_by_each_policy_and_coalesces_again() -> None:
    """One 429 ends the flight; its floor is kept by all, and the next attempts share one call again."""
    world = FlightWorld()
    jobs = [await world.ask(number) for number in range(3)]

    async def refuse() -> ModelReply:
        for job in jobs[1:]:
            await world.give(job)
        raise BUSY

    world.provider.script = [refuse]
    report = await world.give(jobs[0])
    rows = [world.of(job) for job in jobs]

    assert {(row.state, row.waiting_for, row.attempts) for row in rows} == {(JobState.WAITING, WaitingFor.RETRY, 1)}
    assert all(row.wake_at is not None and row.wake_at >= world.clock.now() + seconds(120) for row in rows)
    assert isinstance(report.disposition, PutBack)
    assert world.flights[0].state is JobState.FAILED
    world.clock.move(seconds(130))

    async def join() -> None:
        for job in jobs[1:]:
            await world.give(job)

    world.provider.script = [meanwhile(join)]
    await world.give(jobs[0])

    assert world.calls == 2
    assert {(world.of(job).state, world.of(job).attempts) for job in jobs} == {(JobState.SUCCEEDED, 2)}


async def test_a_lost_worker_costs_one_takeover_and_nobody_s_result() -> None:
    """The first worker dies while it asks; the participant's own message finds the flight and takes it over."""
    world = FlightWorld()
    jobs = [await world.ask(number) for number in range(3)]

    tables: dict[str, object] = {}

    async def die() -> ModelReply:
        for job in jobs[1:]:
            await world.give(job)
        tables.update(rows=dict(world.store.rows), items={at: dict(of) for at, of in world.store.items.items()})
        return a_reply()

    world.provider.script = [die]
    await world.give(jobs[0])
    # What the process did after this instant, it did not live to do.
    world.store.rows, world.store.items = tables["rows"], tables["items"]  # type: ignore[assignment]
    [flight] = world.flights
    assert (flight.state, flight.participants) == (JobState.RUNNING, 3)
    world.clock.move(seconds(80))
    early = await world.give(jobs[0], may_take_over=False)
    assert early.is_takeover_due
    await world.give(jobs[0])

    # The call was sent and never answered: by the kind's policy that is a review, of the flight and all in it.
    assert {world.of(job).state for job in jobs} == {JobState.NEEDS_REVIEW}
    assert (world.calls, len(world.queue.dead_letters)) == (1, 1)
    assert world.flights[0].lost == 0


async def test_a_participant_sees_to_itself_when_its_flight_s_worker_died_after_the_end() -> None:
    """The result is accepted and nobody was served: the participant's own run copies it."""
    world = FlightWorld()
    await fly(world, 1)
    [flight] = world.flights
    job = await world.ask(5)
    row = world.of(job)
    participant = {
        "state": JobState.WAITING,
        "waiting_for": WaitingFor.FLIGHT,
        "flight": flight.job_id,
        "wake_at": world.clock.now(),
        "attempts": 1,
        "attempt": world.of(world.of(job).job_id).attempt,
    }
    world.put(row, **participant)
    await world.give(job)

    assert (world.of(job).state, world.of(job).is_shared, world.calls) == (JobState.SUCCEEDED, True, 1)


async def test_a_participant_keeps_its_own_deadline() -> None:
    """It ends ``deadline_exceeded`` and leaves; the flight goes on for the others."""
    world = FlightWorld()
    first = await world.ask(1)
    hasty = await world.ask(2, deadline_at=world.clock.now() + seconds(30))

    async def late() -> None:
        await world.give(hasty)
        world.clock.move(seconds(31))
        await world.give(hasty)

    world.provider.script = [meanwhile(late)]
    await world.give(first)

    assert (world.of(hasty).state, world.of(hasty).error_code) == (JobState.FAILED, "deadline_exceeded")
    assert world.of(first).state is JobState.SUCCEEDED
    assert (world.calls, world.flights[0].participants) == (1, 1)


async def test_a_flight_is_hidden() -> None:
    """It is in no list, and whoever guesses its id is told that there is no such job; older code leaves it alone."""
    world = FlightWorld()
    await fly(world, 2)
    [flight] = world.flights
    page = await world.store.tenant_page(TENANT, None, 100)

    assert flight.job_id not in page.job_ids
    assert flight.schema_version == FLIGHT_SCHEMA
    with pytest.raises(JobNotFound):
        await find_job(world.store, world.clock, TENANT, flight.job_id)
