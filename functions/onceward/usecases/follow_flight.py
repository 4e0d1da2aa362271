"""What a participant's own run does: look at its flight's row and do what follows from it for this one job.

The flight's worker serves its participants at once (``serve_participants``); a run comes here when that worker died in
between, when the participant's own deadline, cancel or check has come, or when the flight failed or went to review.
None of the kind's code runs here, and nothing is sent.
"""

from __future__ import annotations

from dataclasses import replace
from datetime import datetime
from typing import assert_never

from onceward.domain.closing import Close
from onceward.domain.ending import AttemptEnd, Verdict, ended_attempt, look_later_change
from onceward.domain.flights import (
    Crashed,
    Flying,
    Gone,
    Landed,
    Parked,
    decide_landing,
    follow_change,
    park_change,
)
from onceward.domain.job import Job, ResultRef
from onceward.domain.leaving import is_participant
from onceward.domain.names import identity_of
from onceward.domain.retry import ErrorClass, Failure
from onceward.domain.states import AttemptOutcome, JobState
from onceward.domain.sweep import next_look
from onceward.domain.transaction import PutCold
from onceward.errors import StopRun
from onceward.usecases.deps import Deps
from onceward.usecases.end_run import close, end_failed, settle
from onceward.usecases.held_job import HeldJob
from onceward.usecases.registry import AnyKind
from onceward.usecases.shared_result import own_copy, shared_charge, shared_text, take_copy_back


async def follow_flight(deps: Deps, held: HeldJob, kind: AnyKind) -> bool:
    """Do what the flight's row asks for; ``False``: there is no flight (any more), and the run goes on by itself.

    Raises ``StopRun`` for a flight that nobody waits for.
    """
    held.heed_being_unwanted(kind.policy)
    flight_id = held.job.flight
    if flight_id is None or not is_participant(held.job):
        return False
    if held.job.cancel_requested_at is not None:
        await close(deps, held, kind, None, is_bare=False)
        return True
    flight = await deps.store.get_job(held.tenant_id, identity_of(flight_id))
    now = deps.clock.now()
    landing = decide_landing(flight_id, flight, now)
    if isinstance(landing, Gone):
        return await _on_its_own(deps, held, kind, landing)
    if flight is None:
        raise TypeError("who is not there is gone")
    match landing:
        case Landed():
            await _take(deps, held, flight)
        case Crashed(failure):
            await _fail(deps, held, kind, failure)
        case Flying() | Parked() if _is_over(held.job, now):
            await close(deps, held, kind, None, is_bare=False)
        case Flying():
            await held.move(lambda job: follow_change(job, held.token, now, deps.timing))
        case Parked():
            await _park(deps, held, flight)
        case _:
            assert_never(landing)
    return True


def _is_over(job: Job, now: datetime) -> bool:
    """Whether the participant waits no longer: its own deadline, or its review's limit."""
    return now >= (job.deadline_at if job.review_until is None else job.review_until)


async def _on_its_own(deps: Deps, held: HeldJob, kind: AnyKind, gone: Gone) -> bool:
    """The flight ended without an outcome, and nothing was sent for this job: it goes on in its present attempt."""
    if held.job.is_in_review:  # whoever ended a flight in review has decided for all of its participants
        await _fail(deps, held, kind, Failure(error_class=ErrorClass.PERMANENT, code=gone.code))
        return True
    held.job = replace(held.job, flight=None)
    return False


async def _take(deps: Deps, held: HeldJob, flight: Job) -> None:
    """Accept a copy of the flight's result as this job's own."""
    text = await shared_text(deps, flight)
    charge = await shared_charge(deps, flight, text)
    result = await own_copy(deps, held.job, text)
    before = held.job
    end = AttemptEnd(outcome=AttemptOutcome.SUCCEEDED)
    held.job = replace(before, attempt=ended_attempt(before, end, deps.clock.now()))
    verdict = Verdict(
        state=JobState.SUCCEEDED,
        result=ResultRef(epoch=result.epoch, attempt=result.attempt),
        charge_micro_usd=charge,
    )
    try:
        await settle(deps, held, verdict, (PutCold(result, before.expires_at),))
    except BaseException as error:
        held.job = replace(held.job, attempt=before.attempt)
        if isinstance(error, StopRun):
            held.heed_cancel()
            await take_copy_back(deps, result, held.job)
        raise


async def _fail(deps: Deps, held: HeldJob, kind: AnyKind, failure: Failure) -> None:
    """The shared failure is this job's own; its policy decides, and its jitter parts it from the others."""
    if held.job.is_in_review:  # a review ends by a verdict, and that is final
        failure = replace(failure, error_class=ErrorClass.PERMANENT)
    held.job = replace(held.job, flight=None)
    if failure.code != Close.EXHAUSTED:
        await end_failed(deps, held, kind, failure)
        return
    # The flight's attempts were lost one after the other: what kills a process is not begun anew for each participant.
    end = AttemptEnd(outcome=AttemptOutcome.FAILED, error_code=failure.code)
    held.job = replace(held.job, attempt=ended_attempt(held.job, end, deps.clock.now()))
    await settle(deps, held, Verdict(state=JobState.FAILED, error_code=Close.EXHAUSTED, is_dead=True))


async def _park(deps: Deps, held: HeldJob, flight: Job) -> None:
    """Be in review with the flight: its dead letter is the one entry, so this job sends none and only looks again."""
    now = deps.clock.now()
    limit = held.job.review_until or flight.review_until or now
    since = now if flight.attempt is None or flight.attempt.ended_at is None else flight.attempt.ended_at
    look = next_look(since, now, limit)

    if held.job.is_in_review:
        await held.move(lambda job: look_later_change(job, held.token, look))
    else:
        await held.move(lambda job: park_change(job, held.token, look, now, deps.timing))
