"""The tables of a simulated deployment: the store in memory, whose indexes can lag behind as DynamoDB's do."""

from __future__ import annotations

from collections import deque
from collections.abc import Callable
from dataclasses import dataclass, field
from datetime import datetime
from typing import Any

from onceward.adapters.memory.store import MemoryStore
from onceward.domain.job import Job
from onceward.domain.names import TenantId
from onceward.domain.transaction import CreateRow, Op
from onceward.usecases.ports import DueRow, Ids, Page, Queue, Store
from tests.simulation.checks.promised import wall
from tests.simulation.events import SimQueue
from tests.simulation.faults import Fault
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
    """A store in memory with a past; ``gone``: the rows that are no more, deleted or followed by another life."""

    def __init__(self, loop: VirtualLoop) -> None:
        """Start empty."""
        super().__init__()
        self.index = Index(loop)
        self.gone: list[Job] = []

    def seen_by(self, process: Process, ids: Ids, seen: Seen) -> Store | None:
        """How a process reaches these tables; ``None``: as a port in memory."""
        return None

    def queue_seen_by(self, process: Process, queue: SimQueue, seen: Seen) -> Queue | None:
        """How a process reaches the queues; ``None``: as a port in memory."""
        return None

    def expire(self, letter: Fault) -> None:
        """Delete what is past its time, as TTL may at any moment from then on: rows, or what lies beside them."""
        now = wall(self.index.loop.time())
        over = {place: row for place, row in self.rows.items() if row.expires_at <= now}
        ids = {row.job_id for row in (*over.values(), *self.gone)}
        if letter is Fault.TTL_ROWS:
            self.gone += over.values()
            for place in over:
                del self.rows[place], self.shards[place]
            return
        for owner in [owner for owner in self.items if owner[1] in ids]:
            del self.items[owner]
        for key in [key for key, flight in self.flights.items() if flight in ids]:
            del self.flights[key]

    def _apply(self, op: Op) -> None:
        """Write, and let the indexes take note."""
        if isinstance(op, CreateRow) and (before := self.rows.get((op.job.tenant_id, op.job.identity))) is not None:
            self.gone.append(before)
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
