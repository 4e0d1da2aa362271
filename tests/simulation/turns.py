"""Whose turn it is to make a port call, when a schedule and not the clock decides."""

from __future__ import annotations

import asyncio
from dataclasses import dataclass, field

type Preemptions = tuple[tuple[int, int], ...]  # (which choice of the run, which of those who wait instead)


@dataclass(slots=True)
class Turns:
    """Who waits for a turn, who had the last one, and how many could have had each."""

    preemptions: Preemptions = ()
    choices: list[int] = field(default_factory=list)
    _waiting: list[tuple[str, asyncio.Future[None]]] = field(default_factory=list)
    _last: str = ""

    def wait(self, process: str, loop: asyncio.AbstractEventLoop) -> asyncio.Future[None]:
        """A turn of this process, some time."""
        future = asyncio.Future[None](loop=loop)
        self._waiting.append((process, future))
        return future

    def give(self) -> bool:
        """Let one of those who wait go on; ``False``: nobody does, and time may pass."""
        self._waiting = [(name, future) for name, future in self._waiting if not future.done()]
        if not self._waiting:
            return False
        ordered = sorted(self._waiting, key=lambda one: one[0] != self._last)  # stable: else by who came first
        number = len(self.choices)
        self.choices.append(len(ordered))
        chosen = next((which for at, which in self.preemptions if at == number), 0)
        self._last, future = ordered[chosen]
        future.set_result(None)
        return True
