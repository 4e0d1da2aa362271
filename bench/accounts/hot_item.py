"""DynamoDB's rule for a hot item, in virtual time: a transaction that meets another on its item is refused at once.

Behind the real adapter: the same requests, the same cancellation reasons, the same patience. What is not known from
outside is how long a transaction keeps its items; it is a parameter, stated with every figure.
"""

from __future__ import annotations

import asyncio
import random
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from datetime import UTC, datetime, timedelta
from typing import Any

from botocore.exceptions import ClientError

EPOCH = datetime(2026, 1, 1, tzinfo=UTC)


@dataclass
class HotTables:
    """A client of two tables of which only the accounts matter; ``held`` are the accounts in a transaction now."""

    hold: timedelta
    latency: timedelta
    held: set[str] = field(default_factory=set)
    requests: int = 0
    conflicts: int = 0

    async def transact_write_items(self, *, TransactItems: list[Mapping[str, Any]], **_: object) -> dict[str, Any]:  # noqa: N803 - the service's words
        """Refuse at once, or hold the account for as long as a transaction does."""
        self.requests += 1
        await asyncio.sleep(self.latency.total_seconds() / 2)
        accounts = [part["Update"]["Key"]["pk"]["S"] if "Update" in part else None for part in TransactItems]
        mine = {one for one in accounts if one is not None and one.startswith("account#")}
        if mine & self.held:
            self.conflicts += 1
            reasons = [{"Code": "TransactionConflict" if one in self.held else "None"} for one in accounts]
            told: Any = {"Error": {"Code": "TransactionCanceledException"}, "CancellationReasons": reasons}
            raise ClientError(told, "TransactWriteItems")
        self.held |= mine
        await asyncio.sleep(self.hold.total_seconds())
        self.held -= mine
        await asyncio.sleep(self.latency.total_seconds() / 2)
        return {}


class NoThreads:
    """Awaits the client above where the real adapter would block a thread."""

    async def call[Result](self, blocking: Callable[..., Any], /, **arguments: object) -> Result:
        """One request."""
        result: Result = await blocking(**arguments)
        return result


class LoopClock:
    """The virtual loop's time."""

    def now(self) -> datetime:
        """The wall clock."""
        return EPOCH + timedelta(seconds=self.monotonic())

    def monotonic(self) -> float:
        """Virtual seconds."""
        return asyncio.get_running_loop().time()

    async def sleep(self, duration: timedelta) -> None:
        """Wait."""
        await asyncio.sleep(duration.total_seconds())


class DrawnIds:
    """Seeded draws: the same figures each time."""

    def __init__(self, seed: int, *, has_jitter: bool = True) -> None:
        """Without jitter everybody waits equally long."""
        self._draw = random.Random(seed)
        self._has_jitter = has_jitter

    def token(self) -> str:
        """26 base32 characters."""
        return "".join(self._draw.choices("ABCDEFGHIJKLMNOPQRSTUVWXYZ234567", k=26))

    def jitter(self) -> float:
        """A draw from [0, 1), or always nearly 1."""
        return self._draw.random() if self._has_jitter else 0.999
