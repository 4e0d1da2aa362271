"""Flights, factories and participants to try them with."""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable

from onceward.singleflight import SingleFlight

LONG = 60.0


class Works:
    """Factories that count their calls and end when told."""

    def __init__(self, result: object = "value", *, seconds: float = 1.0) -> None:
        """Give ``result`` (or raise it) after ``seconds``."""
        self.calls = 0
        self.cancelled = 0
        self._result = result
        self._seconds = seconds

    async def __call__(self) -> object:
        """Work for a while."""
        self.calls += 1
        try:
            await asyncio.sleep(self._seconds)
        except asyncio.CancelledError:
            self.cancelled += 1
            raise
        if isinstance(self._result, BaseException):
            raise self._result
        return self._result


def flight(**changes: object) -> SingleFlight[str, object]:
    """A flight with room for everyone, unless told otherwise."""
    return SingleFlight(**{"work_timeout": LONG, **changes})  # type: ignore[arg-type]


def ask(
    one: SingleFlight[str, object], factory: Callable[[], Awaitable[object]], *, key: str = "k"
) -> asyncio.Task[object]:
    """A participant in a task of its own."""

    async def participant() -> object:
        return await one.do(key, factory)

    return asyncio.get_running_loop().create_task(participant())


def working(seconds: float = 1.0) -> Callable[[], Awaitable[int]]:
    """A factory that takes that long."""

    async def factory() -> int:
        await asyncio.sleep(seconds)
        return 1

    return factory
