"""Erasure beside flights: one's own copy goes at once, what was computed for several goes when nobody waits for it."""

from __future__ import annotations

from typing import Any

import pytest

from onceward.adapters.memory.blob import MemoryBlob
from onceward.domain.coalescing import CoalesceBy, OnEmpty
from onceward.domain.names import JobId
from onceward.domain.records import ITEM_INLINE_LIMIT
from onceward.domain.states import JobState, Resolution
from onceward.errors import CallFailure, NotFinished
from onceward.usecases.erase_job import Eraser, erase_job
from onceward.usecases.ports import ModelReply
from onceward.usecases.read_job import read_job
from onceward.usecases.resolve_job import Verdict, resolve_job
from tests.support.builders import TENANT
from tests.support.fakes import a_reply
from tests.support.flight_world import FlightWorld, intake_of

pytestmark = pytest.mark.anyio

CANARY = "canary"
SECRET = f'{{"text":"{CANARY}"}}'
LARGE = f'{{"text":"{CANARY * ITEM_INLINE_LIMIT}"}}'
RESET = CallFailure("", code="connection_reset", error_class="outcome_unknown", was_sent=True)


class OpenBlob(MemoryBlob):
    """One that can be looked into."""

    @property
    def owners(self) -> set[str]:
        """The jobs of all objects."""
        return {key.split("/")[2] for key in self._objects}


class OpenWorld(FlightWorld):
    """One whose objects can be looked at."""

    def __init__(self, **of: Any) -> None:
        """As ``FlightWorld``."""
        super().__init__(**of)
        self.blob: OpenBlob = OpenBlob(self.clock)


def content(world: OpenWorld) -> set[str]:
    """The jobs, flights included, of which any item or object still holds content."""
    held = {job_id for (_, job_id), items in world.store.items.items() if CANARY in repr(items)}
    return held | world.blob.owners


async def erase(world: OpenWorld, job: JobId) -> None:
    """As its tenant."""
    ports = Eraser(store=world.store, blob=world.blob, clock=world.clock, ids=world.ids)
    await erase_job(ports, tenant_id=TENANT, job_id=job)


async def flown(text: str = SECRET, **of: Any) -> tuple[OpenWorld, list[JobId]]:
    """Three jobs whose question and answer are content, served by one flight."""
    world = OpenWorld(**of)
    jobs = [await world.ask(number, note=CANARY) for number in range(3)]

    async def join() -> ModelReply:
        for job in jobs[1:]:
            await world.give(job)
        return a_reply(text)

    world.provider.script = [join]
    await world.give(jobs[0])
    return world, jobs


@pytest.mark.parametrize("text", [SECRET, LARGE], ids=["inline", "large"])
async def test_one_erasure_takes_its_copy_and_the_flight_s_and_leaves_the_others_theirs(text: str) -> None:
    """The shared result is nobody's to lose: each has a copy, and the flight's is wanted by nobody any more."""
    world, jobs = await flown(text)
    [flight] = world.flights
    assert content(world) == {*jobs, flight.job_id}
    await erase(world, jobs[0])

    assert content(world) == set(jobs[1:])
    assert (world.of(jobs[0]).erased_at, world.flights[0].erased_at) == (world.clock.now(), world.clock.now())
    other = await read_job(world.store, world.blob, world.clock, tenant_id=TENANT, job_id=jobs[1])
    assert other.result is not None
    assert world.flights[0].spent.high > 0


async def test_nothing_is_left_of_a_tenant_that_erased_all() -> None:
    """Neither items nor objects, and the flights' table holds a hash, a name and a count."""
    world, jobs = await flown(LARGE)
    for job in jobs:
        await erase(world, job)

    assert content(world) == set()
    assert CANARY not in repr((world.store.rows, world.store.flights, world.store.open_flights, world.store.entries))


async def test_a_participant_of_a_flight_under_way_is_not_erased() -> None:
    """It may still be given the result: it is to be cancelled first, as any job."""
    world = OpenWorld()
    first, second = await world.ask(1, note=CANARY), await world.ask(2, note=CANARY)

    async def try_to_erase() -> ModelReply:
        await world.give(second)
        with pytest.raises(NotFinished):
            await erase(world, second)
        return a_reply(SECRET)

    world.provider.script = [try_to_erase]
    await world.give(first)

    assert world.of(second).state is JobState.SUCCEEDED


async def test_whoever_leaves_and_is_erased_takes_nothing_from_the_others() -> None:
    """The flight goes on with its own input, and serves who stayed."""
    world = OpenWorld()
    jobs = [await world.ask(number, note=CANARY) for number in range(2)]

    async def leave() -> ModelReply:
        await world.give(jobs[1])
        await world.cancel(jobs[0])
        await erase(world, jobs[0])
        return a_reply(SECRET)

    world.provider.script = [leave]
    await world.give(jobs[0])

    assert world.of(jobs[1]).state is JobState.SUCCEEDED
    assert content(world) == {jobs[1], world.flights[0].job_id}


@pytest.mark.parametrize("on_empty", [*OnEmpty])
async def test_a_flight_that_all_have_left_keeps_nothing_when_it_ends(on_empty: OnEmpty) -> None:
    """Its last participant was erased while it was under way, and nobody will ask again: its own end erases it."""
    world = OpenWorld(by=CoalesceBy(instructions="", on_empty=on_empty))
    job = await world.ask(1, note=CANARY)

    async def leave() -> ModelReply:
        await world.cancel(job)
        await erase(world, job)
        return a_reply(LARGE)

    world.provider.script = [leave]
    await world.give(job)
    [flight] = world.flights

    assert flight.state.is_terminal
    assert content(world) == set()
    assert flight.spent.high > 0


async def test_a_verdict_on_a_flight_that_all_have_left_keeps_nothing() -> None:
    """They left its review and were erased; the person who decides gives the last content to nobody."""
    world = OpenWorld()
    job = await world.ask(1, note=CANARY)
    world.provider.script = [RESET]
    await world.give(job)
    [flight] = world.flights
    await world.cancel(job)
    await world.give(job)
    await erase(world, job)
    assert content(world) == {flight.job_id}
    verdict = Verdict(
        tenant_id=TENANT,
        job_id=flight.job_id,
        resolution=Resolution.ACCEPT,
        epoch=1,
        by="operator",
        why="looked it up",
        result={"text": CANARY},
        may_pay_twice=False,
    )
    await resolve_job(intake_of(world), verdict)

    assert world.flights[0].state is JobState.SUCCEEDED
    assert content(world) == set()


async def test_a_copy_that_came_too_late_leaves_no_object() -> None:
    """Large results are objects before the transaction: a cancel that wins leaves none behind that nobody names."""
    world = OpenWorld()
    jobs = [await world.ask(number, note=CANARY) for number in range(2)]
    put = world.blob.put

    async def cancelled_meanwhile(key: str, body: bytes, content_type: str) -> None:
        await put(key, body, content_type)
        if key.startswith(f"jobs/{TENANT}/{jobs[1]}/result"):
            await world.cancel(jobs[1])

    world.blob.put = cancelled_meanwhile  # type: ignore[method-assign]

    async def join() -> ModelReply:
        await world.give(jobs[1])
        return a_reply(LARGE)

    world.provider.script = [join]
    await world.give(jobs[0])
    assert world.of(jobs[1]).state is JobState.CANCELLED
    await erase(world, jobs[0])
    await erase(world, jobs[1])

    assert content(world) == set()


async def test_a_start_that_is_refused_leaves_no_object() -> None:
    """Somebody else was quicker, or there is no room: the input stored for that flight is taken back."""
    world = OpenWorld()
    job = await world.ask(1, note=CANARY * 1_000)
    world.store.open_flights[TENANT] = 100
    await world.give(job)

    assert world.flights == []
    assert world.blob.owners <= {job}
