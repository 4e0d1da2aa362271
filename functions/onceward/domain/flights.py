"""Flights: the hidden job that does shared work, and how its participants join, leave, follow and are served.

A flight is a job row like any other (lease, attempts, calls, takeover, deadline are the engine's own), told apart by
``participants``: how many wait for it. A participant is an ordinary job, ``waiting`` for ``flight``, whose ``flight``
names the job that works for it. Joining and leaving move both rows in one transaction, so the count is exact while
the flight is under way.

Join against completion is decided on the flight's row alone: a join is conditioned on a flight that is still under
way, the flight's end is a write of the same row. Whoever joined before it is among its participants and gets that
result; whoever comes after it is refused and starts the next one. A failed attempt ends a flight: going on is each
participant's own decision, by its own policy and with its own jitter. What only a lost process or infrastructure
stopped goes on as any job does.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from datetime import datetime, timedelta
from enum import StrEnum

from onceward.domain.change import Counts, Fields, RowChange
from onceward.domain.closing import Close
from onceward.domain.coalescing import OnEmpty
from onceward.domain.conditions import HasParticipants, InFlight, IsJob, IsJoinable, NoCancel, NotExpired, SeenAt
from onceward.domain.creating import Birth, new_job
from onceward.domain.ending import (
    AttemptEnd,
    Verdict,
    ended_attempt,
    review_change,
    settle_change,
    settle_ops,
    wait_change,
)
from onceward.domain.job import FLIGHT_SCHEMA, Job, ResultRef
from onceward.domain.ledger import Account
from onceward.domain.money import Cost
from onceward.domain.names import CoalesceKey, JobId, RunToken
from onceward.domain.policy import KindPolicy
from onceward.domain.records import Input, Participant, Result
from onceward.domain.retry import RETRYABLE, Decision, ErrorClass, Failure, GiveUp, RetryAt
from onceward.domain.states import AttemptOutcome, JobState, WaitingFor
from onceward.domain.timing import Timing
from onceward.domain.transaction import CountFlight, CreateRow, Op, PointFlight, PutCold, UpdateRow

FIRST_CHECK = timedelta(minutes=2)  # a flight's own worker serves at once; this is for when it died in between
LAST_CHECK = timedelta(minutes=10)
NOBODY = RunToken("")  # no run holds a participant that is served
NO_ACCOUNT: Account | None = None  # a flight reserves nothing: its participants have


class Boarding(StrEnum):
    """What became of a job that could share its work; who is ``BUSY`` found no room and runs on its own."""

    STARTED = "started"
    JOINED = "joined"
    BUSY = "busy"


def new_flight(birth: Birth, policy: KindPolicy, timing: Timing, kind_version: int) -> Job:
    """The hidden job's row, with its first participant; older code, which knows no flights, leaves it alone."""
    job = new_job(birth, policy, timing, NO_ACCOUNT)
    return replace(job, participants=1, kind_version=kind_version, schema_version=FLIGHT_SCHEMA)


def join_change(job: Job, token: RunToken, flight_id: JobId, now: datetime, timing: Timing) -> RowChange:
    """The participant's part of joining: it lets go of its run and waits for the flight; never past a cancel."""
    waits = wait_change(job, token, next_check(job, now), WaitingFor.FLIGHT, timing)
    fields = waits.set
    fields["flight"] = flight_id
    return RowChange(when=(*waits.when, NoCancel()), set=fields, add=waits.add)


def follow_change(job: Job, token: RunToken, now: datetime, timing: Timing) -> RowChange:
    """Wait on: the flight is still under way, or is so again after a review."""
    waits = wait_change(job, token, next_check(job, now), WaitingFor.FLIGHT, timing)
    fields = waits.set
    fields["review_until"] = None
    return RowChange(when=(*waits.when, NoCancel()), set=fields, add=waits.add)


def park_change(job: Job, token: RunToken, look: datetime, now: datetime, timing: Timing) -> RowChange:
    """Go to review with the flight: looked at again, and without a letter of its own."""
    parked = review_change(job, token, now, timing)
    fields = parked.set
    fields["wake_at"] = fields["due"] = look
    return RowChange(when=parked.when, set=fields, add=parked.add)


def join_ops(joining: UpdateRow, participant: Participant, most: int, now: datetime, expires_at: datetime) -> list[Op]:
    """Joining a flight that is under way: both rows, and the participant's name among those to be served."""
    when = (IsJob(participant.job_id), NotExpired(now), IsJoinable(most), NoCancel())
    joined = UpdateRow(joining.tenant_id, participant.job_id, RowChange(when=when, add=Counts(participants=1)))
    return [joining, joined, PutCold(participant, expires_at)]


@dataclass(frozen=True, slots=True, kw_only=True)
class Start:
    """The first of its key: ``seen`` is the flight that the key pointed to and that cannot be joined any more."""

    flight: Job
    given: Input
    key: CoalesceKey
    seen: JobId | None
    most_flights: int


def start_ops(joining: UpdateRow, participant: Participant, start: Start) -> list[Op]:
    """Starting a flight: as joining, with the flight's row, its input, the key's pointer and the tenant's count."""
    flight = start.flight
    pointer = PointFlight(flight.tenant_id, start.key, flight.job_id, start.seen, flight.expires_at)
    created = (CreateRow(flight, flight.created_at), PutCold(start.given, flight.expires_at))
    count = CountFlight(flight.tenant_id, 1, start.most_flights)
    return [joining, *created, PutCold(participant, flight.expires_at), pointer, count]


def is_own_join(row: Job, token: RunToken) -> bool:
    """Whether a refused join had in truth been applied: our token, and the row waits for a flight."""
    return row.run_token == token and row.state is JobState.WAITING and row.waiting_for is WaitingFor.FLIGHT


def next_check(job: Job, now: datetime) -> datetime:
    """When a participant looks after its flight by itself: a step that doubles with its wait, at most its deadline."""
    since = now if job.attempt is None else job.attempt.started_at
    step = min(max(FIRST_CHECK, now - since), LAST_CHECK)
    return max(now, min(now + step, job.deadline_at))


def is_wanted(flight: Job, on_empty: OnEmpty, *, has_sent: bool) -> bool:
    """Whether a flight may go on: somebody waits for it, or its kind finishes what nobody waits for."""
    if not flight.is_flight or flight.participants or on_empty is OnEmpty.FINISH:
        return True
    return has_sent and on_empty is OnEmpty.CANCEL_UNSENT


def only_if_wanted(change: RowChange, flight: Job, on_empty: OnEmpty, *, has_sent: bool) -> RowChange:
    """The journal of a send, not to be written for a flight that nobody waits for: its last one may leave meanwhile."""
    if not flight.is_flight or on_empty is OnEmpty.FINISH or (has_sent and on_empty is OnEmpty.CANCEL_UNSENT):
        return change
    return replace(change, when=(*change.when, HasParticipants()))


# --- landing ---------------------------------------------------------------------------------------------------------


@dataclass(frozen=True, slots=True)
class Flying:
    """Still under way."""


@dataclass(frozen=True, slots=True)
class Landed:
    """Its result is accepted."""


@dataclass(frozen=True, slots=True)
class Crashed:
    """It failed: the participant's own policy says what follows."""

    failure: Failure


@dataclass(frozen=True, slots=True)
class Parked:
    """It is in review, and takes its participants with it."""


@dataclass(frozen=True, slots=True)
class Gone:
    """It ended without an outcome: cancelled in the instant of the join, out of its own time, or not there any more.

    ``code``: what ends a participant that it had taken to review.
    """

    code: str = "flight_cancelled"


type Landing = Flying | Landed | Crashed | Parked | Gone


def decide_landing(flight_id: JobId, flight: Job | None, now: datetime) -> Landing:
    """What a flight's row means for those who wait for it."""
    if flight is None or flight.job_id != flight_id:
        return Gone()
    match flight.state:
        case JobState.SUCCEEDED:
            return Landed() if flight.erased_at is None else Gone()
        case JobState.FAILED if flight.error_code == Close.DEADLINE:
            return Gone(Close.DEADLINE)  # its deadline: each participant has its own, and may have joined much later
        case JobState.FAILED:
            return Crashed(_failure_of(flight, now))
        case JobState.CANCELLED:
            return Gone()
        case JobState.NEEDS_REVIEW:
            return Parked()
        case _:
            return Parked() if flight.is_in_review else Flying()


def _failure_of(flight: Job, now: datetime) -> Failure:
    """The flight's failure as each participant's own; a code that no attempt failed with is the end for all."""
    code = flight.error_code or "flight_failed"
    attempt = flight.attempt
    if attempt is None or attempt.error_class is None or attempt.error_code != code:
        return Failure(error_class=ErrorClass.PERMANENT, code=code)
    floor = None if flight.wake_at is None else max(flight.wake_at - now, timedelta(0))
    return Failure(error_class=ErrorClass(attempt.error_class), code=code, retry_after=floor)


def shared_decision(decision: Decision, failure: Failure) -> Decision:
    """A failed attempt of a flight is its end, whatever its kind's policy says: that is asked by each participant."""
    if isinstance(decision, RetryAt | GiveUp) and failure.error_class in RETRYABLE:
        why = "shared: each participant's own policy decides"
        return GiveUp(code=failure.code, is_exhausted=False, why=why, figures=decision.figures)
    return decision


def copy_ops(seen: Job, flight_id: JobId, result: Result, charge: int, now: datetime) -> tuple[RowChange, list[Op]]:
    """Give a participant the flight's result: one transaction, if it still waits for it and nobody cancelled it.

    The row's part comes apart too, so that its effect can be told.
    """
    ended = ended_attempt(seen, AttemptEnd(outcome=AttemptOutcome.SUCCEEDED), now)
    job = replace(seen, attempt=ended)
    ref = ResultRef(epoch=result.epoch, attempt=result.attempt)
    verdict = Verdict(state=JobState.SUCCEEDED, result=ref, charge_micro_usd=charge)
    when = (InFlight(flight_id), NoCancel(), SeenAt(seen.state, seen.epoch, seen.seq))
    change = replace(settle_change(job, NOBODY, verdict, now), when=when)
    _, *books = settle_ops(job, NOBODY, verdict, now)
    return change, [UpdateRow(seen.tenant_id, seen.job_id, change), PutCold(result, seen.expires_at), *books]


def wake_change(flight_id: JobId, now: datetime, timing: Timing) -> RowChange:
    """Make a participant awake and due: its flight has come to rest, and it is to see to itself.

    Awake by every clock: the message comes at once, perhaps to a worker whose clock is behind ours.
    """
    return RowChange(when=(InFlight(flight_id),), set=Fields(wake_at=now - timing.skew_allowance, due=now))


def saved(flight: Job, served: int) -> tuple[int, Cost]:
    """Calls and cost that sharing has saved, by the books: everyone but one would have paid the same again."""
    others = max(served - 1, 0)
    spent = flight.spent
    cost = Cost(low=spent.low * others, high=spent.high * others, unpriced=spent.unpriced)
    return len(flight.bought) * others, cost
