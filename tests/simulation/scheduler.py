"""The deterministic loop: virtual time, a seeded draw among ready tasks, no real I/O and no real time.

One loop runs every process of a scenario. Time stands still while anything is ready and then jumps to the next timer,
so an hour costs nothing. Of several tasks that could go on, a seeded draw picks one (no seed: first come, first
served), so another seed is another interleaving and the same seed is the same run. Plain callbacks keep asyncio's
first-in-first-out promise: libraries may rely on it, tasks may not.

A *lane* is one thread of one simulated process: its callbacks carry it in their context. A frozen lane runs nothing,
not even its timers, until it thaws; then everything that came due meanwhile is ready at once, as after SIGSTOP.
"""

from __future__ import annotations

import asyncio
import heapq
import random
from asyncio import _unregister_task
from collections import deque
from collections.abc import Callable, Coroutine, Generator
from contextvars import Context, copy_context
from types import CoroutineType
from typing import Any, NoReturn

from tests.simulation.lanes import LANE, Lane, OrderedTask, Ready
from tests.simulation.turns import Turns

MOST_STEPS = 100_000  # a scenario takes some thousands; beyond this something spins
LONGEST = 100 * 86_400.0  # virtual seconds: past the time for which anything of a job is kept


class Deadlock(AssertionError):
    """Nothing is ready and no timer is set, yet the scenario has not ended."""


class Runaway(AssertionError):
    """The scenario does not end: too many steps, or too much virtual time."""


class VirtualLoop(asyncio.BaseEventLoop):
    """An event loop without a selector, whose clock is a number."""

    get_debug = bool  # says ``False``; asyncio asks for each future and each task

    def __init__(self, seed: int | None = None) -> None:
        """Start at virtual second 0; without a seed tasks run in the order in which they became ready."""
        super().__init__()
        self.tasks: list[OrderedTask[Any]] = []
        self.steps = 0
        self.unhandled: list[str] = []
        self._draw = None if seed is None else random.Random(seed)
        self._seconds = 0.0
        self._order = 0
        self._stopping = False
        self._plain: deque[Ready] = deque()
        self._ready_tasks: deque[Ready] = deque()
        self._timers: list[tuple[float, int, Lane | None, Ready | asyncio.Future[None]]] = []
        self.turns: Turns | None = None
        self.set_exception_handler(_note_unhandled)

    def time(self) -> float:
        """The virtual second."""
        return self._seconds

    def call_soon(  # type: ignore[override]  # a handle of the loop's own: asyncio's keeps what is not needed here
        self, callback: Callable[..., object], *args: Any, context: Context | None = None
    ) -> Ready:
        """Make a callback ready, in the lane of its context."""
        if context is None:
            context = copy_context()
        task = getattr(callback, "__self__", None)
        if type(task) is OrderedTask:
            ready = Ready(callback, args, context, task.lane, task)
            self._ready_tasks.append(ready)
        else:
            ready = Ready(callback, args, context, context.get(LANE))
            self._plain.append(ready)
        return ready

    def call_at(  # type: ignore[override]  # as above
        self, when: float, callback: Callable[..., object], *args: Any, context: Context | None = None
    ) -> Ready:
        """Set a timer; equal instants fire in the order in which they were set."""
        if context is None:
            context = copy_context()
        ready = Ready(callback, args, context, context.get(LANE))
        self._order += 1
        heapq.heappush(self._timers, (when, self._order, ready.lane, ready))
        return ready

    def call_later(  # type: ignore[override]  # as above
        self, delay: float, callback: Callable[..., object], *args: Any, context: Context | None = None
    ) -> Ready:
        """Set a timer ``delay`` virtual seconds from now."""
        return self.call_at(self._seconds + delay, callback, *args, context=context)

    def pass_at_once(self, seconds: float) -> bool:
        """Let time pass without a wait, if nothing at all would happen meanwhile: whether it has passed.

        Whoever asks would be the next to go on, so it need not even stop; most calls of ports are made so.
        """
        if self._plain or self._ready_tasks or self.steps >= MOST_STEPS:
            return False
        self._drop_spent()
        then = self._seconds + seconds
        if self._timers and self._timers[0][0] <= then:
            return False
        self.steps += 1
        self._seconds = then
        return True

    def pause(self, seconds: float) -> asyncio.Future[None]:
        """What ``asyncio.sleep`` waits for, for half its price: most of a run is calls of ports that take a moment.

        Whoever resolves it before has waited less, and needs no time to pass for the rest.
        """
        future: asyncio.Future[None] = asyncio.Future(loop=self)
        self._order += 1
        heapq.heappush(self._timers, (self._seconds + seconds, self._order, LANE.get(), future))
        return future

    def create_task[T](
        self,
        coro: Generator[Any, None, T] | Coroutine[Any, Any, T],
        *,
        name: object = None,
        context: Context | None = None,
        **_: object,
    ) -> asyncio.Task[T]:
        """Start a task and enter it in its lane, so that a crash finds it."""
        if context is None:
            context = copy_context()
        assert isinstance(coro, CoroutineType), "a bare generator is no task"
        task = OrderedTask(coro, self, None if name is None else str(name), context)
        if task.lane is not None:
            task.lane.tasks.append(task)
        return task

    def run_in_executor(self, *_: object) -> NoReturn:
        """Refuse: a thread would bring real time in."""
        raise AssertionError("the simulation has no threads; use the Spawn port")

    def freeze(self, lane: Lane, seconds: float) -> None:
        """Run nothing of a lane for that long."""
        until = max(lane.frozen_until or 0.0, self._seconds + seconds)
        lane.frozen_until = until
        self.call_at(until, self.thaw, lane, until, context=Context())

    def thaw(self, lane: Lane, until: float | None = None) -> None:
        """Let a lane go on with all that came due; a longer freeze set meanwhile holds."""
        if until is not None and lane.frozen_until != until:
            return
        lane.frozen_until = None
        parked, lane.parked = lane.parked, []
        for ready in parked:
            (self._plain if ready.task is None else self._ready_tasks).append(ready)

    def _run_once(self) -> None:
        """Run callbacks, one after the other, until the loop is stopped; if none is ready, time jumps.

        Plain ones come in order, before any task; among ready tasks the draw decides.
        """
        plain, tasks, draw = self._plain, self._ready_tasks, self._draw
        while not self._stopping:
            self.steps += 1
            if self.steps > MOST_STEPS:
                raise Runaway(f"{self.steps} steps at virtual second {self._seconds:.3f}")
            if plain:
                ready = plain.popleft()
            elif tasks:
                tasks.rotate(0 if draw is None or len(tasks) == 1 else -draw.randrange(len(tasks)))
                ready = tasks.popleft()
            else:
                self._jump()
                continue
            if ready.is_cancelled:
                continue
            lane = ready.lane
            if lane is not None and lane.frozen_until is not None:
                lane.parked.append(ready)
                continue
            try:
                ready.context.run(ready.callback, *ready.args)
            except (SystemExit, KeyboardInterrupt):
                raise
            except BaseException as error:  # noqa: BLE001  # as asyncio's own handle: told to whoever runs the loop
                self.call_exception_handler({"message": f"{ready.callback} raised", "exception": error})
            if ready.task is not None and ready.task.done():
                _unregister_task(ready.task)  # or ``asyncio.all_tasks`` looks through all those of the run

    def _jump(self) -> None:
        """Move the clock to the earliest live timer and make all timers of that instant ready.

        If turns are given by a schedule, whoever waits for one comes before any time passes. A mere pause's end is no
        turn of its own: it makes a task ready, and nothing else.
        """
        if self.turns is not None and self.turns.give():
            return
        self._drop_spent()
        timers = self._timers
        if not timers:
            raise Deadlock("nothing is ready and no timer is set: " + ", ".join(self._waiting()))
        now = self._seconds = max(self._seconds, timers[0][0])
        if now > LONGEST:
            raise Runaway(f"virtual second {now:.0f}")
        while timers and timers[0][0] <= now:
            _, _, lane, due = heapq.heappop(timers)
            if isinstance(due, Ready):
                self._plain.append(due)
            elif lane is not None and lane.frozen_until is not None:
                self._plain.append(Ready(resolve, (due,), Context(), lane))
            else:
                resolve(due)

    def _drop_spent(self) -> None:
        """Let the earliest timer be one that somebody still waits for."""
        timers = self._timers
        while timers and timers[0][-1].done():
            heapq.heappop(timers)

    def pending(self) -> list[OrderedTask[Any]]:
        """The tasks that have not ended."""
        return [task for task in self.tasks if not task.done()]

    def unseen(self) -> list[str]:
        """What went wrong and nobody looked at: asyncio would only log it, whenever the garbage collector comes by."""
        failed = [task for task in self.tasks if task.done() and task._log_traceback]
        return [*self.unhandled, *(f"{task.get_name()}: {task.exception()!r}" for task in failed)]

    def forget(self) -> None:
        """Let go of all tasks: asyncio looks through one set of those of all loops that anybody still holds."""
        for task in self.tasks:
            if task.lane is not None:
                task.lane.tasks.clear()
        self.tasks.clear()
        self._timers.clear()

    def _waiting(self) -> list[str]:
        return [f"{task.get_name()} in {task.get_coro()}" for task in self.pending()]


def resolve(future: asyncio.Future[None]) -> None:
    """Let whoever waits go on, unless something else has come first."""
    if not future.done():
        future.set_result(None)


def _note_unhandled(loop: asyncio.AbstractEventLoop, context: dict[str, Any]) -> None:
    """Keep what asyncio would only log, such as a callback that raised."""
    assert isinstance(loop, VirtualLoop)
    loop.unhandled.append(f"{context.get('message')}: {context.get('exception')!r}")


def simulate[T](main: Callable[[VirtualLoop], Coroutine[Any, Any, T]], seed: int | None = None) -> T:
    """Run one scenario to its end on a loop of its own; a task it leaves behind, or fails unseen, is an error."""
    loop = VirtualLoop(seed)
    try:
        result = loop.run_until_complete(main(loop))
        if left := loop._waiting():
            raise AssertionError(f"tasks outlive the scenario: {left}")
        if unseen := loop.unseen():
            raise AssertionError(f"failed unseen: {unseen}")
        return result
    finally:
        _dispose(loop)


def _dispose(loop: VirtualLoop) -> None:
    """End what a broken scenario left, so that it disturbs no other."""
    loop.steps = 0
    for _ in range(20):
        left = loop.pending()
        if not left:
            break
        for task in left:
            task.cancel()
        loop.run_until_complete(asyncio.wait(left, timeout=60.0))
    loop.unseen()
    loop.close()
    loop.forget()
