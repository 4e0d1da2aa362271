"""Recover: what became of calls that were sent and have no accepted answer, before anything else is done.

What is learned is noted on the held job and becomes durable with the run's next fenced write; dying in between costs
another recovery, which finds the same.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from datetime import datetime, timedelta
from typing import Literal

from onceward.domain.job import AnswerRef, OpenCall
from onceward.domain.policy import KindPolicy
from onceward.domain.records import Answer, ProviderReference, answer_prefix
from onceward.domain.recovery import (
    Adopt,
    DidFail,
    DidNotHappen,
    Finding,
    Forbidden,
    LookAgain,
    LookupReply,
    MayResend,
    Pending,
    PollReply,
    from_lookup,
    from_stored_answers,
    is_carried,
    refusal_of,
    without_lookup,
)
from onceward.domain.repeating import after_refusal, is_silent, with_earlier_send
from onceward.domain.states import CallState, WaitingFor
from onceward.domain.timing import MAX_LOST
from onceward.errors import CallFailure, InfrastructureError
from onceward.usecases.deps import Deps
from onceward.usecases.held_job import HeldJob
from onceward.usecases.keep_answer import keep_failure, keep_reference, keep_reply
from onceward.usecases.place import place_of
from onceward.usecases.ports import Submitted
from onceward.usecases.wait_for_answer import poll_at_of


@dataclass(frozen=True, slots=True)
class Recovered:
    """What recovery leaves: nothing, an instant to look again, or a maybe that policy forbids to repeat.

    ``poll_at``: a provider works on a call, and is to be asked then.
    ``is_news``: something became known that was not before, so that the kind's code may come further than it did.
    """

    look_again_at: datetime | None = None
    poll_at: datetime | None = None
    is_forbidden: bool = False
    is_news: bool = False


async def recover_calls(deps: Deps, held: HeldJob, policy: KindPolicy) -> Recovered:
    """Look at every open call once; each ends adopted, failed, undone, allowed again, or still a maybe."""
    goes_on = held.job.waiting_for is WaitingFor.PROVIDER
    if not held.job.open and not goes_on:
        return Recovered()
    stored = await deps.store.list_cold(held.tenant_id, held.job_id, answer_prefix())
    answers = [item for item in stored if isinstance(item, Answer)]
    references = [item for item in stored if isinstance(item, ProviderReference)]
    if goes_on:
        _note_failures(held, answers)
    look_again_at: datetime | None = None
    is_forbidden, is_news = False, False
    for sent in held.job.open:
        call = _standing(held, sent, answers)
        reference = next((one for one in references if _is_of(one, call)), None)
        finding = await _found(deps, held, call, answers, reference, policy)
        if isinstance(finding, DidNotHappen):
            call, finding = _before_absent(deps, held, call, policy)
        _note(held, call, finding)
        if isinstance(finding, LookAgain):
            look_again_at = finding.at if look_again_at is None else min(look_again_at, finding.at)
        is_forbidden = is_forbidden or isinstance(finding, Forbidden)
        is_news = is_news or not isinstance(finding, LookAgain | Pending | MayResend | Forbidden)
    return Recovered(look_again_at, poll_at_of(deps, held), is_forbidden, is_news)


async def _found(
    deps: Deps,
    held: HeldJob,
    call: OpenCall,
    answers: Sequence[Answer],
    reference: ProviderReference | None,
    policy: KindPolicy,
) -> Finding | None:
    """The finding; whatever a target's answer does to the code that reads it, the call stays a maybe, no more.

    Without this a job whose lookup cannot be read would never come to its deadline, its losses, or a person.
    """
    try:
        evidence = from_stored_answers(call, answers)
        if evidence is not None:
            return evidence
        if reference is None:
            return await _find(deps, held, call, policy)
        polled = await _poll(deps, held, call, reference, policy)
        return _by_policy(deps, held, call, policy) if polled is PollReply.GONE else polled
    except InfrastructureError:
        raise
    except Exception as error:  # noqa: BLE001  # what a target answers is not ours
        held.notes.add(f"recovery: {place_of(error)}")
        return LookAgain(deps.clock.now() + deps.timing.infrastructure_backoff)


async def _poll(
    deps: Deps, held: HeldJob, call: OpenCall, reference: ProviderReference, policy: KindPolicy
) -> Finding | Literal[PollReply.GONE] | None:
    """Ask for the answer by the provider's reference. ``GONE``: nobody keeps it any more.

    ``None``: the call has ended, which is noted. A provider that is another now knows nothing of the reference.
    """
    if reference.provider != deps.provider.name or deps.provider.capability.kept is None:
        return PollReply.GONE
    if held.job.lost >= MAX_LOST:
        return Forbidden()  # the answer to this very question may be what kills the process
    try:
        reply = await deps.provider.poll(reference.reference, call.key, deps.timing.settle_budget)
    except CallFailure as failure:
        await keep_failure(deps, held, call, failure, policy)
        if held.job.is_present(call.epoch, call.attempt):
            held.failures[call.step] = failure
        await _forget(deps, held, reference)
        return None
    if isinstance(reply, PollReply):
        return PollReply.GONE if reply is PollReply.GONE else Pending()
    await keep_reply(deps, held, call, reply, policy)
    await _forget(deps, held, reference)
    return None


async def _forget(deps: Deps, held: HeldJob, reference: ProviderReference) -> None:
    """Let the provider delete what it keeps of a call whose answer is an item here by now.

    Only under a live lease: who claims the job after it finds the item, and polls no more. Where a run has lost its
    lease, another may have looked for the item before it was put, and must still find the answer at the provider.
    Whoever dies here leaves it to the provider's own time.
    """
    if not held.lease.is_lost and held.lease.left() > timedelta(0):
        await deps.provider.forget(reference.reference, deps.timing.settle_budget)


async def _find(deps: Deps, held: HeldJob, call: OpenCall, policy: KindPolicy) -> Finding | None:
    """A question by key, then the rule; ``None``: a lookup found its end, which is noted."""
    target, timing = deps.target_of(call.target), deps.timing
    capability = target.capability
    if capability.lookup_lag is None:
        return _by_policy(deps, held, call, policy)
    if held.job.lost >= MAX_LOST:
        return Forbidden()  # the answer to this very question may be what kills the process
    # The clock is read before the question: what was hidden then may have become visible since, never the reverse.
    asked_at = deps.clock.now()
    try:
        reply = await target.lookup(call.key, timing.settle_budget)
    except CallFailure as failure:
        await keep_failure(deps, held, call, failure, policy)
        return None
    if isinstance(reply, LookupReply):
        if deps.promise_to(call).lookup_lag is None:  # what it finds is evidence; that it finds nothing is none
            return _by_policy(deps, held, call, policy)
        return from_lookup(call, reply, capability, timing, asked_at)
    if isinstance(reply, Submitted):  # it was taken: from here on it is polled, as if its reference had been heard
        await keep_reference(deps, held, call, reply.reference)
        return Pending()
    await keep_reply(deps, held, call, reply, policy)
    return None


def _by_policy(deps: Deps, held: HeldJob, call: OpenCall, policy: KindPolicy) -> Finding:
    """What may be done where nothing can be found out.

    Work that was taken and is kept no more is asked for by no key: a provider that has forgotten it would say that it
    never was.
    """
    is_allowed, now = is_carried(call, held.job.epoch), deps.clock.now()
    return without_lookup(call, deps.promise_to(call), policy.retry.on_unknown, deps.timing, now, is_allowed=is_allowed)


def _note(held: HeldJob, call: OpenCall, finding: Finding | None) -> None:
    """Put a finding on our copy of the row."""
    match finding:
        case Adopt(answer):
            held.accept(call.step, AnswerRef(epoch=answer.epoch, attempt=answer.attempt))
            held.book(answer.cost, answer)
        case DidFail(answer):
            _close_refused(held, call, answer)
        case DidNotHappen():
            held.close_call(call.step)
        case Pending():
            held.open_call(replace(call, state=CallState.SUBMITTED))
        case LookAgain() | MayResend() | Forbidden():
            held.open_call(replace(call, state=CallState.UNKNOWN))
        case None:
            pass


def _standing(held: HeldJob, call: OpenCall, answers: Sequence[Answer]) -> OpenCall:
    """The call whose outcome is to be found out: of a repeat that was refused, the send before it, which is noted.

    Of a repeat that older code has sent nobody knows that send's place: it stays as it is, and stands for both.
    """
    refusal = refusal_of(call, answers)
    if refusal is None or call.repeats is None or not is_silent(call, refusal):
        return call
    _close_refused(held, call, refusal)
    return held.job.call_of(call.step) or call


def _before_absent(deps: Deps, held: HeldJob, call: OpenCall, policy: KindPolicy) -> tuple[OpenCall, Finding]:
    """What a call that did not happen leaves: the send before it, where its target had promised it no lookups."""
    others = tuple(one for one in held.job.open if one.step != call.step)
    job = with_earlier_send(replace(held.job, open=others), call)
    earlier = job.call_of(call.step)
    if earlier is None or deps.promise_to(earlier).lookup_lag is not None:
        return call, DidNotHappen()
    held.job = job
    return earlier, _by_policy(deps, held, earlier, policy)


def _close_refused(held: HeldJob, call: OpenCall, refusal: Answer) -> None:
    """Note what a refusal that is recorded leaves of its call, as whoever heard it would have."""
    held.close_call(call.step)
    held.book(refusal.cost, refusal)
    held.job = after_refusal(held.job, call, refusal)


def _is_of(reference: ProviderReference, call: OpenCall) -> bool:
    """Whether a reference is for this very send."""
    return (reference.step, reference.epoch, reference.attempt) == (call.step, call.epoch, call.attempt)


def _note_failures(held: HeldJob, answers: Sequence[Answer]) -> None:
    """Steps of the attempt that goes on which have failed: it sent them, and does not send them again."""
    job = held.job
    for one in answers:
        is_own = job.is_present(one.epoch, one.attempt) and one.step not in job.accepted
        if is_own and one.state is CallState.FAILED and one.error_class is not None:
            held.failures[one.step] = CallFailure(
                "it failed in an earlier run of this attempt",
                code=one.error_code or CallFailure.code,
                error_class=one.error_class,
                was_sent=True,
            )
