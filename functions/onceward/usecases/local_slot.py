"""Wait for one of this process's few slots, and no longer than the wait leaves time for what it is for.

A queue of our own making is no fault of the attempt that stands in it: it is given back, and comes again when the
other jobs, nine large documents say, are through.
"""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager

from onceward.domain.sending import Guard
from onceward.errors import InfrastructureError
from onceward.usecases.ports import Clock

NO_SLOT = Guard.STOP_NO_SLOT


@asynccontextmanager
async def hold_slot(slots: asyncio.Semaphore, clock: Clock, latest: float) -> AsyncIterator[None]:
    """Hold a slot, had by ``latest`` on the monotonic clock.

    Raises ``InfrastructureError`` if it was only the wait that was too long. Whoever comes after ``latest`` has used up
    the time by itself, and waits as long as its attempt lets it.
    """
    began = clock.monotonic()
    patience = latest - began if began < latest else None
    try:
        async with asyncio.timeout(patience):
            await slots.acquire()
    except TimeoutError:
        raise InfrastructureError("no slot came free in time", code=NO_SLOT) from None
    try:
        if began < latest < clock.monotonic():  # the process may have slept through its own timeout
            raise InfrastructureError("the slot came free too late", code=NO_SLOT)
        yield
    finally:
        slots.release()
