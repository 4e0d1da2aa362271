"""One computation for many who ask the same at once: coalescing inside one asyncio loop, standard library only.

A *work* is one factory call in flight under a key. Everyone who asks for the key meanwhile holds a future of their
own, so nobody's cancellation or timeout can reach anybody else. A work that is given up (deadline, last participant
gone, closing) leaves the table before its task is cancelled, so nobody can join a dying one; while that task unwinds,
the key's next factory waits for it: at any instant one factory per key runs, even if it takes its time to die. There
are no locks: all of it runs on one loop, and nothing but ``aclose`` awaits. Seconds are that loop's.
"""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable, Hashable, Iterable
from contextvars import Context
from dataclasses import dataclass, field
from functools import partial


class FlightError(Exception):
    """Base of what this module raises by itself; no message holds a key or a result, which may be secret."""


class Busy(FlightError):
    """No room: too many keys in flight to start one more, or too many participants in this one."""


class Closed(FlightError):
    """The flight was closed before this call, or while it waited."""


class DeadlineExceeded(FlightError, TimeoutError):
    """The work ran past its own deadline, which is not a participant's own timeout."""


class Reentrant(FlightError):
    """A factory waits for its own key, or closes the flight it runs in."""


class WorkCancelled(FlightError):
    """The work was cancelled, and not by this flight; a participant must not take that for its own cancellation."""


@dataclass(slots=True)
class Counters:
    """What has happened so far; ``waited`` is seconds from joining to the answer, over those who got one."""

    started: int = 0
    joined: int = 0
    busy: int = 0
    errors: int = 0
    orphaned: int = 0
    waited: float = 0.0


@dataclass(slots=True, eq=False)
class _Work[K: Hashable, V]:
    """One factory call in flight: its task, and who waits since when."""

    key: K
    deadline_at: float
    joined_at: dict[asyncio.Future[V], float] = field(default_factory=dict)
    started: bool = False  # an eager task runs before its creator has it in hand
    watched: bool = False
    task: asyncio.Task[V] = field(init=False)

    def newest(self) -> asyncio.Future[V] | None:
        """The latest participant still present: a dict gives up its last item in constant time, not its first."""
        while self.joined_at:
            waiter, joined_at = self.joined_at.popitem()
            if not waiter.done():
                self.joined_at[waiter] = joined_at
                return waiter
        return None


class SingleFlight[K: Hashable, V]:
    """Owns the works in flight of one event loop: at most one factory call per key at any instant.

    ``work_timeout`` bounds each work from its creation, whoever joins later; a work whose last participant has left
    finishes, or is cancelled if ``cancel_when_empty``. A result must be hashable (Python's own word for "will not
    change"), or ``copy`` makes one for each participant. Limits: ``max_keys`` in flight, ``max_waiters`` in each.
    """

    def __init__(
        self,
        *,
        work_timeout: float,
        max_keys: int = 1_000,
        max_waiters: int = 1_000,
        cancel_when_empty: bool = False,
        copy: Callable[[V], V] | None = None,
    ) -> None:
        """Belong to no loop yet: the first call decides, so that one may be made at import."""
        if copy is not None and not callable(copy):
            raise TypeError("copy must be a callable that returns a copy")
        self._work_timeout = _positive("work_timeout", work_timeout)
        self._max_keys = _positive("max_keys", max_keys)
        self._max_waiters = _positive("max_waiters", max_waiters)
        self._cancel_when_empty = cancel_when_empty
        self._copy = copy
        self._closed = False
        self._timer: asyncio.TimerHandle | None = None
        self._home: dict[str, asyncio.AbstractEventLoop] = {}
        self._works: dict[K, _Work[K, V]] = {}
        self._unwinding: dict[K, set[asyncio.Task[V]]] = {}
        self.counters = Counters()  # written here, read by whoever reports them

    def __len__(self) -> int:
        """How many keys are in flight, those whose former task unwinds included."""
        return len(self._works.keys() | self._unwinding.keys()) if self._unwinding else len(self._works)

    def do(self, key: K, factory: Callable[[], Awaitable[V]], *, timeout: float | None = None) -> asyncio.Future[V]:
        """Join the work of ``key`` or start it, and return this participant's own future.

        Refusals are raised here, not by the future: ``Busy``, ``Closed``, ``Reentrant``, and ``RuntimeError`` outside
        the flight's loop. ``timeout`` ends this participant's wait alone, with a plain ``TimeoutError``. A call made
        after the factory's end never gets what was found before it, even if the callback is still to come.
        """
        loop = self._own_loop()
        if self._closed:
            raise Closed("the flight is closed")
        if not callable(factory):
            raise TypeError("factory must be a callable that returns an awaitable")
        if timeout is not None:
            _positive("timeout", timeout)
        while (work := self._works.get(key)) is not None and work.started and work.task.done():
            self._settle(work)
        if work is None:
            work = self._start(loop, key, factory)
        else:
            self._admit(work)
        waiter: asyncio.Future[V] = loop.create_future()  # plain, no shield, no callback: that is the cost of a join
        work.joined_at[waiter] = loop.time()
        if self._cancel_when_empty and not work.watched:
            self._watch(work)
        if timeout is not None:
            timer = loop.call_later(timeout, _fail, (waiter,), TimeoutError("the participant's own timeout"))
            waiter.add_done_callback(lambda _: timer.cancel())
        return waiter

    async def aclose(self, limit: float = 5.0) -> int:
        """Refuse new calls, fail the present ones with ``Closed``, cancel their works and await them for ``limit``.

        Returns how many tasks outlived the limit: they swallow cancellation, and only their factory can end them.
        """
        _positive("limit", limit)
        self._own_loop()
        current = asyncio.current_task()
        running = [work.task if work.started else current for work in self._works.values()]
        if current in running or any(current in tasks for tasks in self._unwinding.values()):
            raise Reentrant("a factory cannot close the flight it runs in")
        self._closed = True
        for work in list(self._works.values()):
            self._give_up(work, Closed("the flight was closed"))
        if self._timer is not None:
            self._timer.cancel()
        tasks = [task for tasks in self._unwinding.values() for task in tasks]
        return len((await asyncio.wait(tasks, timeout=limit))[1]) if tasks else 0

    def _own_loop(self) -> asyncio.AbstractEventLoop:
        """The running loop, if it is this flight's; a loop runs in one thread, so other threads are refused too."""
        loop = asyncio.get_running_loop()
        if self._home.setdefault("loop", loop) is not loop:  # atomic, should two threads make the first call at once
            raise RuntimeError("the flight belongs to another event loop")
        return loop

    def _start(self, loop: asyncio.AbstractEventLoop, key: K, factory: Callable[[], Awaitable[V]]) -> _Work[K, V]:
        """Enter a new work, then create its task: eagerly started, the factory may already ask for its own key."""
        if key not in self._unwinding and len(self) >= self._max_keys:
            self.counters.busy += 1
            raise Busy("too many keys in flight")
        work: _Work[K, V] = _Work(key, loop.time() + self._work_timeout)
        self._works[key] = work
        if self._timer is None:
            self._timer = loop.call_at(work.deadline_at, self._expire, loop, context=Context())
        context = Context()  # not the first caller's: what it may see, those who join later may not
        coro = _run(factory, tuple(self._unwinding.get(key, ())), frozen=self._copy is None)
        try:
            work.task = loop.create_task(coro, context=context)
        except BaseException:
            del self._works[key]
            coro.close()
            raise
        work.started = True
        work.task.add_done_callback(partial(self._task_ended, work), context=context)
        self.counters.started += 1
        return work

    def _admit(self, work: _Work[K, V]) -> None:
        """Let one more join, unless it is the factory itself, which would wait for its own end."""
        if not work.started or work.task is asyncio.current_task():
            raise Reentrant("a factory cannot wait for its own key")
        if len(work.joined_at) >= self._max_waiters:  # those who left are looked for only now
            work.joined_at = {waiter: at for waiter, at in work.joined_at.items() if not waiter.done()}
        if len(work.joined_at) >= self._max_waiters:
            self.counters.busy += 1
            raise Busy("too many participants")
        self.counters.joined += 1

    def _watch(self, work: _Work[K, V], _: asyncio.Future[V] | None = None) -> None:
        """Learn when one of the present leaves, one at a time so that a join costs no callback; if none is, give up."""
        if (waiter := work.newest()) is None:
            self._give_up(work)
        else:
            work.watched = True
            waiter.add_done_callback(partial(self._watch, work))

    def _expire(self, loop: asyncio.AbstractEventLoop) -> None:
        """End the works that are due. One timer serves all: they were entered in the order of their deadlines."""
        while self._works:
            work = next(iter(self._works.values()))
            if work.deadline_at > loop.time():
                self._timer = loop.call_at(work.deadline_at, self._expire, loop, context=Context())
                return
            self._give_up(work, DeadlineExceeded("the work ran past its deadline"))
        self._timer = None

    def _give_up(self, work: _Work[K, V], error: FlightError | None = None) -> None:
        """Free the key, then cancel the task, unless its result is there; nobody waits until it has unwound."""
        if self._works.get(work.key) is not work:
            return
        if work.task.done():
            self._settle(work)
            return
        waiters = self._take(work)
        self._unwinding.setdefault(work.key, set()).add(work.task)
        work.task.cancel()
        if error is not None:
            self.counters.errors += 1
            _fail(waiters, error)

    def _task_ended(self, work: _Work[K, V], task: asyncio.Task[V]) -> None:
        """Settle the work unless that was done before; the key may belong to a newer one, which is left alone."""
        if self._works.get(work.key) is work:
            self._settle(work)
            return
        if task in (dying := self._unwinding.get(work.key, set())):
            dying.remove(task)
            if not dying:
                del self._unwinding[work.key]
        if not task.cancelled():
            task.exception()  # nobody else will look, and asyncio would report it as never retrieved

    def _settle(self, work: _Work[K, V]) -> None:
        """Free the key and give every participant the ended task's value, a copy of it, or its error."""
        waiters = self._take(work)
        task = work.task
        error = WorkCancelled("the work was cancelled from elsewhere") if task.cancelled() else task.exception()
        if error is not None:
            self.counters.errors += 1
            _fail(waiters, error)
            return
        result = task.result()
        for waiter in waiters:
            try:
                value = result if self._copy is None else self._copy(result)
            except Exception as copy_error:  # noqa: BLE001 - the copier is not ours, and everyone must get an answer
                _fail((waiter,), copy_error)
            else:
                if not waiter.done():
                    waiter.set_result(value)

    def _take(self, work: _Work[K, V]) -> list[asyncio.Future[V]]:
        """Take the work off the table and return the participants who are still there."""
        del self._works[work.key]
        waiters = [waiter for waiter in work.joined_at if not waiter.done()]
        now = work.task.get_loop().time()
        self.counters.waited += sum([now - work.joined_at[waiter] for waiter in waiters])
        self.counters.orphaned += not waiters
        work.joined_at = {}
        return waiters


async def _run[V](factory: Callable[[], Awaitable[V]], former: Iterable[asyncio.Task[V]], *, frozen: bool) -> V:
    """Await the factory, once the key's former tasks have unwound; refuse a result that could change under others."""
    if former:
        await asyncio.wait(former)
    value = await factory()
    if frozen and not isinstance(value, bytes | str):  # a document's megabytes are not hashed to find out that they are
        try:
            hash(value)
        except TypeError as error:
            raise TypeError(f"a {type(value).__name__} may change under its other holders: give copy=") from error
    return value


def _fail[V](waiters: Iterable[asyncio.Future[V]], error: BaseException) -> None:
    """Raise one error in all, and count it as seen: a participant may be cancelled in this very tick."""
    for waiter in waiters:
        if not waiter.done():
            waiter.set_exception(error)
            waiter.exception()


def _positive[N: (int, float)](name: str, value: N) -> N:
    """A limit that lets something in and bounds it; not a number is neither."""
    if not 0 < value < float("inf"):
        raise ValueError(f"{name} must be positive and finite")
    return value
