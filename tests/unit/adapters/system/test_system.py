"""Clock, randomness, threads and background work of the real machine."""

import asyncio
import re
import threading
import time
from datetime import UTC, datetime, timedelta

import pytest

from onceward.adapters.system import SystemClock, SystemIds, SystemSpawn, ThreadRunner
from onceward.usecases.ports import Clock, Ids, Signal, Spawn, Stopper

LONG = timedelta(seconds=60)  # never waited for: what is tested ends it


def test_system_fills_its_ports() -> None:
    """The checker compares each class with its port; here they only have to exist."""
    clock: Clock = SystemClock()
    ids: Ids = SystemIds()
    spawn: Spawn = SystemSpawn()

    assert all((clock, ids, spawn))


def test_now_is_utc_in_whole_milliseconds() -> None:
    """An instant compares equal after it was stored and read again."""
    before = datetime.now(UTC) - timedelta(milliseconds=1)

    now = SystemClock().now()

    assert now.utcoffset() == timedelta(0)
    assert now.microsecond % 1000 == 0
    assert before < now <= datetime.now(UTC)


def test_sleep_waits_on_the_monotonic_clock() -> None:
    """A wait is as long as was asked, and both readings are of one clock."""
    clock = SystemClock()
    started = clock.monotonic()

    asyncio.run(clock.sleep(timedelta(milliseconds=20)))

    assert clock.monotonic() - started >= 0.02


def test_tokens_are_base32_and_never_repeat() -> None:
    """26 characters of the alphabet of job ids and downstream keys."""
    tokens = [SystemIds().token() for _ in range(1000)]

    assert len(set(tokens)) == 1000
    assert all(re.fullmatch(r"[A-Z2-7]{26}", token) for token in tokens)


def test_jitter_is_below_one() -> None:
    """Draws spread over [0, 1)."""
    draws = [SystemIds().jitter() for _ in range(1000)]

    assert 0 <= min(draws) < 0.1
    assert 0.9 < max(draws) < 1


def test_blocking_calls_run_side_by_side() -> None:
    """Two calls that wait for each other both end, while the loop stays free."""
    barrier = threading.Barrier(2, timeout=60)

    async def both(runner: ThreadRunner) -> list[int]:
        return list(await asyncio.gather(runner.call(barrier.wait), runner.call(barrier.wait)))

    with ThreadRunner() as runner:
        assert sorted(asyncio.run(both(runner))) == [0, 1]


def test_call_gives_arguments_and_raises_what_was_raised() -> None:
    """A call is as the function itself, only elsewhere."""

    async def parse(runner: ThreadRunner) -> int:
        assert await runner.call(dict, a=1) == {"a": 1}
        return await runner.call(int, base=10)

    with ThreadRunner() as runner, pytest.raises(TypeError, match="missing string"):
        asyncio.run(parse(runner))


def test_closed_runner_refuses_and_opens_again() -> None:
    """A call outside an invocation is a mistake; the next invocation is welcome."""
    runner = ThreadRunner()
    with pytest.raises(RuntimeError, match="closed"):
        asyncio.run(runner.call(int))

    for _invocation in range(2):
        with runner:
            assert asyncio.run(runner.call(int)) == 0
        runner.close()


def test_runner_is_opened_once() -> None:
    """Two openings would have to agree on the closing."""
    with ThreadRunner() as runner, pytest.raises(RuntimeError, match="open already"):
        runner.open()


def test_close_waits_for_a_call_whose_caller_was_cancelled() -> None:
    """No thread outlives the invocation, not even one that nobody waits for; the fixture sees that none is left."""
    ended = threading.Event()

    def work(started: Signal) -> None:
        started.set()
        time.sleep(0.05)
        ended.set()

    async def cancel(runner: ThreadRunner) -> None:
        started = SystemSpawn().signal()
        task = asyncio.create_task(runner.call(work, started=started))
        await started.wait()
        task.cancel()
        await task

    with ThreadRunner() as runner, pytest.raises(asyncio.CancelledError):
        asyncio.run(cancel(runner))

    assert ended.is_set()


def test_runner_serves_two_loops_at_once() -> None:
    """The heartbeat's loop calls through the same runner as the handler's, at the same time."""
    barrier = threading.Barrier(2, timeout=60)

    async def main(runner: ThreadRunner) -> None:
        async def work(stopper: Stopper) -> None:
            await runner.call(barrier.wait)

        background = SystemSpawn().background(work)
        await runner.call(barrier.wait)
        await background.stop()

    with ThreadRunner() as runner:
        asyncio.run(main(runner))


def test_background_ends_as_soon_as_it_is_stopped() -> None:
    """A long wait is cut short; the thread is gone when ``stop`` returns, and a second stop changes nothing."""
    heard: list[bool] = []

    async def main() -> None:
        waited = SystemSpawn().signal()

        async def work(stopper: Stopper) -> None:
            heard.append(await stopper.wait(timedelta(milliseconds=1)))
            waited.set()
            heard.append(await stopper.wait(LONG))

        background = SystemSpawn().background(work)
        await waited.wait()
        await background.stop()
        assert threading.active_count() == threads
        await background.stop()

    threads = threading.active_count()
    asyncio.run(main())

    assert heard == [False, True]


def test_background_stopped_before_it_began_still_hears_it() -> None:
    """Stopping at once is not lost."""
    heard: list[bool] = []

    async def work(stopper: Stopper) -> None:
        heard.append(await stopper.wait(LONG))

    async def main() -> None:
        await SystemSpawn().background(work).stop()

    asyncio.run(main())

    assert heard == [True]


@pytest.mark.failure_mode("F36")
@pytest.mark.parametrize("early", [True, False])
def test_stop_raises_what_the_work_raised(*, early: bool) -> None:
    """A background that died is not silent, whether it died long before or at the end."""

    async def work(stopper: Stopper) -> None:
        if not early:
            await stopper.wait(LONG)
        raise ValueError("the lease is lost")

    async def main() -> None:
        await SystemSpawn().background(work).stop()

    with pytest.raises(ValueError, match="the lease is lost"):
        asyncio.run(main())


@pytest.mark.failure_mode("F35")
def test_background_keeps_time_while_the_loop_burns_the_cpu() -> None:
    """A coroutine that never yields cannot starve a heartbeat: beats go on while it computes."""
    beats = 0

    async def work(stopper: Stopper) -> None:
        nonlocal beats
        while not await stopper.wait(timedelta(milliseconds=1)):
            beats += 1

    async def main() -> None:
        background = SystemSpawn().background(work)
        while beats < 5:  # burns, and never gives the loop back
            pass
        await background.stop()

    asyncio.run(main())


def test_loop_stays_free_while_background_takes_its_time_to_end() -> None:
    """``stop`` waits without blocking: the loop runs what the background waits for."""
    gate = threading.Event()

    async def work(stopper: Stopper) -> None:
        await stopper.wait(LONG)
        gate.wait(60)

    async def main() -> None:
        background = SystemSpawn().background(work)
        asyncio.get_running_loop().call_later(0.01, gate.set)
        await background.stop()

    asyncio.run(main())


def test_cancelled_stop_leaves_no_thread() -> None:
    """Even a stop that is cancelled waits for the thread; the fixture sees that none is left."""

    async def work(stopper: Stopper) -> None:
        await stopper.wait(LONG)

    async def main() -> None:
        task = asyncio.create_task(SystemSpawn().background(work).stop())
        await asyncio.sleep(0)
        task.cancel()
        await task

    with pytest.raises(asyncio.CancelledError):
        asyncio.run(main())


def test_signal_is_raised_by_a_thread_and_awaited_on_its_loop() -> None:
    """A heartbeat tells the attempt's loop that the lease is lost."""

    async def main() -> bool:
        signal: Signal = SystemSpawn().signal()
        assert not signal.is_set()

        async def work(stopper: Stopper) -> None:
            signal.set()

        background = SystemSpawn().background(work)
        await signal.wait()
        await signal.wait()
        await background.stop()
        return signal.is_set()

    assert asyncio.run(main())


def test_signal_of_a_closed_loop_may_still_be_raised() -> None:
    """A thread that comes late finds nobody waiting, which is no error."""

    async def main() -> Signal:
        return SystemSpawn().signal()

    signal = asyncio.run(main())
    signal.set()

    assert signal.is_set()
