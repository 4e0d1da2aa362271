"""Waiting on the virtual loop, for a fraction of what asyncio's ways of it cost: most of a run is waiting.

A waiter that is cancelled, or not rung in time, leaves nothing behind but a future that nobody looks at.
"""

from __future__ import annotations

import asyncio
from typing import Any

from tests.simulation.scheduler import VirtualLoop, resolve


class Bell:
    """A flag that may be set, cleared and waited for with a limit: asyncio's ``Event`` and ``timeout`` in one."""

    __slots__ = ("_is_set", "_waiting")

    def __init__(self) -> None:
        """Not set."""
        self._is_set = False
        self._waiting: list[asyncio.Future[None]] = []

    def is_set(self) -> bool:
        """Whether it is."""
        return self._is_set

    def set(self) -> None:
        """Set it, and let everybody go on who waits."""
        self._is_set = True
        if self._waiting:
            waiting, self._waiting = self._waiting, []
            for future in waiting:
                resolve(future)

    def clear(self) -> None:
        """Take it back."""
        self._is_set = False

    async def wait(self, seconds: float | None = None) -> bool:
        """Wait until it is set, for so many seconds at most; whether it has been set meanwhile."""
        if self._is_set:
            return True
        loop = asyncio.get_running_loop()
        assert isinstance(loop, VirtualLoop)
        future = loop.create_future() if seconds is None else loop.pause(seconds)
        self._waiting.append(future)
        await future
        if future in self._waiting:
            self._waiting.remove(future)
            return False
        return True


async def until_done(task: asyncio.Task[Any], seconds: float | None = None) -> bool:
    """Wait for a task's end, however it ends, for so many seconds at most; whether it has ended."""
    if task.done():
        return True
    bell = Bell()
    task.add_done_callback(lambda _: bell.set())
    await bell.wait(seconds)
    return task.done()
