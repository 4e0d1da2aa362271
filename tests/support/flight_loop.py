"""A loop for trying ``SingleFlight``: virtual time, asyncio's own order of callbacks, and eager tasks on demand.

``VirtualLoop`` runs plain callbacks before tasks. Here everything ready stands in one row, as in asyncio, so that a
task may run between the end of another and the callback that tells of it: the gap in which single flights go wrong.
"""

from __future__ import annotations

import asyncio
import gc
from collections.abc import Callable, Coroutine
from contextvars import copy_context
from typing import Any, override

from tests.simulation.scheduler import VirtualLoop


class RowLoop(VirtualLoop):
    """One row for all that is ready; tasks may start eagerly."""

    def __init__(self, *, eager: bool) -> None:
        """Start at virtual second 0 with no task."""
        super().__init__()
        self._ready_tasks = self._plain
        self.eager = eager
        self.eager_tasks: list[asyncio.Task[Any]] = []

    @override
    def create_task(self, coro: Any, *, name: object = None, context: Any = None, **_: object) -> asyncio.Task[Any]:
        """Start a task, at once if the loop is eager; Python's eager task factory does just this."""
        if not (self.eager and self.is_running()):
            return super().create_task(coro, name=name, context=context)
        context = copy_context() if context is None else context  # an empty one is false
        task: asyncio.Task[Any] = asyncio.Task(coro, loop=self, context=context, eager_start=True)
        self.eager_tasks.append(task)
        return task

    def left_behind(self) -> list[str]:
        """Tasks that go on, and errors that nobody has looked at."""
        tasks = [*self.tasks, *self.eager_tasks]
        pending = [repr(task) for task in tasks if not task.done()]
        return [*pending, *self.unhandled, *(repr(task) for task in tasks if task.done() and task._log_traceback)]


def fly[T](main: Callable[[RowLoop], Coroutine[Any, Any, T]], *, eager: bool = False, collect: bool = True) -> T:
    """Run ``main`` to its end; a hang, a task left behind or an error that nobody saw fails the test.

    ``collect`` makes the garbage collector tell at once of futures whose error was never retrieved.
    """
    loop = RowLoop(eager=eager)
    try:
        result = loop.run_until_complete(main(loop))
        if collect:
            gc.collect()
        assert loop.left_behind() == []
        return result
    finally:
        loop.close()
