"""A sweeper's world in memory: rows due or not, requests that are counted, a queue that may lose what is sent."""

from __future__ import annotations

import asyncio
import json
from collections import Counter
from collections.abc import Sequence
from datetime import datetime, timedelta
from typing import Any

from onceward.adapters.memory.queue import MemoryQueue
from onceward.adapters.memory.store import MemoryStore
from onceward.domain.change import RowChange
from onceward.domain.job import Job
from onceward.domain.names import Identity, JobId, TenantId
from onceward.domain.timing import Timing
from onceward.domain.transaction import CreateRow, WriteReply
from onceward.errors import QueueUnavailable, StoreUnavailable
from onceward.usecases.ports import DeadLetter, DueRow, Wakeup
from onceward.usecases.sweep import Sweeper, sweep
from tests.support.builders import IDENTITY, NOW, TENANT, a_job
from tests.support.fakes import FakeClock

MINUTE = timedelta(minutes=1)


class DeafQueue(MemoryQueue):
    """Loses what is sent for the jobs that a test names."""

    deaf_for: Sequence[str] = ()

    async def wake(self, wakeup: Wakeup) -> None:
        """Not for these."""
        if wakeup.job_id in self.deaf_for:
            raise QueueUnavailable("planned")
        await super().wake(wakeup)

    async def bury(self, letter: DeadLetter) -> None:
        """Not for these."""
        if letter.job_id in self.deaf_for:
            raise QueueUnavailable("planned")
        await super().bury(letter)


class CountingStore(MemoryStore):
    """Counts what is asked of it; index pages may be behind, and requests may pause so that others come in between."""

    def __init__(self) -> None:
        """Nothing asked."""
        super().__init__()
        self.asked: Counter[str] = Counter()
        self.stale: tuple[DueRow, ...] = ()
        self.is_down_for: set[str] = set()

    async def due_page(self, shard: str, until: datetime, limit: int) -> tuple[DueRow, ...]:
        """One page, and what an index that is behind still shows."""
        self.asked["page"] += 1
        await asyncio.sleep(0)
        return (*self.stale[:1], *await super().due_page(shard, until, limit))

    async def get_job(self, tenant_id: TenantId, identity: Identity) -> Job | None:
        """One row."""
        self.asked["row"] += 1
        await asyncio.sleep(0)
        if identity in self.is_down_for:
            raise StoreUnavailable("planned")
        return await super().get_job(tenant_id, identity)

    async def update_job(self, tenant_id: TenantId, job_id: JobId, change: RowChange) -> WriteReply:
        """One write."""
        self.asked["write"] += 1
        await asyncio.sleep(0)
        return await super().update_job(tenant_id, job_id, change)


class SweepWorld:
    """Some jobs, a clock, and what the sweeper sends."""

    def __init__(self) -> None:
        """Empty."""
        self.clock = FakeClock()
        self.store = CountingStore()
        self.queue = DeafQueue(self.clock, visibility=MINUTE, max_receive_count=50)

    async def keep(self, *jobs: Job) -> None:
        """Put rows there."""
        await self.store.transact([CreateRow(job, NOW) for job in jobs], f"keep-{len(self.store.tokens)}")

    async def sweep(self) -> dict[str, int]:
        """One pass."""
        deps = Sweeper(store=self.store, queue=self.queue, clock=self.clock, timing=Timing())
        return (await sweep(deps)).counts

    def woken(self) -> Counter[str]:
        """How often each job has been woken since the last look."""
        received = self.queue.receive(1_000)
        for one in received:
            self.queue.acknowledge(one.receipt)
        return Counter(json.loads(one.body)["job_id"] for one in received)

    def letters(self) -> Counter[str]:
        """How many letters each job has."""
        return Counter(json.loads(body)["job_id"] for body in self.queue.dead_letters)

    def row(self, job: Job) -> Job:
        """The row as it is now."""
        return self.store.rows[TENANT, job.identity]


def jobs(count: int, **fields: Any) -> list[Job]:
    """So many jobs, each with an id of its own."""
    letters = "ABCDEFGHIJ"
    names = ("".join(letters[int(digit)] for digit in f"{number:05d}") for number in range(count))
    return [a_job(job_id=JobId(f"{name}{IDENTITY[5:]}-ABCDEFGH"), **fields) for name in names]
