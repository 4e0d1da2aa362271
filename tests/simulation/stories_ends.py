"""The stories of how a job ends although the code around it changes, dies, or is gone.

A deploy is a fault of the alphabet; here it belongs to the story: it comes when the row has got to where it matters.
"""

from __future__ import annotations

import asyncio
from collections.abc import Callable
from contextlib import suppress
from dataclasses import replace
from datetime import timedelta
from typing import TYPE_CHECKING, Any
from weakref import WeakKeyDictionary

from onceward.domain.timing import Timing
from onceward.usecases.context import Context
from onceward.usecases.registry import Registry
from tests.simulation.checks.promised import ORPHANED
from tests.simulation.faults import Fault
from tests.simulation.kinds import ONE_CALL, VERSION, Given, Made
from tests.simulation.lanes import LANE
from tests.simulation.model import Script
from tests.simulation.scenario import LIVENESS_SECONDS, Scenario

if TYPE_CHECKING:
    from tests.simulation.invariants import Checker
    from tests.simulation.world import World

FEWER, DEADLY, COMING, GONE = "sim.fewer", "sim.deadly", "sim.coming", "sim.gone"
TERMINAL = frozenset({"succeeded", "failed", "cancelled"})
REVIEWED = timedelta(minutes=5)  # the limit of a review: a look or two, then the end
MINUTES_LEFT = timedelta(minutes=2)  # until any code may end the job that none knows
_worlds: WeakKeyDictionary[asyncio.AbstractEventLoop, World] = WeakKeyDictionary()


async def one(context: Context, given: Given) -> Made:
    """A kind of one call."""
    return Made(answers=[(await context.model.generate("ask", [("user", given.text)])).text])


async def deadly(context: Context, given: Given) -> Made:
    """A kind that kills its process over the answer, each time that it reads it."""
    await context.model.generate("ask", [("user", given.text)])
    lane = LANE.get()
    assert lane is not None
    _worlds[asyncio.get_running_loop()].processes[lane.name.partition(".")[0]].crash()
    await asyncio.Event().wait()  # a dead process goes no further
    raise AssertionError("a killed process went on")


def _register(registry: Registry, name: str, run: Any = one, **rules: Any) -> None:
    """A kind like the one-call kind, of the version and price that this deploy has."""
    like = registry.find(ONE_CALL).policy
    policy = replace(like, name=name, **rules)
    registry.kind(policy=policy, input_model=Given, output_model=Made)(run)


def _version(registry: Registry) -> int:
    return registry.find(ONE_CALL).policy.version


def fewer_attempts(registry: Registry) -> None:
    """Newer code allows one attempt, where there were three."""
    retry = registry.find(ONE_CALL).policy.retry
    _register(registry, FEWER, retry=retry if _version(registry) <= VERSION else replace(retry, max_attempts=1))


def deadly_code(registry: Registry) -> None:
    """Code that does not survive its answer."""
    _register(registry, DEADLY, deadly)


def known_to_new_code(registry: Registry) -> None:
    """A kind that older code has never heard of."""
    if _version(registry) >= VERSION:
        _register(registry, COMING)


def removed_by_new_code(registry: Registry) -> None:
    """A kind that newer code does not have any more."""
    if _version(registry) <= VERSION:
        _register(registry, GONE)


async def newer_code_while_waiting(world: World) -> None:
    """A deploy, as soon as the first job waits for its next attempt."""

    def look(*_: object) -> None:
        if any(row.state == "waiting" and row.waiting_for == "retry" for row in world.store.rows.values()):
            world.deploy(Fault.NEWER_CODE)

    world.watch.append(look)


async def be_found(world: World) -> None:
    """Let the kind's code find the process that it runs in."""
    _worlds[world.loop] = world


async def older_code_first(world: World) -> None:
    """The API is newer than the workers, for the minutes of a deploy."""
    world.deploy(Fault.OLDER_CODE)


async def newer_code_an_hour_later(world: World) -> None:
    """The kind is gone, and all but the last minutes of the hour that its job has to wait for its code are over.

    The row is born so old, or each fault would be tried at each of the many deliveries of that hour.
    """
    world.deploy(Fault.NEWER_CODE)

    def age(*_: object) -> None:
        for place, row in world.store.rows.items():
            if row.seq == 1:
                world.store.rows[place] = replace(row, deadline_at=row.created_at - ORPHANED + MINUTES_LEFT)

    world.watch.insert(0, age)  # before the judge looks: to him a deadline never moves


async def until_over(world: World) -> None:
    """Wait past the review's limit, as nobody decides anything."""
    with suppress(TimeoutError):
        async with asyncio.timeout(REVIEWED.total_seconds() + 2 * LIVENESS_SECONDS):
            while not _is_over(world):
                world.ended.clear()
                await world.ended.wait()


def _is_over(world: World) -> bool:
    rows = world.store.rows.values()
    return bool(rows) and all(row.state in TERMINAL for row in rows)


def ends(*ways: tuple[str, str | None], attempts: int | None = None) -> Callable[[Checker], None]:
    """A judge: these are the ways to end; ``attempts``: what the first of them takes, and no other without a fault."""

    def judge(checker: Checker) -> None:
        is_calm = not checker.world.counter.struck
        for row in checker.world.store.rows.values():
            end = (str(row.state), row.error_code)
            expected = ways[:1] if is_calm else ways
            checker.expect(1, end in expected, f"ended as {end}, not as one of {expected}")
            is_counted = attempts is None or not is_calm or row.attempts == attempts
            checker.expect(4, is_counted, f"{row.attempts} attempts, not {attempts}")

    return judge


IN_REVIEW = ("needs_review", None)  # what is a maybe stays one
EXHAUSTED = ("failed", "attempts_exhausted")  # also of a provider that refuses everything for some seconds
STORIES = (
    Scenario(
        name="fewer-attempts",
        kind=FEWER,
        kinds=fewer_attempts,
        script=(Script.BUSY,),
        also=newer_code_while_waiting,
        judge=ends(EXHAUSTED, IN_REVIEW, ("succeeded", None), attempts=1),
    ),
    Scenario(
        name="review-expires",
        script=(Script.RESET,),
        timing=Timing(review_limit=REVIEWED),
        also=until_over,
        judge=ends(("failed", "review_expired"), EXHAUSTED, attempts=1),
    ),
    Scenario(
        name="deadly-code",
        kind=DEADLY,
        kinds=deadly_code,
        script=(Script.ANSWER,),
        also=be_found,
        patience=LIVENESS_SECONDS,
        judge=ends(IN_REVIEW, EXHAUSTED, attempts=3),
    ),
    Scenario(
        name="unknown-kind",
        kind=COMING,
        kinds=known_to_new_code,
        timing=Timing(infrastructure_backoff=timedelta(minutes=1)),  # fewer deliveries: each meets every fault
        also=older_code_first,
    ),
    Scenario(
        name="orphan",
        kind=GONE,
        kinds=removed_by_new_code,
        script=(Script.ANSWER,),
        also=newer_code_an_hour_later,
        judge=ends(("failed", "deadline_exceeded"), attempts=0),
    ),
)
