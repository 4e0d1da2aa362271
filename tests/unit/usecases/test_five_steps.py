"""A kind with five steps of every sort, whose process dies at each of its writes: what counts is not done again."""

from __future__ import annotations

import asyncio
from collections import Counter
from functools import partial
from typing import Any

import pytest

from onceward.domain.policy import OnUnknown, RetryPolicy
from onceward.domain.states import JobState
from onceward.errors import StoreUnavailable
from onceward.usecases.context import Context
from tests.support.actions import FakeTarget
from tests.support.builders import a_policy, seconds
from tests.support.worker_world import Ask, Said, WorkerWorld

pytestmark = pytest.mark.anyio

WRITES = ("put_cold", "update_job", "transact")
MOST = 12  # writes of a run without a fault: claim, two for each own step, the calls' journals and answers, settle
STEPS = {"pick", "left", "book", "merge", "last"}


class Mortal:
    """A process's store: after its ``last`` write, applied or not, nothing that the process does has any effect."""

    def __init__(self, store: Any, last: int, *, is_applied: bool) -> None:
        """Alive, with so many writes to go."""
        self._store, self._left, self._is_applied = store, last, is_applied
        self.is_dead = False

    def __getattr__(self, name: str) -> Any:
        """The store's own method, as long as the process lives."""
        return partial(self._call, getattr(self._store, name), name in WRITES)

    async def _call(self, real: Any, is_write: bool, *arguments: Any, **named: Any) -> Any:
        if self.is_dead:
            raise StoreUnavailable("a dead process")
        self._left -= is_write
        if self._left > 0 or not is_write:
            return await real(*arguments, **named)
        self.is_dead = True
        if self._is_applied:
            await real(*arguments, **named)
        raise StoreUnavailable("it dies here")


class Mixed:
    """The kind, and how often its own code ran."""

    def __init__(self) -> None:
        """Not yet."""
        self.made: Counter[str] = Counter()

    async def run(self, context: Context, given: Ask) -> Said:
        """A step of its own, a model and a target at once, a step over both, a model over that."""

        def make(step: str) -> str:
            self.made[step] += 1
            return f"{step}-{self.made[step]}"

        async def merge() -> str:
            await asyncio.sleep(0)
            return make("merge")

        picked = await context.step("pick", lambda: make("pick"))
        left, booked = await asyncio.gather(
            context.model.generate("left", [("user", str(picked))]),
            context.http.request("book", "desk", {"source_ticket": str(picked)}),
        )
        merged = await context.step("merge", merge, given=[left.text, booked.status])
        last = await context.model.generate("last", [("user", str(merged))])
        return Said.model_validate_json(last.text)


async def a_world() -> tuple[WorkerWorld, Mixed, FakeTarget]:
    """A job of it, whose unknown outcomes may be paid for twice."""
    kind, desk = Mixed(), FakeTarget("nothing", "desk")
    policy = a_policy(retry=RetryPolicy(max_attempts=5, on_unknown=OnUnknown.RETRY))
    world = WorkerWorld(kind.run, policy=policy)
    world.http = {"desk": desk}
    await world.create()
    return world, kind, desk


def done(world: WorkerWorld, kind: Mixed, desk: FakeTarget) -> Counter[str]:
    """How often each step was sent, or ran."""
    asked = Counter({step: sum(f"-{step}_" in key for key in world.provider.keys) for step in ("left", "last")})
    return asked + kind.made + Counter(book=desk.requests)


async def test_without_a_fault_each_step_is_done_once_in_one_attempt() -> None:
    """And its run has as many writes as are tried below."""
    world, kind, desk = await a_world()
    store = Mortal(world.store, 1_000, is_applied=True)
    await world.deliver(store=store)

    assert (world.row.state, world.row.attempts) == (JobState.SUCCEEDED, 1)
    assert done(world, kind, desk) == Counter(dict.fromkeys(STEPS, 1))
    assert 1_000 - store._left == MOST


@pytest.mark.parametrize("is_applied", [False, True])
@pytest.mark.parametrize("last", range(1, MOST + 1))
async def test_nothing_that_counts_is_done_again_wherever_its_process_dies(last: int, is_applied: bool) -> None:
    """Before or after each write: accepted steps are neither bought nor run again, and the job comes to its end."""
    world, kind, desk = await a_world()
    await world.deliver(store=Mortal(world.store, last, is_applied=is_applied))
    counted = {step.partition("/")[0] for step in world.row.accepted}
    before = done(world, kind, desk)
    for _ in range(6):
        world.clock.move(seconds(90))
        await world.deliver()
    after = done(world, kind, desk)

    assert world.row.state is JobState.SUCCEEDED
    assert {step: after[step] for step in counted} == {step: before[step] for step in counted}
    assert all(after[step] <= 2 for step in STEPS)
    assert set(world.row.accepted) == {f"{step}/1" for step in STEPS}
