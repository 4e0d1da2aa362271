"""What one run did, in figures, for whoever measures."""

from __future__ import annotations

from dataclasses import dataclass, field
from datetime import timedelta

from onceward.domain.claim import Claim
from onceward.domain.job import Job
from onceward.domain.money import Cost
from onceward.usecases.claim_job import Claimed
from onceward.usecases.held_job import HeldJob

FIRST_CLAIM = 2  # a row's ``seq`` is 1 at birth: the claim that makes it 2 is the first thing that happened to it


@dataclass(frozen=True, slots=True, kw_only=True)
class WorkDone:
    """``sent``: requests that left; ``unknown``: calls that became a maybe; ``attempts_before``: the claim.

    ``queue_wait``: from the create to the first claim, on two machines' clocks; ``None`` for every later one.
    ``spent``: what this run added to the job's cost at the providers, in bounds; ``model``: whom it asks.
    """

    seconds: float
    sent: int
    unknown: int
    attempts_before: int
    was_in_review: bool
    queue_wait: timedelta | None = None
    spent: Cost = field(default_factory=Cost.nothing)
    model: str = ""


def work_done(claimed: Claimed, held: HeldJob, seconds: float, model: str) -> WorkDone:
    """The figures of a run that has ended, ``seconds`` after its claim."""
    is_start = claimed.claim is Claim.START
    return WorkDone(
        seconds=seconds,
        sent=len(held.sent),
        unknown=held.became_unknown,
        attempts_before=claimed.job.attempts - int(is_start),
        was_in_review=claimed.job.is_in_review,
        queue_wait=_queue_wait(claimed.job) if is_start else None,
        spent=_added(claimed.job.possible_spent, held.job.possible_spent),
        model=model,
    )


def _added(before: Cost, after: Cost) -> Cost:
    """What came to the cost; a maybe that turned out cheaper than its bound takes nothing back from another hour."""
    low = max(after.low - before.low, 0)
    high = max(after.high - before.high, low)
    return Cost(low=low, high=high, unpriced=after.unpriced and not before.unpriced)


def _queue_wait(job: Job) -> timedelta | None:
    """How long the job was queued, if nobody had claimed it before."""
    if job.seq != FIRST_CLAIM or job.attempt is None:
        return None
    return max(job.attempt.started_at - job.created_at, timedelta(0))
