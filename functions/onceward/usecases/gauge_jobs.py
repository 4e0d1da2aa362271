"""Gauge how much is open: jobs that have not ended, reviews, and how long the oldest review has waited.

Every job that has neither ended nor a person's review before it is in the due index (invariant 14), and reviews have a
partition of their own, so entries are counted and no job is read but the reviews. So have flights: their participants
are the jobs. The index may be a moment behind.
"""

from __future__ import annotations

from dataclasses import dataclass
from datetime import datetime, timedelta

from onceward.domain.due import REVIEW_SHARD, job_shards
from onceward.domain.job import Job
from onceward.domain.states import JobState
from onceward.domain.timing import JOB_LIFE, Timing
from onceward.errors import InfrastructureError
from onceward.usecases.at_once import at_once
from onceward.usecases.ports import DueRow
from onceward.usecases.sweep import Sweeper

EVERY_MINUTES = 5  # of the sweeper's passes: alarms look at five minutes, and each gauge reads the whole index
MOST_REVIEWS = 100  # looked at for their age; the count is of all


@dataclass(frozen=True, slots=True, kw_only=True)
class Gauge:
    """``open``: queued, running or waiting; an exhausted job whose letter is still to be sent is among them."""

    open: int = 0
    in_review: int = 0
    oldest_review: timedelta = timedelta(0)


def is_time_to_gauge(now: datetime) -> bool:
    """Whether this minute's pass is one that counts."""
    return now.minute % EVERY_MINUTES == 0


async def gauge_jobs(world: Sweeper) -> Gauge:
    """Count; raises ``InfrastructureError``."""
    counts = await at_once(*(world.store.count_due(shard) for shard in (*job_shards(), REVIEW_SHARD)))
    return Gauge(open=sum(counts[:-1]), in_review=counts[-1], oldest_review=await _oldest(world, counts[-1]))


async def _oldest(world: Sweeper, count: int) -> timedelta:
    """The age of the oldest of at most so many reviews."""
    if not count:
        return timedelta(0)
    now = world.clock.now()
    page = await world.store.due_page(REVIEW_SHARD, now + JOB_LIFE, MOST_REVIEWS)
    ages = await at_once(*(_age(world, row, now) for row in page))
    return max((age for age in ages if age is not None), default=timedelta(0))


async def _age(world: Sweeper, row: DueRow, now: datetime) -> timedelta | None:
    """How long a review has waited; ``None``: it is none any more, or this code cannot read it."""
    try:
        job = await world.store.get_job(row.tenant_id, row.identity)
    except InfrastructureError:
        raise
    except Exception:  # noqa: BLE001  # the figures of all others must not hang on one row
        return None
    if job is None or job.state is not JobState.NEEDS_REVIEW:
        return None
    return max(now - _since(job, world.timing), timedelta(0))


def _since(job: Job, timing: Timing) -> datetime:
    """When the review began: when its attempt ended, or, by its limit, as long ago as a review may last."""
    if job.attempt is not None and job.attempt.ended_at is not None:
        return job.attempt.ended_at
    return job.created_at if job.review_until is None else job.review_until - timing.review_limit
