"""What a create writes, and what a refused create means.

The row, its input and the reservation are one transaction: no job without its money, no money without its job. The
token is made before the write; a row that carries it is our own write, whatever the store's answer said.
"""

from __future__ import annotations

from dataclasses import dataclass
from datetime import datetime, timedelta

from onceward.domain.approving import first_standing
from onceward.domain.change import RowChange
from onceward.domain.job import Job
from onceward.domain.ledger import Account, Entry, Verb, reserve
from onceward.domain.names import CreateToken, Fingerprint, Identity, TenantId, job_id_of
from onceward.domain.policy import KindPolicy
from onceward.domain.records import Input
from onceward.domain.states import JobState
from onceward.domain.timing import EXPIRY_MARGIN, JOB_LIFE, Timing
from onceward.domain.transaction import AddEntry, ChangeAccount, CreateRow, Op, PutCold

FIRST_EPOCH = 1
DISPATCH_PATIENCE = timedelta(seconds=5)  # a message needs less than this from send to claim; a doubled one is harmless


@dataclass(frozen=True, slots=True, kw_only=True)
class Birth:
    """Who creates what, and when."""

    tenant_id: TenantId
    identity: Identity
    token: CreateToken
    fingerprint: Fingerprint
    created_by: str
    traceparent: str | None
    now: datetime


def new_job(birth: Birth, policy: KindPolicy, timing: Timing, account: Account | None) -> Job:
    """The row of a new job: in the queue, or waiting for a person's approval.

    A tenant with an account reserves the kind's tariff; the deadline ends early enough for a review after it.
    """
    expires_at = birth.now + JOB_LIFE
    deadline_at = min(birth.now + policy.deadline, expires_at - EXPIRY_MARGIN)
    job = Job(
        tenant_id=birth.tenant_id,
        job_id=job_id_of(birth.identity, birth.token),
        create_token=birth.token,
        fingerprint=birth.fingerprint,
        kind=policy.name,
        kind_version=policy.version,
        created_at=birth.now,
        created_by=birth.created_by,
        deadline_at=deadline_at,
        expires_at=expires_at,
        traceparent=birth.traceparent,
        reserved_micro_usd=None if account is None else policy.tariff_micro_usd,
        in_flight=account is not None,
    )
    return RowChange(when=(), set=first_standing(policy, deadline_at, birth.now, timing)).apply(job)


def create_ops(job: Job, given: Input) -> tuple[Op, ...]:
    """The one write of a create: row, input and, if the row reserves, the account's move and its entry."""
    written: tuple[Op, ...] = (CreateRow(job, job.created_at), PutCold(given, job.expires_at))
    if job.reserved_micro_usd is None:
        return written
    entry = Entry(
        tenant_id=job.tenant_id,
        job_id=job.job_id,
        epoch=FIRST_EPOCH,
        verb=Verb.RESERVE,
        micro_usd=job.reserved_micro_usd,
        at=job.created_at,
    )
    held = reserve(job.tenant_id, job.reserved_micro_usd, is_capped=True)
    return (*written, ChangeAccount(held), AddEntry(entry))


def is_own_create(row: Job, token: CreateToken) -> bool:
    """Whether a refused create had in truth been applied: the SDK retried our own write."""
    return row.create_token == token


def is_undispatched(job: Job, now: datetime) -> bool:
    """Whether a replay should send the message again: nobody ever claimed the job, and someone should have."""
    is_untouched = job.state is JobState.QUEUED and job.run_token is None
    return is_untouched and job.created_at + DISPATCH_PATIENCE <= now
