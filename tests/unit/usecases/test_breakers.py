"""The circuit breaker in a run: nothing is sent while it is open, no attempt is burnt, and it half-opens gently."""

from __future__ import annotations

import asyncio
from dataclasses import replace
from datetime import timedelta

import pytest

from onceward.adapters.memory.store import MemoryStore
from onceward.domain.breaking import Breaker, BreakerRule, Sign
from onceward.domain.deliveries import PutBack
from onceward.domain.states import JobState, WaitingFor
from onceward.errors import CallFailure, StopRun, StoreUnavailable
from onceward.usecases.breakers import Breakers, Turn
from onceward.usecases.context import Context
from onceward.usecases.deps import Deps
from onceward.usecases.ports import ModelReply, Store
from tests.support.builders import NOW, a_policy, seconds
from tests.support.fakes import FakeClock, FakeIds, a_reply
from tests.support.worker_world import Ask, Said, WorkerWorld

pytestmark = pytest.mark.anyio

NAME = "fake:fake-1"
RULE = BreakerRule()
DOWN = CallFailure("", code="http_503", error_class="transient", was_sent=True)
BUSY = CallFailure("", code="http_429", error_class="rate_limited", was_sent=True)


class BrokenWorld(WorkerWorld):
    """A worker whose stage has circuit breakers, as one process knows them."""

    breakers: Breakers | None = None

    def deps(self, store: Store | None = None) -> Deps:
        """The ports, with this process's breakers."""
        deps = super().deps(store)
        if self.breakers is None:
            self.breakers = Breakers(deps.store, deps.clock, deps.ids, RULE)
        return replace(deps, breakers=self.breakers)

    @property
    def breaker(self) -> Breaker:
        """The shared state."""
        return self.store.breakers[NAME]

    def open_it(self) -> None:
        """Somebody else's failures have opened it."""
        self.store.breakers[NAME] = Breaker(
            name=NAME, token="theirs", opened_at=self.clock.now(), openings=1, probe_at=self.clock.now() + RULE.pause
        )


def turns(world: BrokenWorld) -> list[Turn]:
    """What this process has to tell."""
    assert world.breakers is not None
    return [one.turn for one in world.breakers.drain()]


@pytest.mark.failure_mode("F83")
async def test_open_breaker_sends_nothing_and_gives_the_attempt_back() -> None:
    """Nothing is journaled either; the job is queued as before and comes back with jitter."""
    world = BrokenWorld()
    await world.create(reserved_micro_usd=5_000)
    world.open_it()
    report = await world.deliver()

    assert (world.row.state, world.row.attempts, world.row.attempt, world.row.open) == (JobState.QUEUED, 0, None, ())
    assert (world.provider.keys, report.stopped_by) == ([], "stop_breaker_open")
    assert report.disposition == PutBack(seconds(30) * 1.5)
    assert turns(world) == [Turn.STOPPED]


async def test_brown_out_opens_it_and_ends_well_without_burning_an_attempt() -> None:
    """Five jobs' failures in a row open it; a sixth job waits for hours of it, and its first attempt succeeds."""
    world = BrokenWorld(policy=a_policy())
    for number in range(RULE.failures):
        world.store.rows.clear()
        world.store.items.clear()
        world.store.tokens.clear()
        world.provider.script = [DOWN]
        await world.create()
        await world.deliver()
        assert world.breaker.is_open == (number == RULE.failures - 1)
    world.store.rows.clear()
    world.store.items.clear()
    world.store.tokens.clear()
    await world.create()
    sent = len(world.provider.keys)
    for _ in range(20):
        world.clock.move(seconds(1))
        await world.deliver()

    assert (len(world.provider.keys), world.row.attempts) == (sent, 0)
    world.clock.move(RULE.pause)
    await world.deliver()
    assert (world.row.state, world.row.attempts) == (JobState.SUCCEEDED, 1)
    assert world.breaker.successes == 1
    told = turns(world)
    assert (told[0], told[-1], told.count(Turn.STOPPED)) == (Turn.OPENED, Turn.PROBED, 20)


async def test_failed_probe_burns_its_own_attempt_only() -> None:
    """It was sent; everybody else goes on waiting, longer than before."""
    world = BrokenWorld()
    await world.create()
    world.open_it()
    world.clock.move(RULE.pause)
    world.provider.script = [DOWN]
    await world.deliver()

    assert (world.row.attempts, world.row.waiting_for) == (1, WaitingFor.RETRY)
    assert world.breaker.probe_at == world.clock.now() + 2 * RULE.pause
    world.clock.move(timedelta(seconds=20))
    await world.deliver()
    assert (world.row.attempts, world.row.state, world.row.waiting_for) == (1, JobState.WAITING, WaitingFor.RETRY)


async def test_rate_limits_do_not_open_it() -> None:
    """429 is an answer with a wish of its own."""
    world = BrokenWorld()
    world.provider.script = [BUSY] * 3
    await world.create()
    for _ in range(3):
        await world.deliver()
        world.clock.move(timedelta(minutes=1))

    assert NAME not in world.store.breakers


async def two_steps(context: Context, given: Ask) -> Said:
    """A kind of two calls."""
    await context.model.generate("a", [("user", "a")])
    return Said.model_validate_json((await context.model.generate("b", [("user", "b")])).text)


async def test_attempt_that_has_paid_goes_on_as_itself() -> None:
    """It opens between two steps of the last attempt: the first answer counts, the second waits, no step twice."""
    world = BrokenWorld(two_steps)
    await world.create(attempts=2)

    async def answer_and_break() -> ModelReply:
        world.open_it()
        world.clock.move(seconds(6))
        return a_reply()

    world.provider.script = [answer_and_break]
    await world.deliver()

    assert (world.row.state, world.row.waiting_for, world.row.attempts) == (JobState.WAITING, WaitingFor.PROVIDER, 3)
    assert list(world.row.accepted) == ["a/1"]
    world.clock.move(timedelta(minutes=2))
    await world.deliver()
    assert (world.row.state, world.row.attempts, len(world.provider.keys)) == (JobState.SUCCEEDED, 3, 2)


async def test_taken_over_job_begins_no_attempt_while_open() -> None:
    """A lost run's job waits; its next attempt starts when there is something that it may do."""
    world = BrokenWorld()
    await world.create()
    await world.lose_a_run()
    world.open_it()
    await world.deliver()

    assert (world.row.state, world.row.waiting_for, world.row.attempts) == (JobState.WAITING, WaitingFor.LOOKUP, 1)


async def test_one_of_many_workers_takes_the_probe() -> None:
    """All are awake at the same instant; the store decides, and the others learn it from the refusal."""
    store, clock = MemoryStore(), FakeClock()
    store.breakers[NAME] = Breaker(name=NAME, token="t", opened_at=NOW, openings=1, probe_at=NOW)
    workers = [Breakers(store, clock, FakeIds(1_000 * number), RULE) for number in range(8)]
    ends = await asyncio.gather(*(worker.admit(NAME) for worker in workers), return_exceptions=True)

    assert [isinstance(end, StopRun) for end in ends].count(False) == 1


async def test_failures_of_all_workers_count_in_one_row() -> None:
    """Each process counts on what the others wrote; a lost race is decided anew, so no failure is lost."""
    store, clock = MemoryStore(), FakeClock()
    workers = [Breakers(store, clock, FakeIds(1_000 * number), RULE) for number in range(RULE.failures)]
    for worker in workers:
        await worker.may_try(NAME)
    for worker in workers:
        await worker.heard(NAME, Sign.ILL, clock.now())

    assert store.breakers[NAME].is_open
    assert [len(worker.drain()) for worker in workers] == [0, 0, 0, 0, 1]


async def test_own_write_that_was_repeated_is_known_by_its_token() -> None:
    """The SDK's repeat is refused by our own effect: the probe is ours, and it is counted once."""

    class Repeating(MemoryStore):
        """Applies each write and answers as to its repeat."""

        async def put_breaker(self, breaker: Breaker, seen: str | None) -> bool:
            await super().put_breaker(breaker, seen)
            return await super().put_breaker(breaker, seen)

    store, clock = Repeating(), FakeClock()
    store.breakers[NAME] = Breaker(name=NAME, token="t", opened_at=NOW, openings=1, probe_at=NOW)
    breakers = Breakers(store, clock, FakeIds(), RULE)
    await breakers.admit(NAME)

    assert [one.turn for one in breakers.drain()] == [Turn.PROBED]


async def test_breaker_that_cannot_be_read_sends_nothing_and_one_that_cannot_be_told_loses_nothing() -> None:
    """Before the journal: an infrastructure error, the attempt is given back. After the answer: the answer counts."""

    class Deaf(MemoryStore):
        """Can be read, or not, and never written."""

        is_down = True

        async def get_breaker(self, name: str) -> Breaker | None:
            if self.is_down:
                raise StoreUnavailable("planned")
            return Breaker(name=name, token="t", streak=1, failed_at=NOW)

        async def put_breaker(self, breaker: Breaker, seen: str | None) -> bool:
            raise StoreUnavailable("planned")

    world = BrokenWorld()
    deaf = world.store = Deaf()
    await world.create()
    report = await world.deliver()

    assert (world.row.state, world.row.attempts, world.provider.keys) == (JobState.QUEUED, 0, [])
    assert report.stopped_by == "store_unavailable"
    deaf.is_down = False
    await world.deliver()
    assert world.row.state is JobState.SUCCEEDED
