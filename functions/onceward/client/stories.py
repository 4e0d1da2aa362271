"""What the SDK does, once for both colours: each story yields what to send and is given what came back.

A story neither sends nor sleeps, so the synchronous and the asynchronous client share every rule and differ by the
loop that drives it; and a test drives it by hand, without a socket and without waiting.
"""

from __future__ import annotations

import secrets
from collections.abc import Generator
from dataclasses import dataclass

from pydantic import JsonValue

from onceward.client.answers import Job, NoAnswer, Reply, api_error, read_answer, upload_refused
from onceward.client.document import Document
from onceward.client.exceptions import ClientError, ConnectionFailed, WaitTimeout
from onceward.client.request import (
    JobInput,
    Request,
    cancel_job,
    create_job,
    create_upload,
    erase_job,
    list_jobs,
    list_reviews,
    post_form,
    read_account,
    read_history,
    read_job,
    read_review,
    resolve_review,
)
from onceward.client.results import is_settled, result_of
from onceward.client.retrying import asked_delay, decide_retry
from onceward.client.target import Target
from onceward.wire.history import JobHistory
from onceward.wire.responses import AccountView, JobAccepted, JobList, JobView, UploadAccepted
from onceward.wire.reviews import ResolveReview, ReviewList, ReviewResolved, ReviewView

LONGEST_HOLD = 20.0  # seconds; the API takes 25 at most, and proxies on the way tend to hang up at 30
UNASKED_PAUSE = 1.0  # seconds between two looks where the server asks for none
KEY_BYTES = 18  # 144 random bits: 24 characters


@dataclass(frozen=True, slots=True)
class Send:
    """Send this, so many seconds from now."""

    request: Request
    after: float = 0.0


@dataclass(frozen=True, slots=True)
class Told[Result]:
    """The story is over, and this is what came of it."""

    result: Result


type Story[Result] = Generator[Send, Reply | NoAnswer, Result]


def advance[Result](story: Story[Result], came: Reply | NoAnswer | None) -> Send | Told[Result]:
    """Hand a story what came back (``None`` at its beginning); what it wants sent, or its end."""
    try:
        return next(story) if came is None else story.send(came)
    except StopIteration as end:
        return Told(end.value)


def exchange(target: Target, request: Request, after: float = 0.0, end: float | None = None) -> Story[Reply]:
    """Send until there is an answer worth telling, the same bytes each time; raises ``ConnectionFailed``.

    ``end``: the monotonic second beyond which no pause may reach; whoever would have to wait longer is told.
    """
    tries = 0
    while True:
        came = yield Send(request, after)
        tries += 1
        if isinstance(came, Reply) and came.is_success:
            return came
        decided = after_failure(target, request, came, tries, end)
        if isinstance(decided, Reply):
            return decided
        after = decided


def after_failure(
    target: Target, request: Request, came: Reply | NoAnswer, tries: int, end: float | None
) -> float | Reply:
    """Seconds until it is sent again, or the answer to be told; raises ``ConnectionFailed`` where there was none."""
    reply = came if isinstance(came, Reply) else None
    pause = decide_retry(
        status=reply.status if reply else None,
        headers=reply.headers if reply else {},
        tries=tries,
        max_retries=target.max_retries,
        draw=target.draw(),
        now=target.now(),
    )
    if pause is not None and (end is None or target.monotonic() + pause <= end):
        return pause
    if isinstance(came, Reply):
        return came
    # The cause's own text may quote a header, so only its class is told.
    why = f"{type(came.cause).__name__}, {tries} tries"
    raise ConnectionFailed(f"no answer from {request.url or target.base_url} ({why})") from came.cause


def upload(target: Target, document: Document) -> Story[str]:
    """Get a form, post the document with it; the document's id. Raises ``ApiError`` and ``UploadRefused``."""
    asked = yield from exchange(target, create_upload(document))
    form = read_answer(asked, UploadAccepted, target)
    reply = yield from exchange(target, post_form(form, document))
    if not reply.is_success:
        raise upload_refused(reply)
    return form.document_id


def submit(target: Target, kind: str, given: JobInput, key: str | None, *, coalesce: bool = True) -> Story[Job]:
    """Create a job. The key is there before the first send, so that every try asks for one and the same job."""
    known = secrets.token_urlsafe(KEY_BYTES) if key is None else key
    request = create_job(kind, given, known, coalesce=coalesce)
    try:
        reply = yield from exchange(target, request)
        is_replay = reply.headers.get("idempotent-replayed", "").lower() == "true"
        return read_answer(reply, Job, target, idempotency_key=known, is_replay=is_replay)
    except ClientError as error:
        error.idempotency_key = known
        raise


def get(target: Target, job_id: str) -> Story[JobView]:
    """How a job stands."""
    return read_answer((yield from exchange(target, read_job(job_id))), JobView, target)


def list_page(
    target: Target, status: str | None, kind: str | None, limit: int | None, cursor: str | None
) -> Story[JobList]:
    """One page of the tenant's jobs."""
    return read_answer((yield from exchange(target, list_jobs(status, kind, limit, cursor))), JobList, target)


def account(target: Target) -> Story[AccountView]:
    """How the tenant's account stands."""
    return read_answer((yield from exchange(target, read_account())), AccountView, target)


def cancel(target: Target, job_id: str) -> Story[JobAccepted]:
    """Ask for a job's end; how it stands after it."""
    return read_answer((yield from exchange(target, cancel_job(job_id))), JobAccepted, target)


def erase(target: Target, job_id: str) -> Story[None]:
    """Erase what a job holds. There is no body to read."""
    reply = yield from exchange(target, erase_job(job_id))
    if not reply.is_success:
        raise api_error(reply, target)


def history(target: Target, job_id: str) -> Story[JobHistory]:
    """Every attempt of a job."""
    return read_answer((yield from exchange(target, read_history(job_id))), JobHistory, target)


def review_page(target: Target, limit: int | None, cursor: str | None) -> Story[ReviewList]:
    """One page of the tenant's jobs in review."""
    return read_answer((yield from exchange(target, list_reviews(limit, cursor))), ReviewList, target)


def review(target: Target, job_id: str) -> Story[ReviewView]:
    """One review and its record."""
    return read_answer((yield from exchange(target, read_review(job_id))), ReviewView, target)


def resolve(target: Target, job_id: str, verdict: ResolveReview) -> Story[ReviewResolved]:
    """Decide a review; the same verdict again is answered the same, so a lost answer is asked for again."""
    return read_answer((yield from exchange(target, resolve_review(job_id, verdict))), ReviewResolved, target)


def wait(target: Target, job_id: str, timeout: float | None) -> Story[JobView]:
    """Wait until nothing more happens by itself, ``timeout`` seconds at most; raises ``WaitTimeout``.

    The server holds each request as long as it may; between two the pause is what it asks for. The last look is at
    the end of the time, so a job that ended during a pause is not reported as a timeout.
    """
    end = None if timeout is None else target.monotonic() + timeout
    pause = 0.0
    while True:
        left = LONGEST_HOLD if end is None else max(0.0, end - target.monotonic() - pause)
        reply = yield from exchange(target, read_job(job_id, min(LONGEST_HOLD, left)), pause, end)
        job = read_answer(reply, JobView, target)
        if is_settled(job):
            return job
        asked = asked_delay(reply.headers, target.now())
        pause = UNASKED_PAUSE if asked is None else asked.total_seconds()
        if end is not None:
            left = end - target.monotonic()
            if left <= 0:
                raise WaitTimeout(job)
            pause = min(pause, left)


def submit_and_wait(
    target: Target, kind: str, given: JobInput, key: str | None, timeout: float | None, *, coalesce: bool = True
) -> Story[JsonValue]:
    """Create a job and wait for its result; raises what ``result_of`` raises, with the key."""
    made = yield from submit(target, kind, given, key, coalesce=coalesce)
    try:
        return result_of((yield from wait(target, made.job_id, timeout)))
    except ClientError as error:
        error.idempotency_key = made.idempotency_key
        raise
