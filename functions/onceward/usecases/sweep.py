"""The sweeper's pass: find what is due, move it, then wake it; or send a dead letter that was lost.

The rule is ``decide_rescue``; this loop pages, reads the base row (the index is a hint), writes conditionally and
counts. Two sweepers at once: one wins each row. Dying between the move and the message costs one step.
"""

from __future__ import annotations

import asyncio
from dataclasses import dataclass, field

from onceward.domain.change import Fields, RowChange
from onceward.domain.conditions import SeenAt, SeenDue
from onceward.domain.due import all_shards
from onceward.domain.job import Job
from onceward.domain.sweep import Rescue, decide_rescue
from onceward.domain.timing import Timing
from onceward.domain.transaction import Refused
from onceward.errors import InfrastructureError
from onceward.usecases.at_once import at_once
from onceward.usecases.ports import Clock, DueRow, Queue, Store, Wakeup
from onceward.usecases.send_letter import send_letter

PAGE = 100  # rows of one shard in one pass; what is left is older next minute, and first
# Rows of one shard that one pass looks past, since they could not be moved: they stay the oldest until they expire.
MOST_STUCK = 1_000
STUCK = frozenset({"stale", "failed", "bug"})


@dataclass(frozen=True, slots=True, kw_only=True)
class Sweeper:
    """What a pass needs; ``shards``: those it reads, all of them where something is deployed."""

    store: Store
    queue: Queue
    clock: Clock
    timing: Timing
    shards: tuple[str, ...] = all_shards()


@dataclass(slots=True)
class Swept:
    """What a pass did, by kind; ``failed``: store or queue did not answer; ``bug``: a row that nobody could read."""

    counts: dict[str, int] = field(default_factory=dict)

    def count(self, what: str) -> None:
        """One more of these."""
        self.counts[what] = self.counts.get(what, 0) + 1


async def sweep(sweeper: Sweeper) -> Swept:
    """One pass over all shards, the oldest rows first; work is proportional to what is due."""
    swept = Swept()
    await at_once(*(_sweep_shard(sweeper, shard, swept) for shard in sweeper.shards))
    return swept


async def _sweep_shard(sweeper: Sweeper, shard: str, swept: Swept) -> None:
    """One page of one shard; rows that cannot be helped now do not hold up the others, however many are older.

    They are looked past: the next page is read that much longer, and what it shows again is left alone.
    """
    seen: set[DueRow] = set()
    stuck, is_stuck = 0, True
    while is_stuck and stuck < MOST_STUCK:
        limit = PAGE + stuck
        try:
            page = await sweeper.store.due_page(shard, sweeper.clock.now(), limit)
        except InfrastructureError:
            swept.count("failed")
            return
        fresh = [row for row in page if row not in seen]
        seen.update(fresh)
        ends = await asyncio.gather(*(_rescue(sweeper, row) for row in fresh), return_exceptions=True)
        names = [_named(end) for end in ends]
        for name in names:
            swept.count(name)
        left = sum(name in STUCK for name in names)
        stuck += left
        is_stuck = left > 0 and len(page) >= limit


def _named(end: str | BaseException) -> str:
    """What a rescue came to; a row that nobody can read must not hold up the others."""
    match end:
        case str():
            return end
        case InfrastructureError():
            return "failed"
        case Exception():
            return "bug"
        case _:
            raise end


async def _rescue(sweeper: Sweeper, hint: DueRow) -> str:
    """Read the row, decide, move ``due``, then send."""
    job = await sweeper.store.get_job(hint.tenant_id, hint.identity)
    now = sweeper.clock.now()
    if job is None or job.due is None or job.due > now or job.expires_at <= now:
        return "stale"
    rescued = decide_rescue(job, now, sweeper.timing)
    if rescued.rescue is Rescue.DEAD_LETTER:
        return "dead_letter" if await send_letter(sweeper, job) else "failed"
    seen = (SeenAt(job.state, job.epoch, job.seq), SeenDue(job.due, job.run_token))
    change = RowChange(when=seen, set=Fields(due=rescued.due))
    if isinstance(await sweeper.store.update_job(job.tenant_id, job.job_id, change), Refused):
        return "overtaken"
    if rescued.rescue is Rescue.WAKE:
        await _wake(sweeper, job)
    return rescued.rescue.value


async def _wake(sweeper: Sweeper, job: Job) -> None:
    """Send a fresh message: its receive count starts anew."""
    await sweeper.queue.wake(Wakeup(job.tenant_id, job.job_id, job.traceparent))
