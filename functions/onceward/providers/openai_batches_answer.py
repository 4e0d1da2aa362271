"""What a batch of one chat completion means: work under way, an answer, or an end that is not charged.

Its answers are files of one JSON object a line: one of what was answered, one of what went wrong. A line's failure is
its answered status, or an ``error`` of its own where nothing was asked at all.
"""

from __future__ import annotations

import json
from collections.abc import Mapping
from datetime import datetime

from onceward.domain.recovery import PollReply
from onceward.domain.retry import ErrorClass
from onceward.errors import CallFailure
from onceward.providers.chat_answer import read_answer
from onceward.providers.chat_errors import failure_of
from onceward.providers.http import HttpReply
from onceward.providers.meaning import (
    BATCH_EXPIRED,
    BUSY,
    CANCELLED_THERE,
    FAILED_THERE,
    REFUSED,
    Meaning,
    of_ended_work,
    uncharged,
)
from onceward.providers.reading import a_name, an_object, read_object
from onceward.providers.responses_answer import BY_ERROR as BY_RESPONSE_ERROR
from onceward.usecases.ports import ModelReply

OK = 200
UNDER_WAY = ("validating", "in_progress", "finalizing", "cancelling")
BY_ERROR: Mapping[str, Meaning] = {
    **BY_RESPONSE_ERROR,
    "batch_expired": BATCH_EXPIRED,
    "batch_cancelled": CANCELLED_THERE,
    "token_limit_exceeded": BUSY,  # too much is enqueued there: what works on ends, and makes room
}


def files_of(batch: Mapping[str, object]) -> list[str]:
    """The files that an ended batch left, answers first; an absent one is null, or an empty text."""
    named = (a_name(batch.get(name)) for name in ("output_file_id", "error_file_id"))
    return [name for name in named if name is not None]


def line_of(body: bytes, custom_id: str) -> Mapping[str, object] | None:
    """What became of one request, from a body of one JSON object a line."""
    lines = (read_object(line) or {} for line in body.splitlines())
    return next((line for line in lines if line.get("custom_id") == custom_id), None)


def read_line(line: Mapping[str, object], asked_model: str, now: datetime) -> ModelReply:
    """The model's reply; raises ``CallFailure``. What has failed, was cancelled or expired is not charged."""
    response = an_object(line.get("response"))
    status, body = response.get("status_code"), response.get("body")
    if not isinstance(status, int) or isinstance(status, bool):
        raise uncharged(_by_code(an_object(line.get("error")).get("code")))
    request_id = a_name(response.get("request_id"))
    headers = {"x-request-id": request_id} if request_id else {}
    reply = HttpReply(status=status, headers=headers, body=json.dumps(body).encode())
    if status == OK:
        try:
            return read_answer(reply, asked_model, now)
        except CallFailure as failure:
            raise of_ended_work(failure) from None
    told = failure_of(reply, now)
    if told.error_class is ErrorClass.OUTCOME_UNKNOWN:  # of work that has ended: no maybe
        raise uncharged(FAILED_THERE, told.request_id)
    raise told


def end_without_line(batch: Mapping[str, object]) -> PollReply:
    """What an ended batch without an answer says; raises ``CallFailure`` where it says why.

    A batch that has completed and tells nothing of its one request leaves a maybe.
    """
    match batch.get("status"):
        case "expired":
            raise uncharged(BATCH_EXPIRED)
        case "cancelled":
            raise uncharged(CANCELLED_THERE)
        case "failed":
            told = an_object(batch.get("errors")).get("data")
            errors = [an_object(one).get("code") for one in told] if isinstance(told, list) else []
            raise uncharged(next((_by_code(code) for code in errors), REFUSED))
        case "completed":
            return PollReply.GONE
        case _:
            return PollReply.UNREACHABLE  # no word that we know: it says nothing of the work


def _by_code(code: object) -> Meaning:
    """An error's meaning by its code: what nobody knows would be refused again."""
    return BY_ERROR.get(code, REFUSED) if isinstance(code, str) else REFUSED
