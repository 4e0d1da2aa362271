"""The kill switch: read before a send, known for seconds, and no attempt is burnt by it."""

from __future__ import annotations

from datetime import timedelta
from typing import Any

import pytest

from onceward.adapters.memory.store import MemoryStore
from onceward.domain.deliveries import PutBack
from onceward.domain.states import JobState, WaitingFor
from onceward.domain.switching import KNOWN_FOR
from onceward.errors import StoreUnavailable
from onceward.usecases.context import Context
from onceward.usecases.switches import Switches
from tests.support.builders import a_policy, seconds
from tests.support.fakes import FakeClock
from tests.support.worker_world import Ask, Said, WorkerWorld

pytestmark = pytest.mark.anyio

OURS = "provider:fake"


class CountingStore(MemoryStore):
    """Counts how often the switches are read."""

    reads = 0
    is_down = False

    async def switched_off(self) -> frozenset[str]:
        """One more."""
        self.reads += 1
        if self.is_down:
            raise StoreUnavailable("planned")
        return await super().switched_off()


async def test_switches_are_read_again_only_after_some_seconds() -> None:
    """Many sends, one read; a switch is known to every process a few seconds after it was thrown."""
    store, clock = CountingStore(), FakeClock()
    switches = Switches(store, clock)
    for _ in range(3):
        await switches.refresh()
    await store.switch("all", is_on=False)
    await switches.refresh()

    assert (store.reads, switches.is_off("text.generate", "fake")) == (1, False)
    clock.move(KNOWN_FOR)
    await switches.refresh()
    assert (store.reads, switches.is_off("text.generate", "fake")) == (2, True)


async def test_nothing_is_known_after_a_freeze() -> None:
    """The monotonic clock may have stood still with the process: then the wall clock tells that time has passed."""
    store, clock = CountingStore(), FakeClock()
    switches = Switches(store, clock)
    await switches.refresh()
    clock.jump(timedelta(minutes=10))
    await switches.refresh()

    assert store.reads == 2


@pytest.mark.parametrize("switch", ["all", "kind:text.generate", OURS])
async def test_switched_off_run_gives_its_attempt_back(switch: str) -> None:
    """Nothing is sent or journaled, the job is queued as before, and its message comes back later."""
    world = WorkerWorld()
    await world.create(reserved_micro_usd=5_000)
    await world.store.switch(switch, is_on=False)
    report = await world.deliver()

    assert (world.row.state, world.row.attempts, world.row.attempt, world.row.open) == (JobState.QUEUED, 0, None, ())
    assert (world.provider.keys, report.disposition) == ([], PutBack(seconds(30)))
    assert report.stopped_by == "stop_switched_off"
    assert world.row.due is not None
    await world.store.switch(switch, is_on=True)
    world.clock.move(seconds(30))
    await world.deliver()
    assert (world.row.state, world.row.attempts, world.account.captured) == (JobState.SUCCEEDED, 1, 5_000)


@pytest.mark.parametrize("switch", ["kind:document.analyze", "provider:other"])
async def test_another_s_switch_stops_nothing(switch: str) -> None:
    """A switch is for what it names."""
    world = WorkerWorld()
    await world.create()
    await world.store.switch(switch, is_on=False)
    await world.deliver()

    assert world.row.state is JobState.SUCCEEDED


async def test_hours_of_off_burn_no_attempt() -> None:
    """However often it is delivered meanwhile, the first attempt is still the first."""
    world = WorkerWorld(policy=a_policy())
    await world.create()
    await world.store.switch("all", is_on=False)
    for _ in range(30):
        await world.deliver()
        world.clock.move(timedelta(minutes=5))
    await world.store.switch("all", is_on=True)
    await world.deliver()

    assert (world.row.state, world.row.attempts) == (JobState.SUCCEEDED, 1)
    assert world.queue.dead_letters == ()


def switching_off(world_of: list[WorkerWorld]) -> Any:
    """A kind of two steps, between which everything is switched off and six seconds pass."""

    async def run(context: Context, given: Ask) -> Said:
        await context.model.generate("a", [("user", "a")])
        if world_of:
            world = world_of.pop()
            await world.store.switch("all", is_on=False)
            world.clock.move(seconds(6))
        return Said.model_validate_json((await context.model.generate("b", [("user", "b")])).text)

    return run


async def test_attempt_that_has_paid_goes_on_as_itself() -> None:
    """The first step's answer counts, the second waits in the same attempt, also in the last one; no step twice."""
    worlds: list[WorkerWorld] = []
    world = WorkerWorld(switching_off(worlds))
    worlds.append(world)
    await world.create(attempts=2)
    report = await world.deliver()

    assert (world.row.state, world.row.waiting_for, world.row.attempts) == (JobState.WAITING, WaitingFor.PROVIDER, 3)
    assert (list(world.row.accepted), report.disposition) == (["a/1"], PutBack(seconds(33)))
    for _ in range(5):
        world.clock.move(timedelta(minutes=10))
        await world.deliver()
    await world.store.switch("all", is_on=True)
    world.clock.move(timedelta(minutes=10))
    await world.deliver()

    assert (world.row.state, world.row.attempts, len(world.provider.keys)) == (JobState.SUCCEEDED, 3, 2)


async def test_taken_over_job_begins_no_attempt_while_off() -> None:
    """A lost run's job waits; its next attempt starts when there is something that it may do."""
    world = WorkerWorld()
    await world.create()
    await world.lose_a_run()
    await world.store.switch("all", is_on=False)
    await world.deliver()

    assert (world.row.state, world.row.waiting_for, world.row.attempts) == (JobState.WAITING, WaitingFor.LOOKUP, 1)
    await world.store.switch("all", is_on=True)
    world.clock.move(timedelta(minutes=1))
    await world.deliver()
    assert (world.row.state, world.row.attempts, len(world.provider.keys)) == (JobState.SUCCEEDED, 2, 1)


async def test_switch_that_cannot_be_read_sends_nothing() -> None:
    """Who cannot know does not send: an infrastructure error before the journal; the attempt is given back."""
    world = WorkerWorld()
    world.store = CountingStore()
    world.store.is_down = True
    await world.create()
    report = await world.deliver()

    assert (world.row.state, world.row.attempts, world.provider.keys) == (JobState.QUEUED, 0, [])
    assert (report.stopped_by, world.row.open) == ("store_unavailable", ())


async def test_deadline_ends_a_job_that_was_off_too_long() -> None:
    """A switch stops sends, not time: the closing run ends the job without one."""
    world = WorkerWorld()
    await world.create()
    await world.store.switch("all", is_on=False)
    await world.deliver()
    world.clock.move(timedelta(days=2))
    await world.deliver()

    assert (world.row.state, world.row.error_code) == (JobState.FAILED, "deadline_exceeded")
    assert world.provider.keys == []
