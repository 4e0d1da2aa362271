"""How a run's writes look: journal, beat, next attempt, retry, wait, review, settle, give back.

Every one is conditioned on the run's token (invariant 3). ``run_token`` stays on the row when the run is over: an SDK
that retries an applied write then finds its own token on a row that runs no more, and knows that the write holds.
Beats only set values, so that applying one twice changes nothing.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from datetime import datetime

from onceward.domain.change import Counts, Fields, RowChange
from onceward.domain.conditions import HeldBy, LeaseEndsBefore, NoCancel, SeenAt, SeenJournals
from onceward.domain.due import due_after
from onceward.domain.job import Job, PresentAttempt, ResultRef
from onceward.domain.leaving import leave_ops
from onceward.domain.ledger import Entry, Verb, capture, release
from onceward.domain.names import RunToken, run_name
from onceward.domain.states import AttemptOutcome, JobState, WaitingFor
from onceward.domain.timing import EXPIRY_MARGIN, Timing
from onceward.domain.transaction import AddEntry, ChangeAccount, CountFlight, Op, UpdateRow


@dataclass(frozen=True, slots=True, kw_only=True)
class AttemptEnd:
    """How the present attempt ended, for the row and for its item."""

    outcome: AttemptOutcome
    error_class: str | None = None
    error_code: str | None = None
    decision: str | None = None


def is_own_next_attempt(row: Job, token: RunToken, change: RowChange, before: Job) -> bool:
    """Whether a refused next attempt had in truth begun: our token, and one attempt more than we knew of."""
    begun = change.set.get("attempts")
    is_ours = row.run_token == token and row.state is JobState.RUNNING
    return is_ours and begun is not None and row.attempts == begun > before.attempts


def is_own_end(row: Job, token: RunToken) -> bool:
    """Whether a refused ending had in truth been applied: our token, and the row runs no more."""
    return row.run_token == token and row.state is not JobState.RUNNING


def is_own_journal(row: Job, token: RunToken, change: RowChange, before: Job) -> bool:
    """Whether a refused journal had in truth been written: our token, and one more than we knew of.

    A run writes them one after the other, and none after one that was not answered: nobody else can have counted.
    """
    is_ours = row.run_token == token and row.state is JobState.RUNNING
    return is_ours and "journals" in change.add and row.journals == before.journals + 1


def journal_change(job: Job, token: RunToken, lease_until: datetime) -> RowChange:
    """Make ``open``, ``accepted`` and ``spent`` durable before anything leaves; never past a recorded cancel.

    Counted, and conditioned on the count: of a write that an SDK sent twice, the second may arrive after a newer one.
    """
    when = (HeldBy(token), NoCancel(), SeenJournals(job.journals))
    return RowChange(when=when, set=_books(job, lease_until), add=Counts(journals=1))


def beat_change(token: RunToken, lease_until: datetime) -> RowChange:
    """Prolong the lease, never shorten it: a beat that arrives late comes after longer ones.

    A recorded cancel comes back with the row.
    """
    return RowChange(when=(HeldBy(token), LeaseEndsBefore(lease_until)), set=Fields(lease_until=lease_until))


def next_attempt_change(job: Job, token: RunToken, now: datetime) -> RowChange:
    """Start the next attempt of a recovered job; the old one has been put as its item before.

    Once: it names the very row that it moves, so that an SDK's repeat is refused by its own effect.
    """
    begun = Fields(
        attempts=job.attempts + 1,
        attempt=PresentAttempt(started_at=now, run=run_name(token)),
        waiting_for=None,
        wake_at=None,
        open=job.open,
    )
    begun["accepted"] = job.accepted
    begun["spent"] = job.spent
    seen = SeenAt(JobState.RUNNING, job.epoch, job.seq)
    return RowChange(when=(HeldBy(token), NoCancel(), seen), set=begun, add=Counts(seq=1))


def ended_attempt(job: Job, end: AttemptEnd, now: datetime) -> PresentAttempt | None:
    """The present attempt with its ending; ``None`` if the job never began one."""
    if job.attempt is None:
        return None
    return replace(
        job.attempt,
        ended_at=now,
        outcome=end.outcome,
        error_class=end.error_class,
        error_code=end.error_code,
        decision=end.decision,
    )


def wait_change(job: Job, token: RunToken, wake_at: datetime, reason: WaitingFor, timing: Timing) -> RowChange:
    """Let the job go until ``wake_at``; whoever is awake then claims it.

    Nobody waits past a recorded cancel for another try, nor for an answer that may take hours.
    """
    parked = Fields(state=JobState.WAITING, waiting_for=reason, wake_at=wake_at, due=due_after(wake_at, timing))
    return _let_go(job, token, parked, may_follow_cancel=reason not in (WaitingFor.RETRY, WaitingFor.PROVIDER))


def review_change(job: Job, token: RunToken, now: datetime, timing: Timing) -> RowChange:
    """Park for a person. ``due`` is now and there is no ``wake_at``: the dead letter is still to be sent."""
    limit = job.review_until or min(now + timing.review_limit, job.expires_at - EXPIRY_MARGIN)
    parked = Fields(state=JobState.NEEDS_REVIEW, waiting_for=None, wake_at=None, due=now, review_until=limit)
    return _let_go(job, token, parked, may_follow_cancel=True)


def look_later_change(job: Job, token: RunToken, wake_at: datetime) -> RowChange:
    """Back to review after a look that found nothing; its dead letter has been sent already."""
    parked = Fields(state=JobState.NEEDS_REVIEW, waiting_for=None, wake_at=wake_at, due=wake_at)
    return _let_go(job, token, parked, may_follow_cancel=True)


def give_back_change(
    job: Job, token: RunToken, state: JobState, reason: WaitingFor | None, wake_at: datetime, timing: Timing
) -> RowChange:
    """Restore the state the run claimed from; ``job`` carries the attempt count to restore."""
    woken = None if state is JobState.QUEUED else wake_at
    restored = Fields(state=state, waiting_for=reason, wake_at=woken, due=due_after(wake_at, timing))
    restored["attempts"] = job.attempts
    return _let_go(job, token, restored, may_follow_cancel=True)


@dataclass(frozen=True, slots=True, kw_only=True)
class Verdict:
    """The terminal state a run settles on; ``retry_at``: a failed flight's, before it no participant tries again."""

    state: JobState
    result: ResultRef | None = None
    error_code: str | None = None
    charge_micro_usd: int = 0
    is_dead: bool = False
    retry_at: datetime | None = None


def settle_change(job: Job, token: RunToken, verdict: Verdict, now: datetime) -> RowChange:
    """The row's part of the end, by the run that holds it."""
    ended = settled_fields(job, verdict, now)
    closed = replace(job, open=(), attempt=ended["attempt"])
    return _let_go(closed, token, ended, may_follow_cancel=verdict.state is JobState.CANCELLED)


def settled_fields(job: Job, verdict: Verdict, now: datetime) -> Fields:
    """What every end sets: terminal, books closed, what open calls may have cost included.

    A job that ends dead keeps ``due``, so that its letter is sent even if this worker dies now.
    """
    ended = Fields(
        state=verdict.state,
        waiting_for=None,
        wake_at=verdict.retry_at,
        due=now if verdict.is_dead else None,
        review_until=None,
        result=verdict.result,
        error_code=verdict.error_code,
        finished_at=now,
        spent=job.possible_spent,
        open=(),
        attempt=None if job.attempt is None else replace(job.attempt, cost=job.attempt_cost),
    )
    if verdict.state is JobState.SUCCEEDED and not job.is_flight:
        ended["charge_micro_usd"] = charge_of(job, verdict)
    if verdict.state is JobState.CANCELLED:
        ended["cancelled_at"] = now
    return ended


def settle_ops(job: Job, token: RunToken, verdict: Verdict, now: datetime) -> tuple[Op, ...]:
    """The one transaction that ends a job: row, account and the entry that can exist once.

    The account follows what the *row* reserved. Success captures, everything else releases.
    """
    change = settle_change(job, token, verdict, now)
    row = UpdateRow(job.tenant_id, job.job_id, change)
    return (row, *ledger_ops(job, verdict, now), *flight_ops(job, verdict))


def ledger_ops(job: Job, verdict: Verdict, now: datetime) -> tuple[Op, ...]:
    """Capture or release what the row reserved; a tenant without an account gets the capture's entry alone.

    A flight is nobody's to pay: its participants are charged.
    """
    if job.is_flight:
        return ()
    succeeded = verdict.state is JobState.SUCCEEDED
    reserved = job.reserved_micro_usd
    if reserved is None and not succeeded:
        return ()
    verb, amount = (Verb.CAPTURE, charge_of(job, verdict)) if succeeded else (Verb.RELEASE, reserved or 0)
    entry = Entry(tenant_id=job.tenant_id, job_id=job.job_id, epoch=job.epoch, verb=verb, micro_usd=amount, at=now)
    if reserved is None:
        return (AddEntry(entry),)
    if succeeded:
        moved = capture(job.tenant_id, reserved, amount, was_counted=job.in_flight)
    else:
        moved = release(job.tenant_id, reserved, was_counted=job.in_flight)
    return (ChangeAccount(moved), AddEntry(entry))


def flight_ops(job: Job, verdict: Verdict) -> tuple[Op, ...]:
    """A flight that ends is counted no more; a participant that ends before its flight leaves it."""
    if job.is_flight:
        return (CountFlight(job.tenant_id, -1),)
    return () if verdict.state is JobState.SUCCEEDED else leave_ops(job)


def charge_of(job: Job, verdict: Verdict) -> int:
    """The tariff, and never more than was held: a deploy in between may lower a price, not raise it."""
    held = job.reserved_micro_usd
    return verdict.charge_micro_usd if held is None else min(held, verdict.charge_micro_usd)


def _books(job: Job, lease_until: datetime) -> Fields:
    """What a run knows of its calls, and a prolonged lease."""
    return Fields(open=job.open, accepted=job.accepted, spent=job.spent, attempt=job.attempt, lease_until=lease_until)


def _let_go(job: Job, token: RunToken, fields: Fields, *, may_follow_cancel: bool) -> RowChange:
    """The run ends by a write of its own: books written, lease gone, losses forgiven."""
    fields["lease_until"] = None
    fields["lost"] = 0
    fields["open"] = job.open
    fields["accepted"] = job.accepted
    fields["attempt"] = job.attempt
    fields["provider_cancel"] = job.provider_cancel
    fields["flight"] = job.flight
    fields.setdefault("spent", job.spent)
    when = (HeldBy(token),) if may_follow_cancel else (HeldBy(token), NoCancel())
    return RowChange(when=when, set=fields, add=Counts(seq=1))
