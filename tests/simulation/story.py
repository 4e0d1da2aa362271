"""Play a scenario: clients ask and ask again, workers and sweepers work, until all is quiet; then judge."""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable
from contextlib import suppress
from dataclasses import dataclass

from onceward.domain.names import JobId
from tests.simulation.asking import ask_once, ask_until_heard
from tests.simulation.bell import until_done
from tests.simulation.bug import NO_BUG, Bug
from tests.simulation.checks.promised import CANARY, EPOCH
from tests.simulation.entrances import swept
from tests.simulation.faults import NOTHING, Boundary, Counter, Fault, Plan
from tests.simulation.invariants import Checker
from tests.simulation.resolving import resolve
from tests.simulation.scenario import CLIENT_RETRY, LIVENESS_SECONDS, MOST_TRIES, OLD_CODE_SECONDS, Scenario
from tests.simulation.scheduler import VirtualLoop, simulate
from tests.simulation.tables import SimStore
from tests.simulation.turns import Turns
from tests.simulation.world import Accepted, World

RATE_LIMITED = 429
NEXT_MINUTE = 60.0  # seconds: no Retry-After of a rate limit is longer
MOST_WAKES = 5  # more rounds of late messages than a plan of six faults can make
LEFTOVERS_SECONDS = 3 * 3600.0  # a message that nobody acknowledged comes back by the queue's own visibility (42 min)


@dataclass(frozen=True, slots=True)
class Run:
    """What a run came to: what it crossed, which faults struck, what was violated, how many checks were made.

    ``ends``: state and attempts of each job, the oldest first; ``stands_for``: what would have come to the same in the
    place of its last fault.
    """

    trace: tuple[Boundary, ...]
    struck: tuple[tuple[Boundary, Fault], ...]
    violations: tuple[str, ...]
    checks: int
    ended_at: float
    ends: tuple[tuple[str, int], ...] = ()
    stands_for: Fault | None = None


def play(
    scenario: Scenario,
    plan: Plan | None = None,
    seed: int = 0,
    bug: Bug = NO_BUG,
    turns: Turns | None = None,
    tables: Callable[[VirtualLoop], SimStore] = SimStore,
    deployment: type[World] = World,
) -> Run:
    """One run, the same for the same arguments; one that breaks the harness's own rules has failed too.

    ``tables``: those of the ``deployment``.
    """

    async def main(loop: VirtualLoop) -> Run:
        loop.turns = turns
        counter = Counter(plan or Plan())
        world = deployment(loop=loop, scenario=scenario, seed=seed, counter=counter, bug=bug, tables=tables)
        checker = Checker(world)
        await _live(world, checker)
        checker.at_the_end()
        return Run(
            trace=tuple(counter.trace),
            struck=tuple(counter.struck),
            violations=tuple(checker.violations),
            checks=checker.checks,
            ended_at=loop.time(),
            ends=tuple((str(row.state), row.attempts) for row in world.store.rows.values()),
            stands_for=counter.stands_for,
        )

    try:
        return simulate(main, seed or None)
    except AssertionError as error:  # a deadlock, no end, tasks left behind
        what = f"{type(error).__name__}: {error}"
        return Run(trace=(), struck=(), violations=(what,), checks=0, ended_at=0.0)


async def _live(world: World, checker: Checker) -> None:
    """From the first request until nothing moves any more; a late message may wake a review once more."""
    await world.open_account()
    polling = world.loop.create_task(world.events.poll())
    switching = world.loop.create_task(world.throw_switch())
    try:
        await _sweeping(world, _asked(world))
        await _come_to_rest(world, checker)
        for _ in range(world.scenario.redrives):
            world.queue.redrive(copies=world.scenario.copies)
            await _come_to_rest(world, checker)
        for verdicts in world.scenario.verdicts:
            await _sweeping(world, asyncio.gather(*(resolve(world, name, after) for name, after in verdicts)))
            await _come_to_rest(world, checker)
        if world.scenario.at_expiry is not None and await _have_expired(world):
            await _sweeping(world, world.scenario.at_expiry(world))
            await _come_to_rest(world, checker)
    except TimeoutError:
        checker.blame(1, "messages or processes are left long after the jobs have ended")
    finally:
        await _end(polling)
        await _end(switching)
        await asyncio.gather(*world.counter.late)
    world.counter.is_over = True
    if world.is_anything_due():
        process = world.process("sweep")
        await process.run(swept(world, process))


async def _asked(world: World) -> None:
    """All clients, and what happens beside them; nothing does if an outage has outlasted the tries of them all."""
    scenario = world.scenario
    asking = asyncio.gather(*(ask(world, key) for key in scenario.requests))
    beside = None if scenario.also is None else world.loop.create_task(scenario.also(world))
    await asking
    if beside is None:
        return
    await asyncio.gather(*world.counter.late)
    if scenario.requests and not world.store.rows:
        beside.cancel()
    with suppress(asyncio.CancelledError):
        await beside


async def _have_expired(world: World) -> bool:
    """Let the time pass for which rows are kept, if nothing is due any more: then no pass would find anything.

    From then on TTL may delete them, at any moment or never.
    """
    rows = list(world.store.rows.values())
    if not rows or any(row.due is not None for row in rows):
        return False
    expires = max(row.expires_at for row in rows)
    await asyncio.sleep((expires - EPOCH).total_seconds() - world.loop.time())
    world.counter.untimely = NOTHING
    return True


async def _come_to_rest(world: World, checker: Checker) -> None:
    """Until every job is final and no message is left; raises ``TimeoutError`` for messages that stay."""
    for _ in range(MOST_WAKES):
        await _sweeping(world, _until_final(world, checker))
        async with asyncio.timeout(LEFTOVERS_SECONDS):
            await world.until_idle()
        if checker.is_all_final():
            break


async def _sweeping(world: World, until: Awaitable[object]) -> None:
    """Wait, with the sweeper on its schedule."""
    schedule = world.loop.create_task(world.sweep_on_schedule())
    try:
        await until
    finally:
        await _end(schedule)


async def ask(world: World, request: str) -> None:
    """One client: ``key`` or ``key/text``; it repeats a request with the same key until it hears an answer."""
    key, _, text = request.partition("/")
    deed = world.scenario.door.create(world, key, text or CANARY)
    for _ in range(MOST_TRIES):
        heard = await ask_once(world, deed)
        world.answers.append((request, str(heard.status)))
        if heard.job_id is not None:
            world.accepted.append(Accepted(key, heard.job_id, world.loop.time()))
            cancel_at = world.scenario.cancel_at
            if cancel_at is not None and key in (world.scenario.cancelling or (key,)):
                await cancel(world, heard.job_id, cancel_at)
        is_limited = heard.status == RATE_LIMITED
        if heard.is_final and not is_limited:
            return
        await asyncio.sleep(NEXT_MINUTE if is_limited else CLIENT_RETRY)


async def cancel(world: World, job_id: JobId, after: float) -> None:
    """The client cancels its job, and asks again until it hears an answer."""
    await asyncio.sleep(after)
    await ask_until_heard(world, world.scenario.door.cancel(world, job_id))


async def _until_final(world: World, checker: Checker) -> None:
    """Until every job that was stored has ended, or the bound on that has passed since the last fault was over."""
    began = world.loop.time()
    while not checker.is_all_final():
        quiet_since = max((boundary.at for boundary, _ in world.counter.struck), default=0.0) + OLD_CODE_SECONDS
        left = max(quiet_since, checker.last_created_at, began) + LIVENESS_SECONDS - world.loop.time()
        left += world.scenario.patience
        if left <= 0:
            checker.blame(1, "a job has not ended within the stated bound")
            return
        world.ended.clear()
        await world.ended.wait(min(left, 30.0))


async def _end(task: asyncio.Task[None]) -> None:
    """Cancel one of the world's own tasks and wait for it."""
    task.cancel()
    await until_done(task)
