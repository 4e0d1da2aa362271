"""One delivery of one job: claim, recover, run, end; what becomes of the message is the answer.

The phases, each ending in one durable write; a crash between two of them is taken up by the next delivery:

0. redrive            only for a dead letter that came back (``reopen_job``)
1. claim              a fresh token and lease; for a start, one attempt more
2. recover            every call that is open or unknown: answers, lookup, decision
3. next attempt       only if this run may not go on in the present one
4. the kind's code    each call journaled, guarded, sent, its answer kept (``make_call``)
5. end                settle, wait, review (``end_run``)

A run that loses its lease stops before its next paid call and writes nothing more. A run that our own infrastructure
stops gives its claim back, and its attempt too if nothing was sent in it.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from datetime import timedelta

from onceward.domain.claim import Claim, Unclaimable, claimed_from
from onceward.domain.closing import may_close_unrun, may_look_again
from onceward.domain.deliveries import (
    Acknowledge,
    Disposition,
    LeaveUntouched,
    PutBack,
    after_infrastructure_error,
    decide_delivery,
    wait_for_wake,
    while_breaker_open,
)
from onceward.domain.ending import give_back_change
from onceward.domain.flights import Boarding
from onceward.domain.job import Job
from onceward.domain.mode import Mode, decide_mode, may_wait_on
from onceward.domain.names import JobId, RunToken, TenantId
from onceward.domain.reopening import Redrive
from onceward.domain.retry import beside_maybe, final_failure
from onceward.domain.sending import PASSING, Guard
from onceward.domain.states import JobState, WaitingFor
from onceward.errors import AnswerLater, InfrastructureError, LeaseLost, StopRun
from onceward.usecases.claim_job import Claimed, NotClaimed, claim_job
from onceward.usecases.close_orphan import close_orphan, kind_of
from onceward.usecases.deps import Deps
from onceward.usecases.end_run import (
    accept_output,
    close,
    end_failed,
    look_up_later,
    start_next_attempt,
)
from onceward.usecases.follow_flight import follow_flight
from onceward.usecases.held_job import HeldJob
from onceward.usecases.join_flight import join_flight
from onceward.usecases.keep_lease import beats_end, hide_for_lease, keep_lease
from onceward.usecases.kind_end import Failed, Finished, KindEnd, Stopped
from onceward.usecases.lease import LeaseView
from onceward.usecases.question import full_model_name
from onceward.usecases.recover_calls import recover_calls
from onceward.usecases.registry import AnyKind
from onceward.usecases.reopen_job import reopen_job
from onceward.usecases.run_kind import limits_of, run_kind
from onceward.usecases.run_out_of_time import run_out_of_time
from onceward.usecases.serve_participants import Served
from onceward.usecases.wait_for_answer import poll_at_of, wait_for_answer
from onceward.usecases.wait_for_target import may_begin, wait_for_target
from onceward.usecases.work_done import WorkDone, work_done


@dataclass(frozen=True, slots=True, kw_only=True)
class Delivery:
    """A message as SQS handed it over, for the how-manieth time, and until when this invocation lives.

    ``letter_epoch``: the message is a dead letter of that epoch, redriven.
    """

    tenant_id: TenantId
    job_id: JobId
    receipt: str
    receive_count: int
    invocation_ends: float
    letter_epoch: int | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class RunReport:
    """What became of a delivery, for the message and for the log.

    ``job`` is the row as this run last knew it, ``stopped_by`` the code of what kept it from doing its work,
    ``notes`` what else a log should tell: where a kind's bug is, what could not be set. What is of flights:
    ``run_delivery``.
    """

    disposition: Disposition
    found: Claim | Unclaimable | None = None
    job: Job | None = None
    is_takeover_due: bool = False
    stopped_by: str | None = None
    notes: frozenset[str] = frozenset()
    bug: BaseException | None = None
    redrive: Redrive | None = None
    work: WorkDone | None = None
    boarding: Boarding | None = None
    crashed: JobId | None = None
    served: Served | None = None
    others: tuple[RunReport, ...] = ()


async def run_job(deps: Deps, delivery: Delivery, *, may_take_over: bool) -> RunReport:
    """Do what one delivery can do for its job; raises only for bugs.

    A redriven dead letter first re-opens its job, if it may; then it is a wake-up. One that could not be decided comes
    back, however often: acknowledged, it would be lost, and no sweeper knows of it.
    """
    if delivery.letter_epoch is None:
        return await _wake(deps, delivery, may_take_over=may_take_over)
    redrive = await reopen_job(deps, delivery.tenant_id, delivery.job_id, delivery.letter_epoch)
    match redrive:
        case Redrive.NOT_ANSWERED | Redrive.UNKNOWN_CODE:
            return RunReport(disposition=_later(deps, delivery), stopped_by=redrive.value, redrive=redrive)
        case Redrive.BUDGET_REFUSED:
            return RunReport(disposition=Acknowledge(), stopped_by=redrive.value, redrive=redrive)
        case Redrive.REOPENED | Redrive.CHANGED_NOTHING:
            report = await _wake(deps, delivery, may_take_over=may_take_over)
            return replace(report, redrive=redrive)


async def _wake(deps: Deps, delivery: Delivery, *, may_take_over: bool) -> RunReport:
    """Claim the job and hold it, or say why there is nothing to run now."""
    token = RunToken(deps.ids.token())
    try:
        claimed = await claim_job(deps, delivery.tenant_id, delivery.job_id, token, may_take_over=may_take_over)
    except InfrastructureError as error:
        return RunReport(disposition=_decide(deps, delivery, _later(deps, delivery)), stopped_by=error.code)
    if isinstance(claimed, NotClaimed):
        return RunReport(
            disposition=_decide(deps, delivery, _unclaimed(deps, delivery, claimed)),
            found=claimed.reason,
            job=claimed.row,
            is_takeover_due=claimed.is_takeover_due,
        )
    return await _hold(deps.for_kind(claimed.job.kind), delivery, claimed)


async def _hold(deps: Deps, delivery: Delivery, claimed: Claimed) -> RunReport:
    """Keep the lease while working; the heartbeat has ended when this returns."""
    lease_until = claimed.job.lease_until
    if lease_until is None:
        raise TypeError("a claim sets a lease")
    lease = LeaseView(deps.clock, lease_until, claimed.lease_ends, deps.spawn.signal())
    held = HeldJob(deps, claimed.job, claimed.token, lease)
    await hide_for_lease(deps, held, delivery.receipt)
    ends = beats_end(deps, claimed.job.kind, delivery.invocation_ends)
    beat = deps.spawn.background(lambda stopper: keep_lease(deps, held, delivery.receipt, ends, stopper))
    stopped_by, began = None, deps.clock.monotonic()
    try:
        wish = await _work(deps, delivery, claimed.claim, held)
    except LeaseLost as error:
        wish, stopped_by = LeaveUntouched(), error.code
    except InfrastructureError as error:
        stopped_by = error.code
        wish = await _give_back(deps, delivery, claimed, held, error.code)
    finally:
        await beat.stop()
    disposition = _decide(deps, delivery, wish)
    work = work_done(claimed, held, deps.clock.monotonic() - began, full_model_name(deps.provider))
    return RunReport(
        disposition=disposition,
        found=claimed.claim,
        job=held.job,
        stopped_by=stopped_by,
        work=work,
        notes=frozenset(held.notes),
        boarding=held.boarding,
        crashed=held.crashed,
    )


async def _work(deps: Deps, delivery: Delivery, claim: Claim, held: HeldJob) -> Disposition:
    """Phases 2 to 5; a cancel that comes in between is obeyed by closing."""
    kind = kind_of(deps, held.job)
    try:
        if not (await close_orphan(deps, held, kind) or await follow_flight(deps, held, kind)):
            await _run(deps, delivery, claim, held, kind)
    except StopRun:
        held.heed_cancel()
        await close(deps, held, kind, None, is_bare=False)
    return _message_of(deps, held.job)


async def _run(deps: Deps, delivery: Delivery, claim: Claim, held: HeldJob, kind: AnyKind) -> None:
    """Recover, then run the kind's code in the mode that is left."""
    recovered = await recover_calls(deps, held, kind.policy)
    held.has_news = recovered.is_news
    if recovered.look_again_at is not None and may_look_again(held.job, recovered.look_again_at, deps.clock.now()):
        await look_up_later(deps, held, recovered.look_again_at)
        return
    now, known = deps.clock.now(), {"is_forbidden": recovered.is_forbidden, "is_news": recovered.is_news}
    if recovered.poll_at is not None and may_wait_on(held.job, claim, now, **known):
        await wait_for_answer(deps, held, recovered.poll_at)
        return
    mode = decide_mode(held.job, claim, kind.policy, now, **known)
    if mode is Mode.BARE:
        await close(deps, held, kind, None, is_bare=True)
        return
    if mode is Mode.NEXT:
        await may_begin(deps, held)
        await start_next_attempt(deps, held)
    may_send = mode is not Mode.CLOSING
    if may_send and await join_flight(deps, held, kind.policy):
        return
    limits = limits_of(deps, held.job, kind.policy.timeout, delivery.invocation_ends, may_send=may_send)
    try:
        end = await run_kind(deps, held, kind, limits)
    except InfrastructureError:
        if may_send or not may_close_unrun(held.job, deps.clock.now()):
            raise
        await close(deps, held, kind, None, is_bare=True)
        return
    if isinstance(end, Failed) and end.fault is not None:
        held.notes.add(f"kind_error: {end.fault}")
    if isinstance(end, Stopped) and end.code in PASSING:
        await wait_for_target(deps, held, claim, end.code)
        return
    await _finish(deps, held, kind, end, may_send=may_send)


async def _finish(deps: Deps, held: HeldJob, kind: AnyKind, end: KindEnd, *, may_send: bool) -> None:
    """Write what the kind's code came to."""
    held.heed_cancel()
    is_cancelled = held.job.cancel_requested_at is not None
    match end:
        case Finished(output) if not is_cancelled:
            await accept_output(deps, held, kind, output)
        case Failed(failure) if may_send and not is_cancelled:
            await end_failed(deps, held, kind, beside_maybe(held.job, failure))
        case Stopped(AnswerLater.code) if may_send and not is_cancelled:
            await wait_for_answer(deps, held, poll_at_of(deps, held) or deps.clock.now())
        case Stopped(code) if may_send and not is_cancelled:
            await run_out_of_time(deps, held, kind, code)
        case Failed(failure):
            await close(deps, held, kind, final_failure(failure), is_bare=False)
        case _:
            await close(deps, held, kind, None, is_bare=False)


async def _give_back(deps: Deps, delivery: Delivery, claimed: Claimed, held: HeldJob, code: str) -> Disposition:
    """Restore what was claimed from; if even that does not answer, the lease's end does the rest."""
    state, reason = claimed_from(claimed.claim, claimed.job)
    has_ended = held.job.attempt is not None and held.job.attempt.outcome is not None
    if claimed.claim is Claim.START and not held.sent and not has_ended:
        held.job = replace(held.job, attempts=held.job.attempts - 1, attempt=None)
    elif claimed.claim is Claim.START:
        state, reason = JobState.WAITING, WaitingFor.LOOKUP
    elif held.job.is_in_review:
        held.forget(claimed.job)
    held.job = replace(held.job, flight=claimed.job.flight)  # whose end it has still to follow
    at, later = deps.clock.now() + deps.timing.infrastructure_backoff, _later(deps, delivery)
    if code == Guard.STOP_BREAKER_OPEN:
        later = while_breaker_open(delivery.receive_count, deps.ids.jitter(), deps.timing)
        at = deps.clock.now() + later.visibility
    try:
        await held.move(lambda job: give_back_change(job, held.token, state, reason, at, deps.timing))
    except LeaseLost:
        return LeaveUntouched()
    except InfrastructureError:
        return later
    return later


def _unclaimed(deps: Deps, delivery: Delivery, found: NotClaimed) -> Disposition:
    """The message table for a job that there is nothing to do for now."""
    if found.is_takeover_due:
        return PutBack(deps.timing.skew_allowance + timedelta(seconds=1))
    match found.reason:
        case Unclaimable.ASLEEP if found.row is not None:
            return wait_for_wake(found.row.wake_at, deps.clock.now(), deps.timing)
        case Unclaimable.UNKNOWN_CODE:
            return _later(deps, delivery)
        case _:
            return Acknowledge()


def _message_of(deps: Deps, job: Job) -> Disposition:
    """What the message does once the run has ended by a write of its own."""
    if job.state is JobState.WAITING and job.waiting_for is not WaitingFor.FLIGHT:
        return wait_for_wake(job.wake_at, deps.clock.now(), deps.timing)
    return Acknowledge()


def _later(deps: Deps, delivery: Delivery) -> Disposition:
    """Come back after an infrastructure error."""
    return after_infrastructure_error(delivery.receive_count, deps.timing)


def _decide(deps: Deps, delivery: Delivery, wish: Disposition) -> Disposition:
    """The wish, within what SQS still allows this message."""
    return decide_delivery(wish, delivery.receive_count, deps.max_receive_count)
