"""Synchronous handlers on the virtual loop.

A handler is a plain function: it runs a story to its end on the loop of its environment, and then goes on. Here all
share one loop that may not stand still meanwhile, so a handler lives in a greenlet of its own: where it runs a story it
switches to the task that called it, which awaits the story as any other code would, and switches back with its end.
A task that is frozen, cancelled or killed there is the handler frozen, cancelled or killed: what ends the story is
raised where the handler waits for it.
"""

from __future__ import annotations

from collections.abc import Callable, Coroutine
from typing import Any, cast

from greenlet import getcurrent, greenlet

type Run = Callable[[Coroutine[Any, Any, Any]], Any]


async def across[T](handler: Callable[[Run], T]) -> T:
    """Call a handler that runs its stories by what it is given; raises what it raises."""
    home = getcurrent()
    side = greenlet(handler)
    asked = side.switch(home.switch)
    while not side.dead:
        try:
            end = await asked
        except BaseException as error:  # noqa: BLE001  # a crash too: it is the handler's own
            asked = side.throw(error)
        else:
            asked = side.switch(end)
    return cast("T", asked)
