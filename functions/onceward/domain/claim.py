"""Claiming a job: one of a few conditional writes, each giving the row a fresh token and lease.

A worker first tries *start* blindly: in the common case that one write is the whole claim. A refusal returns the row,
which picks the next write; nothing is read outside that. The race between any two claimers is decided by the store:
whoever's write applies has changed the row so that the other's condition no longer holds. An SDK that retries an
applied claim sees a refusal whose row carries its own token: the claim holds (the own-token rule).

- *start*: counts an attempt before the kind's code begins, so that a killed worker consumes one.
- *close*: the same row without counting, when no attempt may start any more.
- *resume*: the wait is over; polls and wake-ups are not attempts.
- *takeover*: the lease ran out. Conditioned on the very lease that was seen, so that a heartbeat in between wins;
  it waits the skew allowance longer than the lease, because the holder's clock may be slow.
- *look*: a job in review may be looked at again, or told of a cancel.

Every claim is conditioned on the kind being known to this code, since its run may come to run the kind's code. One
exception: a job that was to end an hour ago and has not, because no code that is deployed knows its kind (any more).
Any code that can read the row may claim that, never to start an attempt, and only to end or park it (``close_orphan``):
else its reservation would be held until the row expires, and for ever after. Beside a newer version of the code this
takes nothing away: for an hour the job is the newer version's alone, and both cannot hold one lease.
"""

from __future__ import annotations

from dataclasses import dataclass
from datetime import datetime, timedelta
from enum import StrEnum

from onceward.domain.change import Counts, Fields, RowChange
from onceward.domain.conditions import (
    BeforeDeadline,
    HasAttemptsLeft,
    IsJob,
    IsKnown,
    IsLookable,
    IsOrphaned,
    IsResumable,
    IsStartable,
    KindLimit,
    NoCancel,
    NotExpired,
    SeenLease,
)
from onceward.domain.job import FLIGHT_SCHEMA, Job, PresentAttempt
from onceward.domain.names import JobId, RunToken, run_name
from onceward.domain.states import JobState, WaitingFor
from onceward.domain.timing import Timing

ORPHAN_PATIENCE = timedelta(hours=1)  # longer than two versions of the code run side by side in a deploy


class Claim(StrEnum):
    """How a run came to hold its job."""

    START = "start"
    CLOSE = "close"
    RESUME = "resume"
    TAKEOVER = "takeover"
    LOOK = "look"


class Unclaimable(StrEnum):
    """Why there is nothing to run now."""

    ABSENT = "absent"
    TERMINAL = "terminal"
    LEASE_LIVE = "lease_live"
    ASLEEP = "asleep"
    IN_REVIEW = "in_review"
    UNKNOWN_CODE = "unknown_code"


@dataclass(frozen=True, slots=True, kw_only=True)
class Claimant:
    """Who claims: a fresh token, what its code knows, and its clock's reading before the write."""

    job_id: JobId
    token: RunToken
    limits: tuple[KindLimit, ...]
    now: datetime
    timing: Timing


def decide_claim(seen: Job, who: Claimant) -> Claim | Unclaimable:
    """The write that fits the row as it was seen, or why none does."""
    if seen.job_id != who.job_id or seen.expires_at <= who.now:
        return Unclaimable.ABSENT
    if seen.state.is_terminal:
        return Unclaimable.TERMINAL
    if not _may_hold(who, seen).holds(seen):
        return Unclaimable.UNKNOWN_CODE
    if seen.state is JobState.RUNNING:
        return Claim.TAKEOVER if _is_lease_over(seen, who) else Unclaimable.LEASE_LIVE
    if seen.state is JobState.NEEDS_REVIEW:
        return Claim.LOOK if IsLookable(who.now).holds(seen) else Unclaimable.IN_REVIEW
    if IsStartable(who.now).holds(seen):
        return Claim.START if may_start(seen, who.limits, who.now) else Claim.CLOSE
    return Claim.RESUME if IsResumable(who.now).holds(seen) else Unclaimable.ASLEEP


def may_start(job: Job, limits: tuple[KindLimit, ...], now: datetime) -> bool:
    """Whether an attempt may still begin: one is left, there is time, and nobody asked to stop."""
    return HasAttemptsLeft(limits).holds(job) and BeforeDeadline(now).holds(job) and NoCancel().holds(job)


def claim_change(claim: Claim, who: Claimant, seen: Job | None = None) -> RowChange:
    """The conditional write of a claim; ``seen`` is the row that a takeover was decided on."""
    known = (IsJob(who.job_id), NotExpired(who.now), _may_hold(who, seen))
    hold = Fields(state=JobState.RUNNING, run_token=who.token, lease_until=who.now + who.timing.lease)
    match claim:
        case Claim.START:
            left = (HasAttemptsLeft(who.limits), BeforeDeadline(who.now), NoCancel())
            begun = Fields(**hold, attempt=PresentAttempt(started_at=who.now, run=run_name(who.token)))
            return RowChange(when=(*known, IsStartable(who.now), *left), set=begun, add=Counts(attempts=1, seq=1))
        case Claim.CLOSE:
            return RowChange(when=(*known, IsStartable(who.now)), set=hold, add=Counts(seq=1))
        case Claim.RESUME:
            return RowChange(when=(*known, IsResumable(who.now)), set=hold, add=Counts(seq=1))
        case Claim.LOOK:
            return RowChange(when=(*known, IsLookable(who.now)), set=hold, add=Counts(seq=1))
        case Claim.TAKEOVER:
            if seen is None or seen.run_token is None or seen.lease_until is None:
                raise ValueError("a takeover needs the lease that was seen expired")
            same = SeenLease(seen.run_token, seen.lease_until)
            # What the lost run waited for is over with it: the next attempt starts from recovery.
            taken = Fields(**hold, waiting_for=None, wake_at=None)
            return RowChange(when=(*known, same), set=taken, add=Counts(lost=1, seq=1))


def is_orphan(job: Job, limits: tuple[KindLimit, ...]) -> bool:
    """Whether a job that was claimed is of no kind and version that this code knows: none of its code may run."""
    return not IsKnown(limits, FLIGHT_SCHEMA).holds(job)


def _may_hold(who: Claimant, seen: Job | None) -> IsKnown | IsOrphaned:
    """Who may claim the row; the blind start, which has seen none, only who knows its kind."""
    if seen is None or not is_orphan(seen, who.limits):
        return IsKnown(who.limits, FLIGHT_SCHEMA)
    return IsOrphaned(FLIGHT_SCHEMA, who.now - ORPHAN_PATIENCE)


def is_own_claim(row: Job, token: RunToken) -> bool:
    """Whether a refused claim had in truth been applied: the SDK retried our own write."""
    return row.run_token == token and row.state is JobState.RUNNING


def claimed_from(claim: Claim, row: Job) -> tuple[JobState, WaitingFor | None]:
    """The state to restore when a run gives its claim back; claims leave ``waiting_for`` as it was for this."""
    if claim is Claim.TAKEOVER:
        return JobState.WAITING, WaitingFor.LOOKUP
    if row.is_in_review:
        return JobState.NEEDS_REVIEW, None
    if row.waiting_for is not None:
        return JobState.WAITING, row.waiting_for
    return JobState.QUEUED, None


def _is_lease_over(seen: Job, who: Claimant) -> bool:
    """Whether the holder must have stopped by its own clock, whichever way the two clocks differ."""
    if seen.lease_until is None:
        return True
    return who.now > seen.lease_until + who.timing.skew_allowance
