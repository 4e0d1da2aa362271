"""What runs on the virtual loop: lanes, tasks that know theirs, and callbacks that are ready."""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Coroutine
from contextvars import Context, ContextVar
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from tests.simulation.scheduler import VirtualLoop


class Lane:
    """One thread of one process: what it has started, and what waits for its thaw."""

    def __init__(self, name: str) -> None:
        """Start thawed and empty."""
        self.name = name
        self.tasks: list[asyncio.Task[Any]] = []
        self.frozen_until: float | None = None
        self.parked: list[Ready] = []


LANE: ContextVar[Lane | None] = ContextVar("LANE", default=None)


class Ready:
    """A callback that is ready, or will be: asyncio's handle, with the lane that it runs in."""

    __slots__ = ("args", "callback", "context", "is_cancelled", "lane", "task")

    def __init__(
        self,
        callback: Callable[..., object],
        args: tuple[Any, ...],
        context: Context,
        lane: Lane | None,
        task: OrderedTask[Any] | None = None,
    ) -> None:
        """``task``: whose step it is, if it is one, so that the draw has a say in its turn."""
        self.callback = callback
        self.args = args
        self.context = context
        self.lane = lane
        self.task = task
        self.is_cancelled = False

    def cancel(self) -> None:
        """Let it never run."""
        self.is_cancelled = True

    def cancelled(self) -> bool:
        """Whether it never will."""
        return self.is_cancelled

    done = cancelled  # as a future's: no time needs to pass for it


class OrderedTask[T](asyncio.Task[T]):
    """A task whose hash is its number: sets of tasks (TaskGroup, wait) then iterate alike in every run."""

    def __init__(
        self,
        coro: Coroutine[Any, Any, T],
        loop: VirtualLoop,
        name: str | None,
        context: Context,
    ) -> None:
        """Take the next number of its loop; it lives in the lane of its context."""
        loop.tasks.append(self)
        self._number = len(loop.tasks)
        self.lane = context.get(LANE)
        super().__init__(coro, loop=loop, name=name or f"task-{self._number}", context=context)

    def __hash__(self) -> int:
        """The number, not the address."""
        return self._number
