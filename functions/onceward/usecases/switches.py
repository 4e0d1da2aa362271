"""What one process knows of the kill switches: read before a send unless it was read a few seconds ago."""

from __future__ import annotations

import asyncio
from datetime import datetime

from onceward.domain.switching import KNOWN_FOR, is_switched_off
from onceward.usecases.ports import Clock, Store


class Switches:
    """The switches as they were last read; belongs to an environment's one loop, like its semaphores."""

    def __init__(self, store: Store, clock: Clock) -> None:
        """Nothing has been read yet."""
        self._store = store
        self._clock = clock
        self._lock = asyncio.Lock()
        self._off: frozenset[str] = frozenset()
        self._read_at: tuple[datetime, float] | None = None

    async def refresh(self) -> None:
        """Read them if what is known is too old by either clock: one may stand still while a process is frozen.

        Raises ``InfrastructureError``: who cannot know whether it may send does not send.
        """
        async with self._lock:
            if not self._is_known():
                asked_at = (self._clock.now(), self._clock.monotonic())
                self._off = await self._store.switched_off()
                self._read_at = asked_at

    def is_off(self, kind: str, provider: str) -> bool:
        """Whether a send may not be made, by what was read last."""
        return is_switched_off(self._off, kind, provider)

    def _is_known(self) -> bool:
        """Whether the last reading is young on both clocks."""
        if self._read_at is None:
            return False
        read_at, monotonic = self._read_at
        wall = self._clock.now() - read_at
        passed = self._clock.monotonic() - monotonic
        return abs(wall) < KNOWN_FOR and passed < KNOWN_FOR.total_seconds()
