"""The simulation's clock, identities and background work: all of one process, all on the virtual loop."""

from __future__ import annotations

import asyncio
import random
from collections.abc import Awaitable, Callable, Mapping
from datetime import datetime, timedelta
from functools import cached_property

from onceward.domain.breaking import BreakerRule
from onceward.usecases.breakers import Breakers
from onceward.usecases.ports import ChildEnd, Store
from tests.simulation.bell import Bell, until_done
from tests.simulation.checks.promised import wall
from tests.simulation.process import Process

ALPHABET = "ABCDEFGHIJKLMNOPQRSTUVWXYZ234567"

type Child = Callable[[bytes], bytes]

CHILDREN: dict[str, Child] = {"sim.parser": bytes.upper}  # what kinds may run apart


class SimClock:
    """A process's clock: the loop's time, its wall clock off by the process's skew."""

    def __init__(self, process: Process) -> None:
        """Of this ``process``."""
        self.process = process

    def now(self) -> datetime:
        """The wall clock, cut to milliseconds."""
        process = self.process
        process.has_read_clock = True
        return wall(process.loop.time() + process.skew)

    def monotonic(self) -> float:
        """Virtual seconds."""
        return self.process.loop.time()

    async def sleep(self, duration: timedelta) -> None:
        """Wait; a frozen process wakes when it thaws."""
        await self.process.loop.pause(duration.total_seconds())


class SimIds:
    """Seeded identities; what a process made is noted, so that a checker knows who may use which token."""

    def __init__(self, process: Process, seed: str) -> None:
        """One stream of draws per process."""
        self._process = process
        self._seed = f"{seed}/{process.name}"

    @cached_property
    def _draw(self) -> random.Random:
        """Made when it is asked: many a process draws nothing, and seeding takes its time."""
        return random.Random(self._seed)

    def token(self) -> str:
        """26 base32 characters."""
        token = "".join(self._draw.choices(ALPHABET, k=26))
        self._process.tokens.add(token)
        return token

    def jitter(self) -> float:
        """A draw from [0, 1)."""
        return self._draw.random()


class SimStopper:
    """Tells background work that it shall end."""

    def __init__(self) -> None:
        """Not yet."""
        self.flag = Bell()

    async def wait(self, duration: timedelta) -> bool:
        """Wait that long; ``True`` as soon as the work shall end."""
        return await self.flag.wait(duration.total_seconds())


class SimBackground:
    """Running background work."""

    def __init__(self, task: asyncio.Task[None], stopper: SimStopper) -> None:
        """Keep the task and its stopper."""
        self._task = task
        self._stopper = stopper

    async def stop(self) -> None:
        """Tell it to end and wait for it, even while being cancelled: a thread is joined, not abandoned."""
        self._stopper.flag.set()
        cancelled: asyncio.CancelledError | None = None
        while not self._task.done():
            try:
                await until_done(self._task)
            except asyncio.CancelledError as error:
                cancelled = error
        self._task.result()
        if cancelled is not None:
            raise cancelled


class SimSignal:
    """A one-way flag that any lane may raise."""

    def __init__(self) -> None:
        """Not raised."""
        self._event = Bell()

    def set(self) -> None:
        """Raise it."""
        self._event.set()

    def is_set(self) -> bool:
        """Whether it was raised."""
        return self._event.is_set()

    async def wait(self) -> None:
        """Until it is raised."""
        await self._event.wait()


class SimSpawn:
    """Background work is a task in the process's other lane; a child is a function from a table."""

    def __init__(self, process: Process, children: Mapping[str, Child]) -> None:
        """``children``: what stands in for ``python -m module``."""
        self._process = process
        self._children = children

    def background(self, work: Callable[[SimStopper], Awaitable[None]]) -> SimBackground:
        """Start work beside the event loop."""
        stopper = SimStopper()

        async def run() -> None:
            await work(stopper)

        return SimBackground(self._process.start(self._process.beat, run()), stopper)

    def signal(self) -> SimSignal:
        """A flag of this process."""
        return SimSignal()

    async def child(self, module: str, stdin: bytes, *, timeout: timedelta, memory_bytes: int) -> ChildEnd:
        """Run the stand-in of a child; it takes no time and keeps within all limits."""
        await asyncio.sleep(0)
        return ChildEnd(code=0, stdout=self._children[module](stdin), is_timed_out=False)


def breakers_of(process: Process, store: Store, rule: BreakerRule | None, seed: str) -> Breakers | None:
    """The circuit breakers as one process knows them; ``None`` where a story has none."""
    return None if rule is None else Breakers(store, SimClock(process), SimIds(process, f"{seed}/breaker"), rule)
