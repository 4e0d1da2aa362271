"""What would become of a dead letter that is moved back: told before anything is moved, by what its job's row says.

The worker decides in the end, by the same facts (``reopening.py``); this is for the person who asks first. What has
moved on stays so: an epoch only rises, and of one epoch only an exhausted job or a review comes back.
"""

from __future__ import annotations

from dataclasses import dataclass
from datetime import datetime
from enum import StrEnum

from onceward.domain.closing import Close
from onceward.domain.job import Job
from onceward.domain.ledger import Account
from onceward.domain.reopening import BUDGET_EXCEEDED
from onceward.domain.states import JobState
from onceward.domain.sweep import is_exhausted
from onceward.domain.timing import EXPIRY_MARGIN


class Fate(StrEnum):
    """``reopens``: a new epoch; ``wakes``: a message that was never handled; ``refused``: a person must act first."""

    REOPENS = "reopens"
    WAKES = "wakes"
    REFUSED = "refused"
    MOVED_ON = "moved_on"
    UNREADABLE = "unreadable"

    @property
    def is_worth_moving(self) -> bool:
        """Whether a redrive moves it; all others stay where they are."""
        return self in (Fate.REOPENS, Fate.WAKES)


@dataclass(frozen=True, slots=True)
class Foretold:
    """The fate, and why in a word of the report."""

    fate: Fate
    why: str


def foretell(job: Job | None, job_id: str, epoch: int | None, account: Account | None, now: datetime) -> Foretold:
    """The fate of a letter of ``epoch``; ``None``: SQS itself moved a wake-up, which carries none."""
    if job is None or job.job_id != job_id or job.expires_at <= now:
        return Foretold(Fate.MOVED_ON, "job_gone")
    if epoch is None:
        is_over = job.state.is_terminal
        return Foretold(Fate.MOVED_ON if is_over else Fate.WAKES, job.state.value if is_over else "not_handled")
    if job.epoch != epoch:
        return Foretold(Fate.MOVED_ON, "another_epoch")
    if job.is_in_review or job.state is JobState.NEEDS_REVIEW:
        return Foretold(Fate.REFUSED, "in_review")
    if not is_exhausted(job):
        return Foretold(Fate.MOVED_ON, job.error_code or job.state.value)
    return _exhausted(job, account, now)


def _exhausted(job: Job, account: Account | None, now: datetime) -> Foretold:
    """A job that a redrive is for, if nothing stands against it."""
    if job.erased_at is not None:
        return Foretold(Fate.MOVED_ON, "erased")
    if job.expires_at - EXPIRY_MARGIN <= now:
        return Foretold(Fate.MOVED_ON, "expires_soon")
    # What it held before is what it will hold again, unless a deploy has changed the tariff: then the worker says so.
    if account is not None and account.available < (job.reserved_micro_usd or 0):
        return Foretold(Fate.REFUSED, BUDGET_EXCEEDED)
    return Foretold(Fate.REOPENS, Close.EXHAUSTED)
