"""Resolving a review: a person's verdict on an outcome that nobody knows, as one transaction and one record.

The write is conditioned on state, epoch and transition count as they were read, so of a verdict, a look that runs and
a second person one wins. A verdict ends its epoch, so there is one record per epoch: it says who, when and why, and
what the row was before and after. The same verdict asked again finds that record and is answered the same.

- *accept*: the given result counts, and is charged by the tariff like any other.
- *fail*: the job ends without a result; what was held is released. Where a cancel is recorded it ends cancelled.
- *retry*: a new epoch, at the risk of paying twice. The reservation is carried over, accepted answers stay, and a call
  that is still unknown keeps its downstream key: a target that dedupes then computes nothing again.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from datetime import datetime
from enum import StrEnum

from onceward.domain.change import Counts, Fields, RowChange
from onceward.domain.conditions import IsJob, IsKnown, KindLimit, NotExpired, SeenAt
from onceward.domain.due import due_after
from onceward.domain.ending import Verdict, flight_ops, ledger_ops, settled_fields
from onceward.domain.job import FLIGHT_SCHEMA, Job, ResultRef
from onceward.domain.leaving import is_participant
from onceward.domain.ledger import Entry, Verb
from onceward.domain.names import RunToken
from onceward.domain.policy import KindPolicy
from onceward.domain.records import Answer, Result, ReviewRecord, standing_of
from onceward.domain.recovery import from_stored_answers
from onceward.domain.states import JobState, Resolution
from onceward.domain.timing import EXPIRY_MARGIN, Timing
from onceward.domain.transaction import AddEntry, Op, PutCold, UpdateRow

REVIEW_FAILED = "review_failed"  # the error code of a job that a person failed
PERSONS_ATTEMPT = 0  # whose result a person gave; workers' attempts begin at 1


class Unresolvable(StrEnum):
    """Why a verdict cannot be taken."""

    NOT_IN_REVIEW = "not_in_review"
    LOOKING = "review_looking"
    RESOLVED = "review_resolved"
    CANCELLED = "cancel_recorded"
    ANSWERED = "answer_arrived"
    UNKNOWN_CODE = "unknown_code"
    SHARED = "review_shared"


@dataclass(frozen=True, slots=True, kw_only=True)
class Wish:
    """A verdict on the review of ``epoch``; ``digest`` names the result that an accept brings."""

    resolution: Resolution
    epoch: int
    by: str
    why: str
    digest: str | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class Resolving:
    """When, under which token (made before the write), by which rules and for which charge a verdict is written."""

    token: RunToken
    now: datetime
    timing: Timing
    policy: KindPolicy
    charge_micro_usd: int = 0


@dataclass(frozen=True, slots=True, kw_only=True)
class Written:
    """A verdict as one transaction, the row after it, and its record."""

    ops: tuple[Op, ...]
    after: Job
    record: ReviewRecord


def decide_resolve(
    seen: Job,
    record: ReviewRecord | None,
    answers: Sequence[Answer],
    wish: Wish,
    limits: tuple[KindLimit, ...],
    now: datetime,
) -> ReviewRecord | Unresolvable | None:
    """``None``: the verdict may be written; a record: this very verdict was; else why it cannot be.

    ``record`` is that of the wished epoch's review. What has arrived by itself goes before any person's guess.
    """
    if record is not None:
        is_same = (record.resolution, record.digest) == (wish.resolution, wish.digest)
        return record if is_same else Unresolvable.RESOLVED
    if seen.epoch != wish.epoch or not seen.is_in_review or seen.expires_at - EXPIRY_MARGIN <= now:
        return Unresolvable.NOT_IN_REVIEW
    if is_participant(seen):  # one flight, one review, one decision
        return Unresolvable.SHARED
    if seen.state is not JobState.NEEDS_REVIEW:
        return Unresolvable.LOOKING
    if has_arrived(seen, answers):
        return Unresolvable.ANSWERED
    if not IsKnown(limits, FLIGHT_SCHEMA).holds(seen):
        return Unresolvable.UNKNOWN_CODE
    if seen.cancel_requested_at is not None and wish.resolution is not Resolution.FAIL:
        return Unresolvable.CANCELLED
    return None


def review_since(job: Job) -> datetime | None:
    """When a job in review went there, which is when its last attempt ended; ``None``: no review, or no attempt."""
    return None if not job.is_in_review or job.attempt is None else job.attempt.ended_at


def has_arrived(job: Job, answers: Sequence[Answer]) -> bool:
    """Whether an open call has an answer by now: the next look ends its maybe."""
    return any(from_stored_answers(call, answers) is not None for call in job.open)


def hasten_change(seen: Job, now: datetime) -> RowChange | None:
    """Let the next look come now; ``None`` while the review's dead letter is still to be sent, which comes first."""
    if seen.wake_at is None:
        return None
    when = (IsJob(seen.job_id), SeenAt(seen.state, seen.epoch, seen.seq))
    return RowChange(when=when, set=Fields(wake_at=now, due=now))


def resolve_ops(seen: Job, wish: Wish, result: Result | None, how: Resolving) -> Written:
    """The one transaction: row, record, result, and what becomes of the money.

    The last attempt has been put as its item before, with the calls that leave the row now.
    """
    change, ledger = _parts(seen, wish, result, how)
    after = change.apply(seen)
    record = ReviewRecord(
        tenant_id=seen.tenant_id,
        job_id=seen.job_id,
        epoch=seen.epoch,
        resolution=wish.resolution,
        by=wish.by,
        at=how.now,
        why=wish.why,
        digest=wish.digest,
        before=standing_of(seen),
        after=standing_of(after),
    )
    cold = [one for one in (record, result) if one is not None]
    row = UpdateRow(seen.tenant_id, seen.job_id, change)
    ops = (row, *(PutCold(one, seen.expires_at) for one in cold), *ledger)
    return Written(ops=ops, after=after, record=record)


def _parts(seen: Job, wish: Wish, result: Result | None, how: Resolving) -> tuple[RowChange, tuple[Op, ...]]:
    """The row's change and the account's part."""
    if wish.resolution is Resolution.RETRY:
        return _change(seen, how, _reopened(seen, how)), _carried(seen, how.now)
    verdict = _verdict(seen, result, how.charge_micro_usd)
    ops = (*ledger_ops(seen, verdict, how.now), *flight_ops(seen, verdict))
    return _change(seen, how, settled_fields(seen, verdict, how.now)), ops


def _verdict(seen: Job, result: Result | None, charge: int) -> Verdict:
    """How the job ends."""
    if result is not None:
        ref = ResultRef(epoch=result.epoch, attempt=result.attempt)
        return Verdict(state=JobState.SUCCEEDED, result=ref, charge_micro_usd=charge)
    if seen.cancel_requested_at is not None:
        return Verdict(state=JobState.CANCELLED, error_code="cancelled")
    return Verdict(state=JobState.FAILED, error_code=REVIEW_FAILED)


def _reopened(seen: Job, how: Resolving) -> Fields:
    """Queued and due in the next epoch; the open calls go with it, and with them their downstream keys."""
    return Fields(
        state=JobState.QUEUED,
        due=due_after(how.now, how.timing),
        epoch=seen.epoch + 1,
        attempts=0,
        attempt=None,
        deadline_at=min(how.now + how.policy.deadline, seen.expires_at - EXPIRY_MARGIN),
        waiting_for=None,
        wake_at=None,
        review_until=None,
        error_code=None,
    )


def _change(seen: Job, how: Resolving, fields: Fields) -> RowChange:
    """Under our token, so that whoever held the job before knows the row as not theirs."""
    fields["run_token"] = how.token
    fields["lost"] = 0
    when = (IsJob(seen.job_id), NotExpired(how.now), SeenAt(seen.state, seen.epoch, seen.seq))
    return RowChange(when=when, set=fields, add=Counts(seq=1))


def _carried(seen: Job, now: datetime) -> tuple[Op, ...]:
    """The reservation is the next epoch's; the account does not move."""
    held = seen.reserved_micro_usd
    if held is None:
        return ()
    entry = Entry(
        tenant_id=seen.tenant_id, job_id=seen.job_id, epoch=seen.epoch + 1, verb=Verb.CARRY, micro_usd=held, at=now
    )
    return (AddEntry(entry),)
