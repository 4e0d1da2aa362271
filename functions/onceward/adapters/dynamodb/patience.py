"""Try again, a few times and with jitter, when somebody else is writing to the same item.

DynamoDB refuses at once instead of letting writers queue, so a busy account refuses many. Only a write that was
refused for that reason is repeated, and a transaction under its same token: nothing can happen twice.
"""

from __future__ import annotations

from collections.abc import Awaitable, Callable
from dataclasses import dataclass
from datetime import timedelta
from typing import Final

from onceward.errors import StoreBusy
from onceward.usecases.ports import Clock, Ids

# Full jitter below each: 0.6 s on average, 1.3 s at most, which a settle's time budget and a waiting client can spare.
PAUSES: Final = tuple(timedelta(milliseconds=20 * 2**n) for n in range(6))


@dataclass(frozen=True, slots=True)
class Patience:
    """Waits on the clock it is given, for as long as the draw says."""

    clock: Clock
    ids: Ids

    async def through[Result](self, write: Callable[[], Awaitable[Result]]) -> Result:
        """Repeat a write while it is refused as busy; the last refusal is raised."""
        for pause in PAUSES:
            try:
                return await write()
            except StoreBusy:
                await self.clock.sleep(pause * self.ids.jitter())
        return await write()
