"""Resolve a review: write a person's verdict, unless the truth, a cancel or another person was there first.

Read the row, the record of that review and the answers; decide; write one transaction; or say what decided instead. A
write that is refused lost a race: everything is read and decided anew, so that our own write, applied and retried by
the SDK, is found by its record and answered as done (the own-token rule). Dying after the write loses a message at
most: a retried job is due, and the sweeper wakes it.
"""

from __future__ import annotations

import hashlib
import json
from dataclasses import dataclass

from pydantic import BaseModel, JsonValue, ValidationError

from onceward.domain.job import Job
from onceward.domain.names import RunToken, TenantId
from onceward.domain.records import Answer, Result, ReviewRecord, answer_prefix, review_place
from onceward.domain.resolving import (
    PERSONS_ATTEMPT,
    Resolving,
    Unresolvable,
    Wish,
    decide_resolve,
    hasten_change,
    resolve_ops,
)
from onceward.domain.states import Resolution
from onceward.domain.transaction import Refused
from onceward.errors import (
    AnswerArrived,
    CancelRecorded,
    Fault,
    InvalidInput,
    NotInReview,
    PaymentUnconfirmed,
    RequestError,
    ReviewLooking,
    ReviewResolved,
    StoreBusy,
    StoreUnavailable,
    UnknownKind,
)
from onceward.usecases.bodies import store_body, take_back
from onceward.usecases.charge_job import charge_job
from onceward.usecases.erase_job import Eraser, erase_if_deserted
from onceward.usecases.keep_attempt import keep_attempt
from onceward.usecases.output_text import output_text
from onceward.usecases.pointers import faults_of
from onceward.usecases.read_job import find_job
from onceward.usecases.registry import Registry
from onceward.usecases.submit_job import Intake, dispatch_job
from onceward.usecases.tell_participants import tell_participants

TRIES = 5  # each lost race means that the job moved on; five in a row, and the person may ask again

REFUSALS: dict[Unresolvable, tuple[type[RequestError], str]] = {
    Unresolvable.NOT_IN_REVIEW: (NotInReview, "the job is not in review in this epoch; read it to see what decided"),
    Unresolvable.LOOKING: (ReviewLooking, "a run is just looking for the truth; ask again in a moment"),
    Unresolvable.RESOLVED: (ReviewResolved, "this review was resolved otherwise"),
    Unresolvable.CANCELLED: (CancelRecorded, "a cancel is recorded: this review can only be failed"),
    Unresolvable.ANSWERED: (AnswerArrived, "the answer has come by itself; the job goes on with it now"),
    Unresolvable.SHARED: (NotInReview, "its flight is in review: resolve the flight, which its review names"),
    Unresolvable.UNKNOWN_CODE: (UnknownKind, "this code does not know the job's kind in its version"),
}


@dataclass(frozen=True, slots=True, kw_only=True)
class Verdict:
    """What a person decides about the review of ``epoch``; ``result`` with an accept, ``may_pay_twice`` with a retry.

    ``by`` is who is known to ask, never what a request says of itself.
    """

    tenant_id: TenantId
    job_id: str
    resolution: Resolution
    epoch: int
    by: str
    why: str
    result: JsonValue = None
    may_pay_twice: bool = False


@dataclass(frozen=True, slots=True)
class Resolved:
    """The row as it is now, and the record; ``is_replay``: this verdict had been written before."""

    job: Job
    record: ReviewRecord
    is_replay: bool


async def resolve_job(ports: Intake, verdict: Verdict) -> Resolved:
    """Write the verdict, or answer it as done; raises ``JobNotFound`` and what ``REFUSALS`` names."""
    if verdict.resolution is Resolution.RETRY and not verdict.may_pay_twice:
        raise PaymentUnconfirmed("a retry may pay a second time: say that this is meant")
    for _ in range(TRIES):
        job = await find_job(ports.store, ports.clock, verdict.tenant_id, verdict.job_id, or_flight=True)
        wish = _wish(ports.registry, job, verdict)
        record = await _record(ports, job, verdict.epoch)
        answers = await _answers(ports, job)
        decided = decide_resolve(job, record, answers, wish, ports.registry.limits, ports.clock.now())
        if isinstance(decided, ReviewRecord):
            return Resolved(job, decided, is_replay=True)
        if isinstance(decided, Unresolvable):
            if decided is Unresolvable.ANSWERED:
                await _look_now(ports, job)
            error, detail = REFUSALS[decided]
            raise error(detail)
        written = await _write(ports, job, verdict, wish)
        if written is not None:
            return written
    raise StoreBusy("the job kept moving while it was being resolved")


async def _write(ports: Intake, job: Job, verdict: Verdict, wish: Wish) -> Resolved | None:
    """One transaction; ``None``: something was quicker, or this was our own write already."""
    token = RunToken(ports.ids.token())
    kind = ports.registry.find(job.kind)
    result, charge = None, 0
    if verdict.resolution is Resolution.ACCEPT:
        output, text = _output(ports.registry, job, verdict.result)
        charge = await charge_job(ports.store, job, kind, output)
        result = await _result(ports, job, text, token)
    how = Resolving(
        token=token, now=ports.clock.now(), timing=ports.timing, policy=kind.policy, charge_micro_usd=charge
    )
    await keep_attempt(ports.store, job)
    written = resolve_ops(job, wish, result, how)
    reply = await ports.store.transact(written.ops, token)
    if isinstance(reply, Refused):
        if not reply.is_row_refused:
            raise StoreUnavailable("the tenant's books refuse what its row says")
        if result is not None and (reply.row is None or reply.row.run_token != token):
            await take_back(ports.blob, result.blob_key)  # its name holds our token: no row can name it
        return None
    if wish.resolution is Resolution.RETRY:
        await dispatch_job(ports.queue, written.after)
    if job.is_flight:
        await tell_participants(ports.store, ports.queue, ports.clock, ports.timing, written.after)
        await erase_if_deserted(Eraser(store=ports.store, blob=ports.blob, clock=ports.clock, ids=ports.ids), job)
    return Resolved(written.after, written.record, is_replay=False)


def _wish(registry: Registry, job: Job, verdict: Verdict) -> Wish:
    """The verdict as it is compared and recorded; raises ``InvalidInput`` for a result that breaks the kind's model."""
    digest = None
    if verdict.resolution is Resolution.ACCEPT:
        _, text = _output(registry, job, verdict.result)
        digest = hashlib.sha256(json.dumps(json.loads(text), sort_keys=True).encode()).hexdigest()
    return Wish(resolution=verdict.resolution, epoch=verdict.epoch, by=verdict.by, why=verdict.why, digest=digest)


def _output(registry: Registry, job: Job, given: JsonValue) -> tuple[BaseModel, str]:
    """A given result as the kind's own model says it, and its text; raises ``InvalidInput``.

    The model, its serializers and ``pages_of`` are the kind's own code, which may not be ready for what a person gives.
    """
    kind = registry.find(job.kind)
    model = kind.output_model
    try:
        output = model.model_validate(given)
        text = output_text(output)
        kind.pages_of(output)  # asked again when it is charged
    except ValidationError as error:
        raise InvalidInput("the result breaks the kind's model", faults=faults_of(error, model, "/result")) from None
    except Exception:  # noqa: BLE001  # as said above
        raise InvalidInput("the kind can make no result of it", faults=[Fault("/result", "no result")]) from None
    return output, text


async def _result(ports: Intake, job: Job, text: str, token: RunToken) -> Result:
    """The given result as the item that the row will name; a large one is an object first."""
    name = f"result/{job.epoch}/{PERSONS_ATTEMPT}/{token}"
    stored = await store_body(ports.blob, job.tenant_id, job.job_id, name, text)
    return Result(
        tenant_id=job.tenant_id,
        job_id=job.job_id,
        epoch=job.epoch,
        attempt=PERSONS_ATTEMPT,
        body=stored.body,
        blob_key=stored.blob_key,
    )


async def _record(ports: Intake, job: Job, epoch: int) -> ReviewRecord | None:
    """The record of an epoch's review."""
    item = await ports.store.get_cold(job.tenant_id, job.job_id, review_place(epoch))
    return item if isinstance(item, ReviewRecord) else None


async def _answers(ports: Intake, job: Job) -> list[Answer]:
    """What has arrived for the calls that are open."""
    if not job.open:
        return []
    items = await ports.store.list_cold(job.tenant_id, job.job_id, answer_prefix())
    return [item for item in items if isinstance(item, Answer)]


async def _look_now(ports: Intake, job: Job) -> None:
    """Bring the look that uses what has arrived; a refused write means that it has begun."""
    change = hasten_change(job, ports.clock.now())
    if change is not None and not isinstance(await ports.store.update_job(job.tenant_id, job.job_id, change), Refused):
        await dispatch_job(ports.queue, job)
