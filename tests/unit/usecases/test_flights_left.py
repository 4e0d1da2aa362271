"""The last participant leaves: what of its flight is still done, by the kind's own word, and who joins too late."""

from __future__ import annotations

from typing import Any

import pytest

from onceward.domain.coalescing import CoalesceBy, OnEmpty
from onceward.domain.money import Cost
from onceward.domain.names import JobId
from onceward.domain.records import Result
from onceward.domain.states import JobState, WaitingFor
from onceward.domain.transaction import PutCold
from onceward.usecases.context import Context
from onceward.usecases.ports import ModelReply
from tests.support.builders import TENANT
from tests.support.fakes import a_reply
from tests.support.flight_world import FlightWorld
from tests.support.hooked_store import HookedStore
from tests.support.worker_world import Ask, Said, ask_all

pytestmark = pytest.mark.anyio


def kind_of(on_empty: OnEmpty) -> CoalesceBy:
    """A kind's own word."""
    return CoalesceBy(instructions="", on_empty=on_empty)


async def leave_before_the_call(on_empty: OnEmpty) -> FlightWorld:
    """The only participant is cancelled while the kind's code prepares its call."""
    world: FlightWorld

    async def prepare(context: Context, given: Ask) -> Said:
        await world.cancel(job)
        return await ask_all(context, given)

    world = FlightWorld(prepare, by=kind_of(on_empty))
    job = await world.ask(1)
    await world.give(job)
    assert world.of(job).state is JobState.CANCELLED
    return world


async def test_nothing_is_sent_for_nobody() -> None:
    """By default the first send is journaled only while somebody waits: the flight ends cancelled, unpaid."""
    world = await leave_before_the_call(OnEmpty.CANCEL_UNSENT)

    [flight] = world.flights
    assert (flight.state, flight.participants, world.calls) == (JobState.CANCELLED, 0, 0)
    assert flight.due is None
    assert world.store.open_flights == {TENANT: 0}


async def test_a_step_of_the_kind_s_own_is_nothing_sent() -> None:
    """Its result is accepted in the flight's row, yet nothing was bought: nobody waits, and nothing is sent."""
    world: FlightWorld

    async def prepare(context: Context, given: Ask) -> Said:
        await context.step("prepare", lambda: "made")
        await world.cancel(job)
        return await ask_all(context, given)

    world = FlightWorld(prepare, by=kind_of(OnEmpty.CANCEL_UNSENT))
    job = await world.ask(1)
    await world.give(job)

    [flight] = world.flights
    assert (flight.state, world.calls, list(flight.accepted)) == (JobState.CANCELLED, 0, ["prepare/1"])


async def test_a_kind_may_have_its_work_finished_all_the_same() -> None:
    """``FINISH``: the call is made and accepted, for nobody."""
    world = await leave_before_the_call(OnEmpty.FINISH)

    assert (world.flights[0].state, world.calls) == (JobState.SUCCEEDED, 1)


@pytest.mark.parametrize(
    ("on_empty", "state"),
    [
        (OnEmpty.CANCEL_UNSENT, JobState.SUCCEEDED),
        (OnEmpty.FINISH, JobState.SUCCEEDED),
        (OnEmpty.CANCEL, JobState.CANCELLED),
    ],
)
async def test_a_call_under_way_is_finished_or_dropped(on_empty: OnEmpty, state: JobState) -> None:
    """What is paid for is finished, unless the kind says that it is dropped; then its bounds stay in the books."""
    world = FlightWorld(by=kind_of(on_empty))
    job = await world.ask(1)

    async def leave() -> ModelReply:
        await world.cancel(job)
        for beating in world.spawn.running:
            await beating.beat()
        return a_reply()

    world.provider.script = [leave]
    await world.give(job)
    [flight] = world.flights

    assert (flight.state, world.calls) == (state, 1)
    assert world.of(job).state is JobState.CANCELLED
    assert flight.spent.high > 0
    assert flight.open == ()


async def test_a_queued_flight_that_nobody_waits_for_runs_no_code() -> None:
    """Its participant has left before any worker came: it ends at its first claim."""
    world = FlightWorld()
    job = await world.ask(1)
    await world.give(job)
    [flight] = world.flights
    unsent: dict[str, Any] = {"result": None, "attempts": 0, "accepted": {}, "spent": Cost.nothing()}
    world.put(flight, state=JobState.QUEUED, participants=0, due=world.clock.now(), **unsent)
    world.store.open_flights[TENANT] = 1
    await world.give(flight.job_id)

    assert (world.flights[0].state, world.calls) == (JobState.CANCELLED, 1)


async def test_whoever_joins_a_flight_that_is_just_given_up_goes_on_in_the_same_attempt() -> None:
    """Never neither: a cancelled flight has no outcome, so its late participant starts the next one at once."""
    world = FlightWorld()
    first, late = await world.ask(1), await world.ask(2)
    await world.give(first)
    [flight] = world.flights
    row = world.of(late)
    world.put(flight, state=JobState.CANCELLED, result=None)
    world.put(
        row,
        state=JobState.WAITING,
        waiting_for=WaitingFor.FLIGHT,
        flight=flight.job_id,
        wake_at=world.clock.now(),
        attempts=1,
        attempt=world.of(first).attempt,
    )
    await world.give(late)

    assert (world.of(late).state, world.of(late).attempts) == (JobState.SUCCEEDED, 1)
    assert world.of(late).flight == world.flights[1].job_id


async def test_nothing_is_copied_for_who_has_left() -> None:
    """It ended at its own deadline while the flight went on: no transaction is tried for it, only for who waits."""
    asked: list[JobId] = []

    async def counted(method: Any, ops: Any, token: str) -> Any:
        asked.extend(op.item.job_id for op in ops if isinstance(op, PutCold) and isinstance(op.item, Result))
        return await method(ops, token)

    async def leave() -> ModelReply:
        await world.give(left)
        world.put(world.of(left), state=JobState.FAILED, waiting_for=None, finished_at=world.clock.now())
        return a_reply()

    world = FlightWorld()
    first, left = await world.ask(1), await world.ask(2)
    world.provider.script = [leave]
    await world.give(first, store=HookedStore(world.store, transact=counted))

    assert (asked, world.of(first).state, world.of(left).state) == ([first], JobState.SUCCEEDED, JobState.FAILED)
