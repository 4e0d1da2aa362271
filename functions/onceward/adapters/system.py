"""The only reader of clock and randomness, and the only starter of threads; children are started by its sibling.

Simulation and replay rest on this: everything else gets time, chance and concurrency from the ports that this file
fills. Nothing here is bound to one event loop: the heartbeat's own loop uses the same runner as the handler's.
"""

from __future__ import annotations

import asyncio
import base64
import secrets
import time
from collections.abc import Awaitable, Callable
from concurrent.futures import Future, ThreadPoolExecutor
from contextlib import suppress
from datetime import UTC, datetime, timedelta
from functools import partial
from typing import Self

from onceward.adapters.child import run_child
from onceward.usecases.ports import ChildEnd, Stopper

RUNNER_THREADS = 32  # ten jobs of a batch with three calls each, and a heartbeat that must not queue behind them
TOKEN_BYTES = 16  # 128 bits: two runs of one job never draw the same token
BASE32_PADDING = "="

_random = secrets.SystemRandom()  # not seeded once: a process restored from a snapshot must not repeat its draws


class SystemClock:
    """The machine's clocks."""

    def now(self) -> datetime:
        """The wall clock in UTC, cut to milliseconds: an instant compares equal after it was stored and read."""
        now = datetime.now(UTC)
        return now.replace(microsecond=now.microsecond // 1000 * 1000)

    def monotonic(self) -> float:
        """Seconds from an unknown beginning; for measuring, never for storing."""
        return time.monotonic()

    async def sleep(self, duration: timedelta) -> None:
        """Wait on the running loop."""
        await asyncio.sleep(duration.total_seconds())


class SystemIds:
    """The operating system's randomness."""

    def token(self) -> str:
        """26 of ``A-Z2-7``: 128 random bits, base32 without its padding."""
        return base64.b32encode(secrets.token_bytes(TOKEN_BYTES)).decode("ascii").rstrip(BASE32_PADDING)

    def jitter(self) -> float:
        """A draw from [0, 1)."""
        return _random.random()


class ThreadRunner:
    """Runs blocking calls (boto3's) in threads that exist between ``open`` and ``close`` only.

    One invocation opens and closes it, so that no thread outlives the handler's return: a frozen environment would
    resume it in the middle of another invocation. Usable from several event loops at once.
    """

    def __init__(self, threads: int = RUNNER_THREADS) -> None:
        """Start nothing yet; threads are started as calls need them, ``threads`` at most."""
        self._threads = threads
        self._pool: ThreadPoolExecutor | None = None

    def __enter__(self) -> Self:
        """Open it."""
        self.open()
        return self

    def __exit__(self, *_: object) -> None:
        """Close it."""
        self.close()

    def open(self) -> None:
        """Accept calls from now on. A second opening is refused: its threads would have two owners."""
        if self._pool is not None:
            raise RuntimeError("the runner is open already")
        self._pool = ThreadPoolExecutor(self._threads, thread_name_prefix="onceward-call")

    def close(self) -> None:
        """Wait for the calls under way, also those whose caller was cancelled, and end every thread.

        Blocks: each call has time limits of its own. Closing twice is fine.
        """
        pool, self._pool = self._pool, None
        if pool is not None:
            pool.shutdown(wait=True, cancel_futures=True)

    def lend_to(self, loop: asyncio.AbstractEventLoop) -> None:
        """Let a loop's own blocking work (it resolves host names so) end with this invocation too."""
        if self._pool is None:
            raise RuntimeError("the runner is closed: its threads live for one invocation")
        loop.set_default_executor(self._pool)

    async def call[Result](self, blocking: Callable[..., Result], /, **arguments: object) -> Result:
        """Run it in a thread and wait. A cancelled caller leaves at once; the call itself goes on to its end."""
        if self._pool is None:
            raise RuntimeError("the runner is closed: its threads live for one invocation")
        return await asyncio.get_running_loop().run_in_executor(self._pool, partial(blocking, **arguments))


class LoopSignal:
    """A one-way flag: any thread may raise it, the loop that it was made for can wait for it."""

    def __init__(self, loop: asyncio.AbstractEventLoop) -> None:
        """Bind it to a loop, which need not run yet."""
        self._loop = loop
        self._event = asyncio.Event()
        self._raised = False

    def set(self) -> None:
        """Raise it. A loop that has closed has no one left who waits."""
        self._raised = True
        with suppress(RuntimeError):  # what asyncio says of a closed loop
            self._loop.call_soon_threadsafe(self._event.set)

    def is_set(self) -> bool:
        """Whether it was raised, true at once and in every thread."""
        return self._raised

    async def wait(self) -> None:
        """Until it is raised."""
        await self._event.wait()


class SignalStopper:
    """Tells background work, on its own loop, that it shall end."""

    def __init__(self, stop: LoopSignal) -> None:
        """Listen to ``stop``."""
        self._stop = stop

    async def wait(self, duration: timedelta) -> bool:
        """Wait that long; ``True`` as soon as the work shall end."""
        with suppress(TimeoutError):
            async with asyncio.timeout(duration.total_seconds()):
                await self._stop.wait()
        return self._stop.is_set()


class ThreadBackground:
    """Work on a loop of its own in a thread of its own: a coroutine that burns the CPU elsewhere only slows it.

    Python hands its lock over every 5 ms, so a heartbeat keeps its time while a kind's code computes.
    """

    def __init__(self, work: Callable[[Stopper], Awaitable[None]]) -> None:
        """Start it."""
        loop = asyncio.new_event_loop()
        self._stop = LoopSignal(loop)
        self._pool = ThreadPoolExecutor(1, thread_name_prefix="onceward-background")
        try:
            self._end: Future[None] = self._pool.submit(_run_on, loop, work, SignalStopper(self._stop))
        except RuntimeError:  # no thread to be had, or the interpreter is ending
            loop.close()
            raise

    async def stop(self) -> None:
        """Ask it to end, wait until its thread is gone, raise what it raised. A second stop tells the same.

        The caller's loop stays free meanwhile. Cancelled, it waits blocking: no thread may outlive its invocation.
        """
        self._stop.set()
        try:
            # Shielded: cancelled before its thread took it up, the work would never run and its loop never close.
            await asyncio.shield(asyncio.wrap_future(self._end))
        finally:
            self._pool.shutdown(wait=True)


class SystemSpawn:
    """Threads and child processes of this machine."""

    def background(self, work: Callable[[Stopper], Awaitable[None]]) -> ThreadBackground:
        """Run ``work`` in a thread with a loop of its own."""
        return ThreadBackground(work)

    def signal(self) -> LoopSignal:
        """A flag for the running loop."""
        return LoopSignal(asyncio.get_running_loop())

    async def child(self, module: str, stdin: bytes, *, timeout: timedelta, memory_bytes: int) -> ChildEnd:
        """Run ``python -m module`` apart; see ``child.py`` for what holds it in."""
        return await run_child(module, stdin, timeout=timeout, memory_bytes=memory_bytes)


def _run_on(
    loop: asyncio.AbstractEventLoop, work: Callable[[Stopper], Awaitable[None]], stopper: SignalStopper
) -> None:
    """Run the work on its loop until it ends, then close the loop; in the work's thread."""

    async def main() -> None:
        await work(stopper)

    with asyncio.Runner(loop_factory=lambda: loop) as runner:
        runner.run(main())
