"""How a run ends: settle, retry later, look up later, review; each is one durable write, then its message.

Before the row moves on from an attempt, the attempt is put as its item; dying in between leaves an item that the next
run puts again, the same.
"""

from __future__ import annotations

import json
from dataclasses import replace
from datetime import datetime, timedelta

from pydantic import BaseModel

from onceward.domain.closing import Close, decide_close
from onceward.domain.conditions import HeldBy
from onceward.domain.ending import (
    AttemptEnd,
    Verdict,
    ended_attempt,
    look_later_change,
    next_attempt_change,
    review_change,
    settle_change,
    settle_ops,
    wait_change,
)
from onceward.domain.flights import shared_decision
from onceward.domain.job import Job, OpenCall, ResultRef
from onceward.domain.records import Result
from onceward.domain.recovery import MayResend, conclusive_at, is_carried, without_lookup
from onceward.domain.retry import Decision, Failure, GiveUp, LookUpAt, RetryAt, Review, Situation, decide_retry
from onceward.domain.states import AttemptOutcome, CallState, JobState, ProviderCancel, WaitingFor
from onceward.domain.sweep import next_look
from onceward.domain.transaction import Op, Refused
from onceward.errors import LeaseLost, OncewardError, StoreUnavailable
from onceward.usecases.bodies import store_body
from onceward.usecases.charge_job import charge_job
from onceward.usecases.deps import Deps
from onceward.usecases.held_job import HeldJob
from onceward.usecases.keep_answer import keep_item
from onceward.usecases.keep_attempt import keep_attempt
from onceward.usecases.registry import AnyKind
from onceward.usecases.send_letter import send_letter
from onceward.usecases.wait_for_answer import stop_at_provider


async def accept_output(deps: Deps, held: HeldJob, kind: AnyKind, output: BaseModel) -> None:
    """Store the output, then settle on it; a cancel recorded before that write wins (``StopRun``)."""
    await _still_ours(deps, held)
    charge = await charge_job(deps.store, held.job, kind, output)
    await stop_at_provider(deps, held)
    result = await _store_result(deps, held, output)
    unfinished = held.job.attempt
    _end_attempt(deps, held, AttemptEnd(outcome=AttemptOutcome.SUCCEEDED))
    verdict = Verdict(state=JobState.SUCCEEDED, result=result, charge_micro_usd=charge)
    try:
        await settle(deps, held, verdict)
    except OncewardError:
        # A cancel came first, or the tables did not answer: the attempt has not succeeded as far as we can tell.
        held.job = replace(held.job, attempt=unfinished)
        raise


async def settle(deps: Deps, held: HeldJob, verdict: Verdict, also: tuple[Op, ...] = ()) -> None:
    """The one transaction that ends the job; a dead job's letter is sent after it.

    A flight is never dead: its failure is its participants', and so are the letters.
    """
    if held.job.open:  # they leave the row: the attempt's item keeps them, for a late answer to say what they cost
        await keep_attempt(deps.store, held.job)
    now = deps.clock.now()
    if held.job.is_flight:
        verdict = replace(verdict, is_dead=False)
    # A token of its own: a settle refused by a cancel is followed by another with other contents.
    reply = await deps.store.transact((*settle_ops(held.job, held.token, verdict, now), *also), deps.ids.token())
    if isinstance(reply, Refused) and not reply.is_row_refused:
        raise StoreUnavailable("the tenant's books refuse what its row says")
    if isinstance(reply, Refused):
        held.job = held.judge(reply)
    else:
        held.job = settle_change(held.job, held.token, verdict, now).apply(held.job)
    if verdict.is_dead:
        await send_letter(deps, held.job)


async def start_next_attempt(deps: Deps, held: HeldJob) -> None:
    """Close the attempt that another run lost, then begin the next one in one fenced write."""
    await close_lost_attempt(deps, held)
    await held.move(lambda job: next_attempt_change(job, held.token, deps.clock.now()))
    held.failures.clear()  # the next attempt may ask again what failed in the last one


async def close_lost_attempt(deps: Deps, held: HeldJob) -> None:
    """Put the attempt that was going on as its item: ``unknown`` if a call of it still is, else ``interrupted``."""
    attempt = held.job.attempt
    if attempt is None:
        return
    if attempt.outcome is None:
        outcome = AttemptOutcome.UNKNOWN if _has_own_maybe(held.job) else AttemptOutcome.INTERRUPTED
        _end_attempt(deps, held, AttemptEnd(outcome=outcome))
    await keep_attempt(deps.store, held.job)


async def look_up_later(deps: Deps, held: HeldJob, at: datetime) -> None:
    """Wait without an attempt until "not found" says something."""
    if held.job.is_in_review:
        await look_again(deps, held)
        return
    await held.move(lambda job: wait_change(job, held.token, at, WaitingFor.LOOKUP, deps.timing))


async def end_failed(deps: Deps, held: HeldJob, kind: AnyKind, failure: Failure) -> Decision:
    """Decide what follows a failed attempt, and write it with its reasons."""
    decision = decide_retry(kind.policy, _situation(deps, held, kind, failure))
    if held.job.is_flight:
        decision = shared_decision(decision, failure)
    if isinstance(decision, LookUpAt):
        await look_up_later(deps, held, decision.at)
        return decision
    outcome = AttemptOutcome.UNKNOWN if _has_own_maybe(held.job) else AttemptOutcome.FAILED
    why = AttemptEnd(outcome=outcome, error_class=failure.error_class, error_code=failure.code, decision=decision.why)
    _end_attempt(deps, held, why)
    await keep_attempt(deps.store, held.job, decision.reasons)
    match decision:
        case GiveUp(is_exhausted=True) if held.job.has_submitted:
            await park(deps, held)  # the answer that is still to come is paid for: a redrive must not buy it again
        case RetryAt(at=at):
            await held.move(lambda job: wait_change(job, held.token, at, WaitingFor.RETRY, deps.timing))
        case GiveUp(code=code, is_exhausted=is_exhausted):
            await stop_at_provider(deps, held)
            retry_at = _retry_at(deps, held, failure)
            verdict = Verdict(state=JobState.FAILED, error_code=code, is_dead=is_exhausted, retry_at=retry_at)
            await settle(deps, held, verdict)
        case Review():
            await park(deps, held)
    return decision


async def close(deps: Deps, held: HeldJob, kind: AnyKind, failure: Failure | None, *, is_bare: bool) -> Close:
    """End, or park, a job for which nothing more may be sent."""
    unread = is_bare and bool(held.job.bought)
    facts = {"has_failed": failure is not None, "has_unread_answer": unread, "is_news": held.has_news}
    end = decide_close(held.job, kind.policy, deps.clock.now(), **facts)
    if held.job.attempt is not None and held.job.attempt.outcome is None:
        _end_attempt(deps, held, AttemptEnd(outcome=_closing_outcome(held.job, end), error_code=_code(failure)))
    if end is not Close.REVIEW or held.job.cancel_requested_at is not None:
        await stop_at_provider(deps, held)
    match end:
        case Close.CANCELLED:
            _note_cancel(held)
            await settle(deps, held, Verdict(state=JobState.CANCELLED, error_code="cancelled"))
        case Close.REVIEW if held.job.is_in_review and held.job.wake_at is not None:
            _note_cancel(held)
            await look_again(deps, held)
        case Close.REVIEW:
            _note_cancel(held)
            await park(deps, held)
        case Close.EXHAUSTED:
            await settle(deps, held, Verdict(state=JobState.FAILED, error_code=end, is_dead=True))
        case Close.DEADLINE | Close.REVIEW_EXPIRED:
            await settle(deps, held, Verdict(state=JobState.FAILED, error_code=end))
        case Close.FAILED:
            await settle(deps, held, Verdict(state=JobState.FAILED, error_code=_code(failure)))
    return end


async def park(deps: Deps, held: HeldJob) -> None:
    """Leave the job to a person; the reservation stays held, and a dead letter tells of it."""
    await held.move(lambda job: review_change(job, held.token, deps.clock.now(), deps.timing))
    await send_letter(deps, held.job)


async def look_again(deps: Deps, held: HeldJob) -> None:
    """Back to review until the next look, at the limit at the latest."""
    now = deps.clock.now()
    limit = held.job.review_until or now
    attempt = held.job.attempt
    since = now if attempt is None or attempt.ended_at is None else attempt.ended_at
    await held.move(lambda job: look_later_change(job, held.token, next_look(since, now, limit)))


async def _still_ours(deps: Deps, held: HeldJob) -> None:
    """Store no result past our own lease without asking: the job may have ended since, and been erased."""
    if held.lease.is_lost:
        raise LeaseLost("another run holds the job")
    if held.lease.left() > timedelta(0):
        return
    row = await deps.store.get_job(held.tenant_id, held.job.identity)
    if row is None or not HeldBy(held.token).holds(row):
        raise LeaseLost("the lease ran out, and the job moved on")


async def _store_result(deps: Deps, held: HeldJob, output: BaseModel) -> ResultRef:
    """Name the answer that the output is, or put the output as this attempt's result item."""
    job = held.job
    value = output.model_dump(mode="json")
    for step, ref in job.accepted.items():
        if _is_same(held.texts.get(step, ""), value):
            return ResultRef(epoch=ref.epoch, attempt=ref.attempt, step=step)
    text = json.dumps(value, ensure_ascii=False, separators=(",", ":"))
    stored = await store_body(deps.blob, job.tenant_id, job.job_id, f"result/{job.epoch}/{job.attempts}", text)
    item = Result(
        tenant_id=job.tenant_id,
        job_id=job.job_id,
        epoch=job.epoch,
        attempt=job.attempts,
        body=stored.body,
        blob_key=stored.blob_key,
    )
    await keep_item(deps, held, item)
    return ResultRef(epoch=job.epoch, attempt=job.attempts)


def _is_same(text: str, value: object) -> bool:
    """Whether an answer's text is exactly the JSON of the output."""
    try:
        told = json.loads(text)
    except (ValueError, RecursionError):
        return False
    # As JSON: to Python, 1 and true and 1.0 are equal.
    return json.dumps(told, sort_keys=True) == json.dumps(value, sort_keys=True)


def _situation(deps: Deps, held: HeldJob, kind: AnyKind, failure: Failure) -> Situation:
    """The facts for the retry decision."""
    job = held.job
    unknown = [call for call in job.open if call.state is not CallState.SUBMITTED]
    findable = [call for call in unknown if deps.promise_to(call).lookup_lag is not None]
    look_at = max((_conclusive_at(deps, call) for call in findable), default=None)
    return Situation(
        failure=failure,
        attempts=job.attempts,
        spent=job.possible_spent,
        now=deps.clock.now(),
        deadline_at=job.deadline_at,
        jitter=deps.ids.jitter(),
        can_look_up_at=look_at,
        is_resend_deduped=bool(unknown) and all(_is_deduped(deps, kind, one) for one in unknown),
        is_repeat_allowed=bool(unknown) and all(is_carried(one, job.epoch) for one in unknown),
    )


def _conclusive_at(deps: Deps, call: OpenCall) -> datetime:
    """From when on its target's "not found" says something."""
    return conclusive_at(call, deps.promise_to(call), deps.timing)


def _is_deduped(deps: Deps, kind: AnyKind, call: OpenCall) -> bool:
    """Whether a re-send of this step could cost nothing."""
    capability = deps.promise_to(call)
    found = without_lookup(call, capability, kind.policy.retry.on_unknown, deps.timing, deps.clock.now())
    return isinstance(found, MayResend) and found.is_deduped


def _end_attempt(deps: Deps, held: HeldJob, end: AttemptEnd) -> None:
    """Note how the present attempt ended."""
    attempt = ended_attempt(held.job, end, deps.clock.now())
    if attempt is None:
        return
    held.job = replace(held.job, attempt=attempt)


def _note_cancel(held: HeldJob) -> None:
    """Record that the provider could not be told: what answers at once has no such thing as a cancel."""
    if held.job.cancel_requested_at is not None and held.job.provider_cancel is ProviderCancel.NONE:
        held.job = replace(held.job, provider_cancel=ProviderCancel.UNSUPPORTED)


def _retry_at(deps: Deps, held: HeldJob, failure: Failure) -> datetime | None:
    """Until when a target asked a flight to wait: its participants are to keep to it."""
    if not held.job.is_flight or failure.retry_after is None:
        return None
    return deps.clock.now() + failure.retry_after


def _closing_outcome(job: Job, end: Close) -> AttemptOutcome:
    """How the attempt that a closing run found unfinished is called."""
    if _has_own_maybe(job):
        return AttemptOutcome.UNKNOWN
    match end:
        case Close.CANCELLED:
            return AttemptOutcome.CANCELLED
        case Close.FAILED:
            return AttemptOutcome.FAILED
        case _:
            return AttemptOutcome.INTERRUPTED


def _has_own_maybe(job: Job) -> bool:
    """Whether a call of the present attempt is unknown; work that a provider still does is not."""
    return any(call.state is not CallState.SUBMITTED for call in job.own_open)


def _code(failure: Failure | None) -> str | None:
    """The failure's code, if there was one."""
    return None if failure is None else failure.code
