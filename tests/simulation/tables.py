"""The tables of a simulated deployment: the store in memory, whose indexes can lag behind as DynamoDB's do."""

from __future__ import annotations

from collections import deque
from collections.abc import Callable
from dataclasses import dataclass, field
from datetime import datetime
from typing import Any

from onceward.adapters.memory.store import MemoryStore
from onceward.domain.names import TenantId
from onceward.domain.transaction import Op
from onceward.usecases.ports import DueRow, Ids, Page, Queue, Store
from tests.simulation.events import SimQueue
from tests.simulation.process import Process
from tests.simulation.scheduler import VirtualLoop

type Seen = Callable[[Process, str], None]

LAG = 60.0  # virtual seconds an index is behind at its worst; on AWS it is milliseconds, and nothing is promised


@dataclass(slots=True)
class Index:
    """What the indexes knew, and whether they answer by it just now."""

    loop: VirtualLoop
    past: deque[tuple[float, dict[Any, Any]]] = field(default_factory=deque)
    is_old: bool = False

    def note(self, rows: dict[Any, Any]) -> None:
        """Remember the rows as they are after a write; of what is older than the lag the newest is enough."""
        now = self.loop.time()
        self.past.append((now, dict(rows)))
        while len(self.past) > 1 and self.past[1][0] <= now - LAG:
            self.past.popleft()

    def rows(self) -> dict[Any, Any]:
        """The rows as they were one lag ago."""
        then = self.loop.time() - LAG
        return next((rows for at, rows in reversed(self.past) if at <= then), {})


class SimStore(MemoryStore):
    """A store in memory with a past."""

    def __init__(self, loop: VirtualLoop) -> None:
        """Start empty."""
        super().__init__()
        self.index = Index(loop)

    def seen_by(self, process: Process, ids: Ids, seen: Seen) -> Store | None:
        """How a process reaches these tables; ``None``: as a port in memory."""
        return None

    def queue_seen_by(self, process: Process, queue: SimQueue, seen: Seen) -> Queue | None:
        """How a process reaches the queues; ``None``: as a port in memory."""
        return None

    def _apply(self, op: Op) -> None:
        """Write, and let the indexes take note."""
        super()._apply(op)
        self.index.note(self.rows)

    async def due_page(self, shard: str, until: datetime, limit: int) -> tuple[DueRow, ...]:
        """A page; an old one is of all shards, since one page stands for the seventeen of its pass."""
        if not self.index.is_old:
            return await super().due_page(shard, until, limit)
        rows = self.index.rows()
        due = [(row.due, place) for place, row in rows.items() if row.due is not None and row.due <= until]
        return tuple(DueRow(tenant_id, identity, at) for at, (tenant_id, identity) in sorted(due)[:limit])

    async def tenant_page(self, tenant_id: TenantId, start: str | None, limit: int) -> Page:
        """A page of the jobs that the index knows."""
        if not self.index.is_old:
            return await super().tenant_page(tenant_id, start, limit)
        return await MemoryStore(rows=self.index.rows()).tenant_page(tenant_id, start, limit)
