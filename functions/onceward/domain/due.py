"""Where a row is found when it is due: the sharded index that belongs to the sweeper."""

from __future__ import annotations

import zlib
from datetime import datetime

from onceward.domain.change import RowChange
from onceward.domain.job import Job
from onceward.domain.names import JobId, is_flight_id
from onceward.domain.states import JobState
from onceward.domain.timing import Timing

SHARDS = 16  # one index partition takes 1,000 writes a second; 500 new jobs a second fill half of one
REVIEW_SHARD = "review"  # reviews wait for weeks: apart, so that pages of live work stay small
FLIGHT_SHARD = "flights"  # a flight is nobody's job: apart, so that open jobs can be counted without them


def shard_of(job_id: JobId, state: JobState) -> str:
    """The index partition of a row: the same for all writers, so that moving ``due`` never moves the shard."""
    if state is JobState.NEEDS_REVIEW:
        return REVIEW_SHARD
    if is_flight_id(job_id):
        return FLIGHT_SHARD
    return f"due#{zlib.crc32(job_id.encode()) % SHARDS:02d}"


def all_shards() -> tuple[str, ...]:
    """Every partition a sweep visits."""
    return (*job_shards(), FLIGHT_SHARD, REVIEW_SHARD)


def job_shards() -> tuple[str, ...]:
    """The partitions of what tenants know as jobs, but for reviews."""
    return tuple(f"due#{shard:02d}" for shard in range(SHARDS))


def shard_of_row(job: Job) -> str:
    """The partition under which this row's ``due`` is written."""
    return shard_of(job.job_id, job.state)


def due_after(wake_at: datetime, timing: Timing) -> datetime:
    """When the sweeper looks at a row that a message should have woken at ``wake_at``."""
    return wake_at + timing.due_grace


def shard_after(change: RowChange, job_id: JobId) -> str | None:
    """The partition a write moves the row to: only one that sets ``due`` with a state does; else it stays."""
    state = change.set.get("state")
    return shard_of(job_id, state) if state is not None and change.set.get("due") is not None else None
