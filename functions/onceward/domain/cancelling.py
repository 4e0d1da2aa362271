"""What a cancel writes: the end at once where nothing can be unknown, else a recorded wish that a closing run obeys.

Cancellation is two facts: the job's and the provider's. The race with a worker is decided by the store: the write is
conditioned on state, epoch and transition count as they were read, and a claim moves them.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from datetime import datetime

from onceward.domain.change import Counts, Fields, RowChange
from onceward.domain.conditions import IsJob, NoCancel, NotExpired, SeenAt
from onceward.domain.job import Job
from onceward.domain.leaving import leave_ops
from onceward.domain.ledger import Entry, Verb, release
from onceward.domain.states import JobState, ProviderCancel, WaitingFor
from onceward.domain.transaction import AddEntry, ChangeAccount, Op, UpdateRow

# Nobody holds the job and no answer to it is on its way; a participant leaves its flight to the others.
QUIET = frozenset({WaitingFor.RETRY, WaitingFor.APPROVAL, WaitingFor.FLIGHT})


@dataclass(frozen=True, slots=True, kw_only=True)
class Cancelling:
    """The write of a cancel: the row's part, and, where the job ends by it, the account's and the flight's."""

    row: UpdateRow
    ledger: tuple[Op, ...] = ()


def may_end_at_once(job: Job) -> bool:
    """Whether no worker holds the job and no call of it is open or unknown."""
    is_quiet = job.state is JobState.QUEUED or (job.state is JobState.WAITING and job.waiting_for in QUIET)
    return is_quiet and not job.open


def decide_cancel(job: Job, now: datetime) -> Cancelling | None:
    """What to write; ``None`` when the job is over or the wish is recorded already."""
    if job.state.is_terminal or job.cancel_requested_at is not None:
        return None
    if may_end_at_once(job):
        return Cancelling(row=_row(job, now, _ended(now)), ledger=(*_released(job, now), *leave_ops(job)))
    return Cancelling(row=_row(job, now, _wish(job, now)))


def said_by_all(said: Iterable[ProviderCancel]) -> ProviderCancel:
    """What a provider said to several wishes, as one word: the least that was said to any of them."""
    order = (ProviderCancel.UNSUPPORTED, ProviderCancel.REQUESTED, ProviderCancel.CONFIRMED)
    return min(said, key=order.index)


def needs_wake(job: Job) -> bool:
    """Whether a message brings the closing run; a running job's worker hears the wish with its next heartbeat."""
    return not job.state.is_terminal and job.state is not JobState.RUNNING


def _wish(job: Job, now: datetime) -> Fields:
    """The recorded wish; a job that nobody holds is due and awake now.

    A review without ``wake_at`` has not had its dead letter: that stays as it is, or the letter would be lost.
    """
    wish = Fields(cancel_requested_at=now)
    if needs_wake(job):
        wish["due"] = now
        if job.wake_at is not None:
            wish["wake_at"] = now
    return wish


def _row(job: Job, now: datetime, fields: Fields) -> UpdateRow:
    """The row's part, if nothing moved since it was read."""
    when = (IsJob(job.job_id), NotExpired(now), NoCancel(), SeenAt(job.state, job.epoch, job.seq))
    return UpdateRow(job.tenant_id, job.job_id, RowChange(when=when, set=fields, add=Counts(seq=1)))


def _ended(now: datetime) -> Fields:
    """A job that is cancelled and has nothing left to do."""
    return Fields(
        state=JobState.CANCELLED,
        waiting_for=None,
        wake_at=None,
        due=None,
        cancel_requested_at=now,
        cancelled_at=now,
        finished_at=now,
    )


def _released(job: Job, now: datetime) -> tuple[Op, ...]:
    """Free what the row reserved."""
    if job.reserved_micro_usd is None:
        return ()
    amount = job.reserved_micro_usd
    entry = Entry(
        tenant_id=job.tenant_id, job_id=job.job_id, epoch=job.epoch, verb=Verb.RELEASE, micro_usd=amount, at=now
    )
    return (ChangeAccount(release(job.tenant_id, amount, was_counted=job.in_flight)), AddEntry(entry))
