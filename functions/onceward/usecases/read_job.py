"""Read a job for its tenant: the row, its past attempts, what its calls cost, and the accepted result.

The row is the truth and is read first; the other items are only read where the row says that they exist, so that the
poll of a young job costs one read. Whatever is read later can only be newer evidence of the same job.
"""

from __future__ import annotations

import json
from collections.abc import Iterable
from dataclasses import dataclass
from datetime import timedelta

from pydantic import JsonValue

from onceward.domain.job import Job, OpenCall, ResultRef
from onceward.domain.names import JobId, TenantId, identity_of, is_job_id
from onceward.domain.records import Answer, PastAttempt, Result, answer_prefix, attempt_prefix
from onceward.domain.states import JobState
from onceward.errors import JobNotFound
from onceward.usecases.bodies import load_body
from onceward.usecases.ports import Blob, Clock, Store

FIRST_LOOK = timedelta(milliseconds=250)  # a short job should not wait for us
LAST_LOOK = timedelta(seconds=2)  # a long one should not cost a read more often


@dataclass(frozen=True, slots=True, kw_only=True)
class Reading:
    """What is known of a job: ``past`` oldest first, ``answers`` only once it has ended, ``result`` as JSON.

    ``open_at_end``: the calls whose bounds the end of the job has booked; a late answer may say more of them.
    """

    job: Job
    past: tuple[PastAttempt, ...] = ()
    answers: tuple[Answer, ...] = ()
    open_at_end: tuple[OpenCall, ...] = ()
    result: JsonValue = None


async def find_job(store: Store, clock: Clock, tenant_id: TenantId, job_id: str, *, or_flight: bool = False) -> Job:
    """The row of a job of this tenant; raises ``JobNotFound`` for absent, foreign, expired and later lives alike.

    A flight is nobody's own job: it is found only by who asks for one too, to decide its review for all.
    """
    if is_job_id(job_id):
        job = await store.get_job(tenant_id, identity_of(JobId(job_id)))
        if job is not None and job.job_id == job_id and job.expires_at > clock.now():
            if job.is_flight and not or_flight:
                raise JobNotFound("no such job")
            return job
    raise JobNotFound("no such job")


async def read_job(
    store: Store, blob: Blob, clock: Clock, *, tenant_id: TenantId, job_id: str, wait: timedelta = timedelta(0)
) -> Reading:
    """Everything a tenant may know of its job, after at most ``wait`` if it has not come to rest before.

    Raises ``JobNotFound``.
    """
    job = await _at_rest(store, clock, tenant_id, job_id, wait)
    past = await _past(store, job)
    if not job.state.is_terminal:
        return Reading(job=job, past=past)
    answers = await _answers(store, job)
    ref = None if job.erased_at is not None else job.result
    result = None if ref is None else await _result(store, blob, job, ref, answers)
    return Reading(job=job, past=past, answers=answers, open_at_end=open_at_end(job, past), result=result)


def open_at_end(job: Job, kept: Iterable[PastAttempt]) -> tuple[OpenCall, ...]:
    """The calls that were open when the job ended: its last attempt's item keeps them."""
    place = (job.epoch, job.attempts)
    last = next((one for one in kept if (one.epoch, one.number) == place), None)
    return () if last is None or not job.state.is_terminal else last.open


async def _at_rest(store: Store, clock: Clock, tenant_id: TenantId, job_id: str, wait: timedelta) -> Job:
    """Look at the row again, less and less often, until nothing more happens by itself or the wait is over."""
    until = clock.monotonic() + wait.total_seconds()
    step = FIRST_LOOK
    while True:
        job = await find_job(store, clock, tenant_id, job_id)
        left = timedelta(seconds=until - clock.monotonic())
        if job.state.is_terminal or job.state is JobState.NEEDS_REVIEW or left <= timedelta(0):
            return job
        await clock.sleep(min(step, left))
        step = min(step * 2, LAST_LOOK)


async def _past(store: Store, job: Job) -> tuple[PastAttempt, ...]:
    """The items of its attempts; the first attempt of the first epoch has one only if it ended with an open call."""
    begun = job.attempts if job.attempt is not None else job.attempts + 1  # one that was given back is not begun
    if job.epoch == 1 and begun <= 1 and (job.spent.is_exact or not job.state.is_terminal):
        return ()
    items = await store.list_cold(job.tenant_id, job.job_id, attempt_prefix())
    return tuple(item for item in items if isinstance(item, PastAttempt))


async def _answers(store: Store, job: Job) -> tuple[Answer, ...]:
    """What targets answered, for usage and for the result."""
    items = await store.list_cold(job.tenant_id, job.job_id, answer_prefix())
    return tuple(item for item in items if isinstance(item, Answer))


async def _result(store: Store, blob: Blob, job: Job, ref: ResultRef, answers: tuple[Answer, ...]) -> JsonValue:
    """The accepted result: the text of a step's answer, or the attempt's own result item.

    An erasure empties an item and leaves it there; only TTL takes it, in any order with its row. Then the row may be
    there for a moment more, and be no job any more: raises ``JobNotFound``, since a success without its result is none.
    """
    if ref.step is None:
        place = Result(tenant_id=job.tenant_id, job_id=job.job_id, epoch=ref.epoch, attempt=ref.attempt, body=None)
        item = await store.get_cold(job.tenant_id, job.job_id, place.sort_key)
        if not isinstance(item, Result):
            raise JobNotFound("no such job")
        return _json(await load_body(blob, item.body, item.blob_key))
    named = (ref.epoch, ref.attempt, ref.step)
    answer = next((one for one in answers if (one.epoch, one.attempt, one.step) == named), None)
    if answer is None:
        raise JobNotFound("no such job")
    reply = _json(await load_body(blob, answer.body, answer.blob_key))
    text = reply.get("text") if isinstance(reply, dict) else None
    return _json(text) if isinstance(text, str) else None


def _json(text: str) -> JsonValue:
    """Parse what we stored ourselves."""
    value: JsonValue = json.loads(text)
    return value
