"""Keep what a target answered: the answer's item first, then the note on the held job.

The item is the one thing that a run may still write after it has lost its lease. It is put only if none is there: an
attempt sends a step once, so a second put is the same answer again.
"""

from __future__ import annotations

from dataclasses import replace
from datetime import timedelta

from pydantic import TypeAdapter

from onceward.domain.ending import journal_change
from onceward.domain.erasing import emptied
from onceward.domain.job import AnswerRef, OpenCall
from onceward.domain.money import Cost
from onceward.domain.names import CallFingerprint, StepKey, downstream_key, run_name
from onceward.domain.policy import KindPolicy
from onceward.domain.records import LOCAL, Answer, ProviderReference, Result, Usage
from onceward.domain.states import CallState
from onceward.domain.transaction import PutCold
from onceward.errors import CallFailure, JobFailure, LeaseLost
from onceward.usecases.bodies import load_body, store_body, take_back
from onceward.usecases.deps import Deps
from onceward.usecases.held_job import HeldJob
from onceward.usecases.ports import ModelReply

REPLY = TypeAdapter(ModelReply)
CHANGED = "call_changed"  # the job fails with it: its code asks something else than it did under the same step


async def keep_failure(deps: Deps, held: HeldJob, call: OpenCall, failure: CallFailure, policy: KindPolicy) -> Answer:
    """Record an answered failure, with what it cost all the same; it ends the maybe and is never adopted."""
    # A failure that names its model was an answer of that model, and is charged even if it does not say how much.
    is_charged = failure.model is not None
    cost = cost_of(deps, call, failure.model, failure.usage, policy) if is_charged else Cost.nothing()
    answer = replace(
        blank_answer(deps, held, call, CallState.FAILED, cost),
        error_class=failure.error_class,
        error_code=failure.code,
        usage=failure.usage,
        model=failure.model,
        request_id=failure.request_id,
    )
    await keep_item(deps, held, answer)
    held.close_call(call.step)
    held.book(cost, call)
    return answer


def blank_answer(deps: Deps, held: HeldJob, call: OpenCall, state: CallState, cost: Cost) -> Answer:
    """An answer's item, still without its content."""
    return Answer(
        tenant_id=held.tenant_id,
        job_id=held.job_id,
        step=call.step,
        epoch=call.epoch,
        attempt=call.attempt,
        key=call.key,
        state=state,
        answered_at=deps.clock.now(),
        cost=cost,
        provider=deps.target_of(call.target).name,
        asked=call.asked,
    )


def cost_of(deps: Deps, call: OpenCall, model: str | None, usage: Usage | None, policy: KindPolicy) -> Cost:
    """What a reply cost; without usage or price it is unpriced, bounded by the kind's maximum."""
    price = None if model is None or usage is None else deps.target_of(call.target).price(model, usage)
    if price is not None:
        return Cost.exact(price)
    # Never zero, also where a kind declared no maximum: what is unpriced must show in every sum and every metric.
    return Cost(low=0, high=max(call.max_cost, policy.max_call_cost, 1), unpriced=True)


async def keep_reply(deps: Deps, held: HeldJob, call: OpenCall, reply: ModelReply, policy: KindPolicy) -> ModelReply:
    """Store a good reply as its attempt's item and note it as accepted; a reply already stored stays, and counts.

    Half a surrogate pair, which JSON can spell and UTF-8 cannot, becomes U+FFFD: what was paid for must be storable.
    """
    reply = replace(reply, text=reply.text.encode("utf-16", "surrogatepass").decode("utf-16", "replace"))
    cost = cost_of(deps, call, reply.model, reply.usage, policy)
    text = REPLY.dump_json(reply).decode()
    name = f"call/{call.epoch}/{call.step}/{call.attempt}"
    stored = await store_body(deps.blob, held.tenant_id, held.job_id, name, text)
    item = replace(
        blank_answer(deps, held, call, CallState.SUCCEEDED, cost),
        body=stored.body,
        blob_key=stored.blob_key,
        usage=reply.usage,
        model=reply.model,
        request_id=reply.request_id,
    )
    await keep_item(deps, held, item)
    held.accept(call.step, AnswerRef(epoch=call.epoch, attempt=call.attempt))
    held.texts[call.step] = reply.text
    held.book(cost, call)
    return reply


async def keep_made(deps: Deps, held: HeldJob, step: StepKey, asked: CallFingerprint, text: str) -> str:
    """Store what a local step made, accept it in a fenced write of its own, and return what counts.

    That is what an earlier run of this attempt stored, if one did and could not say so: whoever is first at the place
    decides for all. A large body is an object under this run's own name, so that no other run can put another there.
    """
    if held.lease.is_lost:
        raise LeaseLost("another run holds the job")
    job = held.job
    name = f"step/{job.epoch}/{step}/{job.attempts}/{run_name(held.token)}"
    reply = ModelReply(text=text, finish="stop", model=LOCAL, usage=None)
    stored = await store_body(deps.blob, held.tenant_id, held.job_id, name, REPLY.dump_json(reply).decode())
    item = Answer(
        tenant_id=held.tenant_id,
        job_id=held.job_id,
        step=step,
        epoch=job.epoch,
        attempt=job.attempts,
        key=downstream_key(held.job_id, job.epoch, step),
        state=CallState.SUCCEEDED,
        answered_at=deps.clock.now(),
        body=stored.body,
        blob_key=stored.blob_key,
        cost=Cost.nothing(),
        provider=LOCAL,
        asked=asked,
    )
    if not await keep_item(deps, held, item):
        text = await _made_before(deps, item)
    held.accept(step, AnswerRef(epoch=job.epoch, attempt=job.attempts, is_local=True))
    held.texts[step] = text
    await held.prolong(lambda job, until: journal_change(job, held.token, until))
    return text


async def _made_before(deps: Deps, item: Answer) -> str:
    """What is at the place of a local step's item; ours goes away, unless it is ours that is there.

    Raises ``JobFailure`` if it was made of something else: the code has changed since.
    """
    there = await deps.store.get_cold(item.tenant_id, item.job_id, item.sort_key)
    if not isinstance(there, Answer) or there.blob_key != item.blob_key:
        await take_back(deps.blob, item.blob_key)
    if not isinstance(there, Answer) or there.asked != item.asked:
        raise JobFailure("this step has an answer, to another question", code=CHANGED)
    return REPLY.validate_json(await load_body(deps.blob, there.body, there.blob_key)).text


async def keep_reference(deps: Deps, held: HeldJob, call: OpenCall, reference: str) -> None:
    """Store the provider's reference, before the row says ``submitted``: then a crash in between loses nothing."""
    item = ProviderReference(
        tenant_id=held.tenant_id,
        job_id=held.job_id,
        step=call.step,
        epoch=call.epoch,
        attempt=call.attempt,
        key=call.key,
        provider=deps.provider.name,
        reference=reference,
        submitted_at=deps.clock.now(),
    )
    await deps.store.put_cold(item, held.job.expires_at)
    held.open_call(replace(call, state=CallState.SUBMITTED))


async def keep_item(deps: Deps, held: HeldJob, item: Answer | Result) -> bool:
    """Put what a run made; ``False``: something is at its place, and stays.

    A late one of a job that was erased meanwhile keeps its cost and loses its content. So does what is there, which
    may be our own put, asked for again by the SDK; another's, emptied already, stays as it is.
    An erasure that begins after the look finds the item by itself: the look comes after the put.
    """
    is_put = await deps.store.put_cold(item, held.job.expires_at)
    if not held.lease.is_lost and held.lease.left() > timedelta(0):
        return is_put  # a job is erased only when it has ended, and ours has not
    row = await deps.store.get_job(held.tenant_id, held.job.identity)
    if row is not None and row.job_id == held.job_id and row.erased_at is None:
        return is_put
    if item.blob_key is not None:
        await deps.blob.erase(item.blob_key)
    there = item if is_put else await deps.store.get_cold(item.tenant_id, item.job_id, item.sort_key)
    empty = None if there is None else emptied(there)
    if empty is not None:
        await deps.store.transact([PutCold(empty, held.job.expires_at)], deps.ids.token())
    return is_put
