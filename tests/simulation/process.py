"""A simulated process: a group of tasks that lives, freezes and dies as one, and the port calls it makes.

One process is one invocation of one Lambda function. It has two lanes: ``main`` (the handler's event loop) and
``beat`` (background threads). A crash ends it as SIGKILL would: no later port call of it has any effect, whatever its
code does on the way out; its tasks are cancelled only so that Python can take them down.
"""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable, Coroutine
from contextlib import suppress
from contextvars import Context
from dataclasses import dataclass
from typing import Any

from onceward.errors import OncewardError
from tests.simulation.alike import alike_at, may_stand_for, port_of
from tests.simulation.bell import until_done
from tests.simulation.faults import NOTHING, Boundary, Counter, Fault
from tests.simulation.lanes import LANE, Lane
from tests.simulation.scheduler import VirtualLoop

LATENCY = 0.006  # virtual seconds before each port call's effect: calls of other processes fit in between
PAUSE = 15.0  # virtual seconds: longer than the send window (10), shorter than a lease less its margin (52)
STARVED = 70.0  # virtual seconds: longer than a lease, so that it is held by the heartbeat alone
READ_TIMEOUT = 3.0  # virtual seconds: the SDK's, for tables and queues
THROTTLED = 10.0  # virtual seconds of a burst: longer than any client's own tries
REFUSED = frozenset({Fault.ERROR_BEFORE, Fault.THROTTLE, Fault.CONFLICT})
ROUNDS_TO_DIE = 50  # cancellations a dead process may swallow while its code unwinds


class Crashed(BaseException):  # a killed process sees no exception: nothing that catches errors may catch this
    """The process of this call is dead: nothing it does has any effect."""


class TaskLeft(AssertionError):
    """An invocation returned while a task of it was still alive (invariant 17)."""


@dataclass(frozen=True, slots=True)
class Died:
    """The process did not live to return."""


class Process:
    """One invocation: its lanes, whether it is dead, the tokens it made.

    ``held_up``: for how many seconds it was frozen between its last call of a port and that call's effect;
    ``last``: that call, if it was not refused; ``has_read_clock``: whether it has looked at its wall clock since;
    ``has_read_nothing``: whether it has read a page with nothing on it; ``known_kinds``: their versions.
    """

    def __init__(
        self, loop: VirtualLoop, name: str, counter: Counter, *, skew: float = 0.0, most_skew: float = 0.0
    ) -> None:
        """``skew`` is by how many seconds its wall clock is ahead, ``most_skew`` by how many it may be."""
        self.loop = loop
        self.name = name
        self.skew = skew
        self.most_skew = most_skew
        self.is_reading_stale = False
        self.last: Boundary | None = None
        self.has_read_clock = True
        self.main = Lane(f"{name}.main")
        self.beat = Lane(f"{name}.beat")
        self.is_dead = False
        self.held_up = 0.0
        self.has_read_nothing = False
        self.tokens: set[str] = set()
        self.known_kinds: dict[str, int] = {}
        self._counter = counter

    def start[T](self, lane: Lane, work: Coroutine[Any, Any, T]) -> asyncio.Task[T]:
        """Start a task in one of the lanes."""
        context = Context()
        context.run(LANE.set, lane)
        return self.loop.create_task(work, name=f"{lane.name}.{len(lane.tasks)}", context=context)

    async def run[T](self, work: Coroutine[Any, Any, T]) -> T | Died:
        """Run an invocation to its end, called from outside of any process; raises what it raises.

        Raises ``TaskLeft`` if anything of it lives on after it returned.
        """
        task = self.start(self.main, work)
        await until_done(task)
        if not self.is_dead and self._alive():
            left = [one.get_name() for one in self._alive()]
            self.crash()
            await self._take_down()
            raise TaskLeft(f"{self.name} returned and left {left}")
        await self._take_down()
        if self.is_dead:
            return Died()
        return task.result()

    def crash(self) -> None:
        """End the process now."""
        self.is_dead = True
        for lane in (self.main, self.beat):
            self.loop.thaw(lane)
        current = asyncio.current_task(self.loop)
        for task in self._alive():
            if task is not current:
                task.cancel()

    def freeze(self, seconds: float, *lanes: Lane) -> None:
        """Let nothing of these lanes run for that long."""
        for lane in lanes:
            self.loop.freeze(lane, seconds)

    def _alive(self) -> list[asyncio.Task[Any]]:
        return [task for lane in (self.main, self.beat) for task in lane.tasks if not task.done()]

    async def _take_down(self) -> None:
        """Wait until a dead process is gone, and look at every failure, so that asyncio reports none as unseen."""
        for _ in range(ROUNDS_TO_DIE):
            alive = self._alive()
            if not alive:
                break
            for task in alive:
                task.cancel()
            await asyncio.wait(alive, timeout=1.0)
        else:
            raise AssertionError(f"{self.name} cannot be taken down: {self._alive()}")
        for lane in (self.main, self.beat):
            for task in lane.tasks:
                if not task.cancelled() and self.is_dead:
                    task.exception()

    async def cross[T](self, call: Crossing[T]) -> T:
        """Make one port call of this process, and let the plan's fault strike at it."""
        fault = await self.come_to(call.name)
        if fault is not None:
            return await self.suffer(fault, call)
        reply = await call.effect()
        self.check_alive()
        return reply

    async def come_to(self, name: str) -> Fault | None:
        """Come to a boundary, which takes its moment; the fault that strikes at the call, if any.

        Nothing counts and nothing takes time once the story is over.
        """
        self.check_alive()
        counter, loop = self._counter, self.loop
        if counter.is_over:
            return None
        called_at = loop.time()
        if loop.turns is not None:
            await loop.turns.wait(self.name, loop)
        elif not loop.pass_at_once(LATENCY):
            await loop.pause(LATENCY)
        self.check_alive()
        now = loop.time()
        self.held_up = now - called_at - LATENCY
        is_refused = bool(counter.throttled) and self._is_throttled(name)
        alike = alike_at(self, counter, called_at, is_refused=is_refused) if counter.is_past_plan else NOTHING
        fault = counter.cross(self.name, name, now, alike=alike)
        self.last, self.has_read_clock = None if is_refused else counter.trace[-1], False
        if fault is Fault.THROTTLE:
            counter.throttled[port_of(name)] = now + THROTTLED
        return Fault.THROTTLE if fault is None and is_refused else fault

    async def suffer[T](self, fault: Fault, call: Crossing[T]) -> T:
        """Make a port call at which a fault strikes."""
        called_at = self.loop.time() - LATENCY - self.held_up
        call.struck_by = fault
        if fault in REFUSED:
            return call.fail(fault)
        later = None if self.is_reading_stale else may_stand_for(fault, call.name)
        told = None if later is None else await call.effect()
        await self._before(fault, call)
        if self._is_throttled(call.name):
            return call.fail(Fault.THROTTLE)
        self.held_up = self.loop.time() - called_at - LATENCY
        if fault is Fault.LATE_EFFECT:
            self._take_effect_later(call)
            return call.fail(fault)
        reply = await call.effect()
        self.check_alive()
        if later is not None and reply == told:
            self._counter.stands_for = later
        if fault in (Fault.SDK_RETRY, Fault.LATE_RETRY):
            await asyncio.sleep(READ_TIMEOUT if fault is Fault.LATE_RETRY else 0)
            self.check_alive()
            reply = await call.effect()
        if fault is Fault.LOST_ANSWER:
            return call.fail(fault)
        await self._after(fault, call)
        return reply

    def _is_throttled(self, name: str) -> bool:
        """Whether all that its port is asked for is refused just now."""
        return self.loop.time() < self._counter.throttled.get(port_of(name), 0.0)

    def _take_effect_later(self, call: Crossing[Any]) -> None:
        """Let the network deliver a call after its caller has given up, whatever has become of the caller."""

        async def arrive() -> None:
            await asyncio.sleep(READ_TIMEOUT)
            with suppress(OncewardError):
                await call.effect()

        task = self.loop.create_task(arrive(), name=f"{self.name}.late", context=Context())
        self._counter.late.append(task)

    async def _before(self, fault: Fault, call: Crossing[Any]) -> None:
        """Strike before the effect."""
        match fault:
            case Fault.CRASH_BEFORE:
                self.crash()
            case Fault.FREEZE_BEFORE:
                self.freeze(call.freeze_seconds, self.main, self.beat)
                await asyncio.sleep(0)
            case Fault.PAUSE_BEFORE:
                self.freeze(PAUSE, self.main, self.beat)
                await asyncio.sleep(0)
            case Fault.STARVE_BEFORE:
                self.freeze(STARVED, self.main)
                await asyncio.sleep(0)
            case Fault.CLOCK_AHEAD:
                self.skew = self.most_skew
            case Fault.CLOCK_BEHIND:
                self.skew = -self.most_skew
            case Fault.STALE:
                self.is_reading_stale = True
            case Fault.TTL_ROWS | Fault.TTL_ITEMS:
                self._counter.expire(fault)
            case _:
                pass
        self.check_alive()

    async def _after(self, fault: Fault, call: Crossing[Any]) -> None:
        """Strike after the effect; a frozen process does not even see the answer before it thaws."""
        match fault:
            case Fault.CRASH_AFTER:
                self.crash()
            case Fault.FREEZE_AFTER:
                self.freeze(call.freeze_seconds, self.main, self.beat)
            case Fault.PAUSE_AFTER:
                self.freeze(PAUSE, self.main, self.beat)
            case Fault.STARVE_AFTER:
                self.freeze(STARVED, self.main)
            case _:
                return
        self.check_alive()
        await asyncio.sleep(0)
        self.check_alive()

    def check_alive(self) -> None:
        """Go no further if the process is dead."""
        if self.is_dead:
            raise Crashed(self.name)


@dataclass(slots=True)  # not frozen: some hundred are made in each run, and freezing doubles what one costs
class Crossing[T]:
    """One port call: its name and effect, and how long a freeze at it lasts.

    ``fail`` does what the adapter does when the call failed so: raise, or return what stands for a failure.
    """

    name: str
    effect: Callable[[], Awaitable[T]]
    fail: Callable[[Fault], T]
    freeze_seconds: float
    struck_by: Fault | None = None
