"""The loop and the processes on it: virtual time, the draw, deadlock, freezing and dying."""

from __future__ import annotations

import asyncio

import pytest

from tests.simulation.faults import Counter, Fault, Plan
from tests.simulation.process import Crossing, Died, Process, TaskLeft
from tests.simulation.scheduler import Deadlock, Runaway, VirtualLoop, simulate


def test_hours_pass_without_time() -> None:
    """A sleep moves the virtual clock and nothing else."""

    async def main(loop: VirtualLoop) -> float:
        await asyncio.sleep(36_000)
        return loop.time()

    assert simulate(main) == 36_000


def test_a_seed_is_an_interleaving() -> None:
    """The same seed runs alike, other seeds run otherwise, and no seed is first come, first served."""

    async def main(loop: VirtualLoop) -> str:
        seen: list[str] = []

        async def work(name: str) -> None:
            for _ in range(3):
                await asyncio.sleep(0)
                seen.append(name)

        async with asyncio.TaskGroup() as group:
            for name in "abc":
                group.create_task(work(name))
        return "".join(seen)

    orders = {seed: simulate(main, seed) for seed in range(1, 20)}

    assert simulate(main) == "abcabcabc"
    assert orders == {seed: simulate(main, seed) for seed in range(1, 20)}
    assert len(set(orders.values())) > 10


def test_a_deadlock_is_told_with_the_tasks_in_it() -> None:
    """Nothing ready and no timer: the scenario fails at once and names who waits."""

    async def main(loop: VirtualLoop) -> None:
        await asyncio.Event().wait()

    with pytest.raises(Deadlock, match=r"task-1 in .*main"):
        simulate(main)


def test_a_scenario_that_spins_is_stopped() -> None:
    """A loop without an end is no hang of the test run."""

    async def main(loop: VirtualLoop) -> None:
        await asyncio.gather(*(spin(loop) for _ in range(2)))

    async def spin(loop: VirtualLoop) -> None:
        while not loop.is_closed():  # noqa: ASYNC110  # spinning is the point
            await asyncio.sleep(0)

    with pytest.raises(Runaway, match="steps"):
        simulate(main)


def test_a_task_left_behind_fails_the_scenario() -> None:
    """A scenario ends with everything that it started."""

    async def main(loop: VirtualLoop) -> None:
        loop.create_task(asyncio.sleep(1), name="forgotten")

    with pytest.raises(AssertionError, match=r"outlive.*forgotten"):
        simulate(main)


def test_a_failure_that_nobody_looked_at_fails_the_scenario() -> None:
    """Asyncio would only log it."""

    async def fail() -> None:
        raise ValueError("unseen")

    async def main(loop: VirtualLoop) -> None:
        loop.create_task(fail())
        await asyncio.sleep(1)

    with pytest.raises(AssertionError, match="unseen"):
        simulate(main)


def test_real_threads_are_refused() -> None:
    """A thread would bring real time in."""

    async def main(loop: VirtualLoop) -> None:
        await asyncio.to_thread(print)

    with pytest.raises(AssertionError, match="no threads"):
        simulate(main)


def test_a_frozen_process_runs_nothing_until_it_thaws() -> None:
    """Not even its timers; what came due meanwhile is ready at the thaw, and others went on."""

    async def main(loop: VirtualLoop) -> list[tuple[str, float]]:
        seen: list[tuple[str, float]] = []

        async def tick(name: str) -> None:
            for _ in range(3):
                await asyncio.sleep(10)
                seen.append((name, loop.time()))

        frozen = Process(loop, "frozen", Counter(Plan()))
        other = loop.create_task(tick("other"))
        running = loop.create_task(frozen.run(tick("frozen")))
        await asyncio.sleep(12)
        frozen.freeze(100, frozen.main)
        await asyncio.gather(running, other)
        return [at for at in seen if at[0] == "frozen"] + seen[-1:]

    assert simulate(main) == [("frozen", 10), ("frozen", 112), ("frozen", 122), ("frozen", 122)]


@pytest.mark.parametrize(("fault", "effects"), [(Fault.CRASH_BEFORE, []), (Fault.CRASH_AFTER, ["write"])])
def test_a_dead_process_has_no_more_effect(fault: Fault, effects: list[str]) -> None:
    """Neither its cleanup, nor its other tasks, nor code that swallows everything reaches a port."""

    async def main(loop: VirtualLoop) -> tuple[object, list[str]]:
        done: list[str] = []
        process = Process(loop, "worker#1", Counter(Plan(((0, fault),))))

        async def port(name: str) -> None:
            async def effect() -> None:
                done.append(name)

            await process.cross(Crossing(name, effect, lambda _: None, 0.0))

        async def beside() -> None:
            await asyncio.sleep(5)
            await port("beside")

        async def work() -> str:
            task = asyncio.ensure_future(beside())
            try:
                await port("write")
            finally:
                await port("cleanup")
            await task
            return "alive"

        return await process.run(work()), done

    assert simulate(main) == (Died(), effects)


def test_an_invocation_that_leaves_a_task_is_caught() -> None:
    """Nothing of an invocation survives its return (invariant 17)."""

    async def main(loop: VirtualLoop) -> None:
        async def work() -> None:
            process.start(process.beat, asyncio.sleep(60))

        process = Process(loop, "worker#1", Counter(Plan()))
        await process.run(work())

    with pytest.raises(TaskLeft, match=r"worker#1.beat"):
        simulate(main)


def test_an_sdk_retry_applies_twice_and_returns_the_second_answer() -> None:
    """So a conditional write sees its own effect as a refusal."""

    async def main(loop: VirtualLoop) -> int:
        calls: list[int] = []
        process = Process(loop, "worker#1", Counter(Plan(((0, Fault.SDK_RETRY),))))

        async def effect() -> int:
            calls.append(1)
            return len(calls)

        answer = await process.run(process.cross(Crossing("store.write", effect, lambda _: 0, 0.0)))
        assert isinstance(answer, int)
        return answer

    assert simulate(main) == 2
