"""The wrapper that puts a boundary around every awaited call of a port object."""

from __future__ import annotations

import inspect
from collections.abc import Callable, Coroutine, Iterator
from contextlib import contextmanager, nullcontext
from functools import cache, partial
from typing import Any, cast

from onceward.domain.recovery import LookupReply, PollReply
from onceward.domain.retry import ErrorClass
from onceward.domain.states import ProviderCancel
from onceward.errors import (
    BlobUnavailable,
    CallFailure,
    InfrastructureError,
    QueueUnavailable,
    StoreBusy,
    StoreUnavailable,
)
from tests.simulation.faults import Fault
from tests.simulation.process import Crossing, Process

ERRORS: dict[str, type[InfrastructureError]] = {
    "store": StoreUnavailable,
    "queue": QueueUnavailable,
    "blob": BlobUnavailable,
}


EMPTY: dict[str, Any] = {"store.due_page": (), "store.count_due": 0}  # what a shard with nothing in it answers
PAGES = frozenset(name.partition(".")[2] for name in EMPTY)

type Method = Callable[..., Coroutine[Any, Any, Any]]


class Guarded:
    """A port object as one process sees it: awaited methods are boundaries, everything else is the object's own."""

    def __init__(
        self, port: object, name: str, process: Process, freeze_seconds: float, seen: Callable[[Process, str], None]
    ) -> None:
        """``seen`` is told after every effect, before anything else happens: the place for invariants."""
        self._port = port
        self._name = name
        self._process = process
        self._freeze_seconds = freeze_seconds
        self._seen = seen

    def __getattr__(self, attribute: str) -> Any:
        """Pass on what is no method of the port's class that is awaited; wrap what is awaited all the same."""
        value = getattr(self._port, attribute)
        if not _is_awaited(getattr(value, "__func__", value)):
            return value
        return partial(_boundary(f"{self._name}.{attribute}"), self)

    async def _page(self, name: str, method: Method, *args: Any, **options: Any) -> Any:
        """A call of one shard of the index, unless it is one more with nothing on it."""
        if await self._stands_for_itself(method(*args, **options)):
            return EMPTY[name]
        return await self._call(name, method, *args, **options)

    async def _call(self, name: str, method: Method, *args: Any, **options: Any) -> Any:
        process = self._process
        fault = await process.come_to(name)
        if fault is None:
            reply = await method(*args, **options)
            self._seen(process, name)
            process.check_alive()
            return reply

        async def effect() -> Any:
            with self._index_of_old() if process.is_reading_stale else nullcontext():
                reply = await method(*args, **options)
            self._seen(process, name)
            return reply

        return await process.suffer(fault, Crossing(name, effect, partial(fail, name), self._freeze_seconds))

    @contextmanager
    def _index_of_old(self) -> Iterator[None]:
        """Let the indexes answer as they were; a store in memory waits for nothing, so no call comes between."""
        index, self._process.is_reading_stale = self._port.index, False  # type: ignore[attr-defined]
        index.is_old = True
        yield
        index.is_old = False

    async def _stands_for_itself(self, answer: Coroutine[Any, Any, Any]) -> bool:
        """Whether an answer is one more of nothing: of the 17 shards that a pass reads, one such stands for all."""
        if await answer:
            return False
        stands, self._process.has_read_nothing = self._process.has_read_nothing, True
        return stands


@cache
def _is_awaited(function: Any) -> bool:
    return inspect.iscoroutinefunction(function)


@cache
def _boundary(name: str) -> Callable[..., Coroutine[Any, Any, Any]]:
    """The method that crosses the boundary of this name: port and method."""
    attribute = name.partition(".")[2]
    call = Guarded._page if attribute in PAGES else Guarded._call

    def crossing(self: Guarded, *args: Any, **options: Any) -> Coroutine[Any, Any, Any]:
        return call(self, name, getattr(self._port, attribute), *args, **options)

    return crossing


@cache
def _guard_of(port: type, name: str) -> type[Guarded]:
    """The class of what guards such ports: made once, since each process of each run makes objects of it."""
    awaited = [one for one in dir(port) if one[0] != "_" and _is_awaited(getattr(port, one))]
    return type("Guarded", (Guarded,), {one: _boundary(f"{name}.{one}") for one in awaited})


def guarded[P](port: P, name: str, process: Process, freeze_seconds: float, seen: Callable[[Process, str], None]) -> P:
    """``port`` with a boundary around every awaited call; it keeps its type, since it keeps its methods."""
    guard = _guard_of(type(port), name)  # type: ignore[arg-type]  # a class can be hashed
    return cast("P", guard(port, name, process, freeze_seconds, seen))


def fail(name: str, fault: Fault) -> Any:
    """What the port's adapter does for a call that came to nothing, or whose answer was not heard."""
    if name == "provider.lookup":
        return LookupReply.UNREACHABLE
    if name == "provider.poll":
        return PollReply.UNREACHABLE
    if name == "provider.stop":
        return ProviderCancel.REQUESTED
    if name == "provider.forget":
        return None
    if fault is Fault.CONFLICT:
        raise StoreBusy("planned")
    if name != "provider.generate":
        raise ERRORS[name.partition(".")[0]]("planned")
    if fault is Fault.THROTTLE:
        raise CallFailure("planned", code="http_429", error_class=ErrorClass.RATE_LIMITED, was_sent=True)
    if fault is Fault.LOST_ANSWER:
        raise CallFailure("planned", code="timeout", error_class=ErrorClass.OUTCOME_UNKNOWN, was_sent=True)
    raise CallFailure("planned", code="connect_failed", error_class=ErrorClass.TRANSIENT, was_sent=False)
