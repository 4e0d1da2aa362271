"""Approving an action: it waits, asleep until its deadline, and nothing may be sent before a person has said so.

The approval names the fingerprint of the arguments that the person saw: another payload under the same operation is a
conflict already at the door, so what is approved is what is sent. The write moves the job into the queue, conditioned
on the row as it was read: of an approval, a cancel and the deadline's closing run one wins.
"""

from __future__ import annotations

from dataclasses import dataclass
from datetime import datetime

from onceward.domain.action_records import ActionWord, Word
from onceward.domain.change import Counts, Fields, RowChange
from onceward.domain.conditions import BeforeDeadline, IsJob, NoCancel, NotExpired, SeenAt
from onceward.domain.due import due_after
from onceward.domain.job import Job
from onceward.domain.policy import KindPolicy
from onceward.domain.states import JobState, WaitingFor
from onceward.domain.timing import Timing
from onceward.domain.transaction import Op, PutCold, UpdateRow


@dataclass(frozen=True, slots=True, kw_only=True)
class Approval:
    """Who approves what, when and why."""

    by: str
    why: str
    fingerprint: str
    now: datetime
    timing: Timing


def first_standing(policy: KindPolicy, deadline_at: datetime, now: datetime, timing: Timing) -> Fields:
    """How an epoch begins: in the queue, due when its message should long have been delivered, or asleep for a person.

    What nobody approves is ended by a closing run at its deadline. A new epoch is approved anew: the last one may have
    ended without an approval, and its redrive or reset must not stand in for one.
    """
    if policy.requires_approval:
        due = due_after(deadline_at, timing)
        return Fields(state=JobState.WAITING, waiting_for=WaitingFor.APPROVAL, wake_at=deadline_at, due=due)
    return Fields(state=JobState.QUEUED, waiting_for=None, wake_at=None, due=due_after(now, timing))


def is_awaiting(job: Job) -> bool:
    """Whether a person's approval is what the job waits for."""
    return job.state is JobState.WAITING and job.waiting_for is WaitingFor.APPROVAL


def approve_ops(seen: Job, approval: Approval) -> tuple[Op, ...]:
    """The one transaction: the row into the queue, due at once, and the record of who said so."""
    queued = Fields(state=JobState.QUEUED, waiting_for=None, wake_at=None, due=due_after(approval.now, approval.timing))
    when = (
        IsJob(seen.job_id),
        NotExpired(approval.now),
        BeforeDeadline(approval.now),
        NoCancel(),
        SeenAt(seen.state, seen.epoch, seen.seq),
    )
    record = ActionWord(
        tenant_id=seen.tenant_id,
        job_id=seen.job_id,
        epoch=seen.epoch,
        word=Word.APPROVE,
        by=approval.by,
        at=approval.now,
        why=approval.why,
        fingerprint=approval.fingerprint,
    )
    change = RowChange(when=when, set=queued, add=Counts(seq=1))
    return (UpdateRow(seen.tenant_id, seen.job_id, change), PutCold(record, seen.expires_at))
