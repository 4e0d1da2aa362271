"""What a due row needs: the sweeper's rule, apart from its loop.

``due`` belongs to the sweeper. It moves ``due`` first, conditioned on what it read, and only then sends: of two
sweepers one wins, and a crash in between costs one step, never the job.
"""

from __future__ import annotations

from dataclasses import dataclass
from datetime import datetime, timedelta
from enum import StrEnum

from onceward.domain.closing import Close
from onceward.domain.job import Job
from onceward.domain.states import JobState
from onceward.domain.timing import Timing

FIRST_STEP = timedelta(minutes=1)
LAST_STEP = timedelta(minutes=10)
LOOKS = (timedelta(minutes=1), timedelta(minutes=10), timedelta(hours=1), timedelta(days=1))  # then daily


class Rescue(StrEnum):
    """What is sent once ``due`` has been moved."""

    NOTHING = "nothing"
    WAKE = "wake"
    DEAD_LETTER = "dead_letter"


@dataclass(frozen=True, slots=True, kw_only=True)
class Rescued:
    """The new ``due`` (``None`` removes it: nothing is left to do) and what to send after that write."""

    due: datetime | None
    rescue: Rescue
    wake_at: datetime | None = None


def decide_rescue(job: Job, now: datetime, timing: Timing) -> Rescued:
    """The rule for one row read from the base table; the index is only a hint."""
    if job.state is JobState.RUNNING:
        lease_over = (job.lease_until or now) + timing.skew_allowance
        if now <= lease_over:
            return Rescued(due=lease_over + timing.skew_allowance, rescue=Rescue.NOTHING)
        return Rescued(due=now + _step(job, now), rescue=Rescue.WAKE)
    if job.state is JobState.NEEDS_REVIEW:
        return _look(job, now)
    if job.state.is_terminal:
        # Only an exhausted job keeps its due past the end: its dead letter may have been lost with the worker.
        return Rescued(due=None, rescue=Rescue.DEAD_LETTER if is_dead(job) else Rescue.NOTHING)
    if job.wake_at is not None and job.wake_at > now:
        return Rescued(due=job.wake_at, rescue=Rescue.NOTHING)
    return Rescued(due=now + _step(job, now), rescue=Rescue.WAKE)


def is_exhausted(job: Job) -> bool:
    """Whether the job ended because no attempt was left: the one end that a redrive may re-open."""
    return job.state is JobState.FAILED and job.error_code == Close.EXHAUSTED


def is_dead(job: Job) -> bool:
    """Whether a dead letter belongs to this job and epoch; an exhausted flight has none: its participants may."""
    return (is_exhausted(job) and not job.is_flight) or job.state is JobState.NEEDS_REVIEW


def next_look(since: datetime, now: datetime, limit: datetime) -> datetime:
    """When a job in review is looked at next: soon at first, then daily, and at its limit at the latest."""
    age = now - since
    step = next((look for look in LOOKS if look > age), LOOKS[-1])
    return min(now + step, limit)


def _look(job: Job, now: datetime) -> Rescued:
    """A review without a ``wake_at`` has had no letter yet; one with it is woken when its look has come."""
    if job.wake_at is None:
        limit = job.review_until or now
        look = next_look(now, now, limit)
        return Rescued(due=look, rescue=Rescue.DEAD_LETTER, wake_at=look)
    if job.wake_at > now:
        return Rescued(due=job.wake_at, rescue=Rescue.NOTHING)
    return Rescued(due=now + _step(job, now), rescue=Rescue.WAKE)


def _step(job: Job, now: datetime) -> timedelta:
    """A step that doubles with the time a row has been overdue, from one to ten minutes."""
    overdue = now - (job.wake_at or job.created_at)
    return min(max(FIRST_STEP, overdue), LAST_STEP)
