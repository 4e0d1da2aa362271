"""What a message batch of one request means: work under way, a message, or an end that is not charged."""

from __future__ import annotations

import json
from collections.abc import Mapping
from datetime import datetime

from onceward.domain.retry import ErrorClass
from onceward.errors import CallFailure
from onceward.providers.http import HttpReply
from onceward.providers.meaning import (
    BATCH_EXPIRED,
    CANCELLED_THERE,
    FAILED_THERE,
    REFUSED,
    UNMAPPED,
    Meaning,
    of_ended_work,
    refined_by_text,
    uncharged,
)
from onceward.providers.messages_answer import read_answer
from onceward.providers.messages_errors import BY_NAME, BY_TEXT
from onceward.providers.reading import a_name, an_object, read_object
from onceward.usecases.ports import ModelReply

OK = 200


def reference_of(reply: HttpReply) -> str | None:
    """The batch's id; ``None``: this is no batch."""
    body = reply.json_object() or {}
    return a_name(body.get("id")) if body.get("type") == "message_batch" else None


def has_ended(batch: Mapping[str, object]) -> bool:
    """Whether all its requests have come to an end, each in its own way."""
    return batch.get("processing_status") == "ended"


def is_archived(batch: Mapping[str, object]) -> bool:
    """Whether its results are kept no more."""
    return batch.get("archived_at") is not None


def result_of(body: bytes, custom_id: str) -> Mapping[str, object] | None:
    """The result of one request, from a body of one JSON object a line."""
    lines = (read_object(line) or {} for line in body.splitlines())
    return next((an_object(line.get("result")) for line in lines if line.get("custom_id") == custom_id), None)


def read_result(result: Mapping[str, object], asked_model: str, now: datetime) -> ModelReply:
    """The model's reply; raises ``CallFailure``. What has errored, was cancelled or expired is not charged."""
    match result.get("type"):
        case "succeeded":
            message = json.dumps(result.get("message")).encode()
            try:
                return read_answer(HttpReply(status=OK, headers={}, body=message), asked_model, now)
            except CallFailure as failure:
                raise of_ended_work(failure) from None
        case "canceled":
            raise uncharged(CANCELLED_THERE)
        case "expired":
            raise uncharged(BATCH_EXPIRED)
        case "errored":
            raise uncharged(_meaning(an_object(result.get("error"))))
        case _:
            raise of_ended_work(uncharged(UNMAPPED))


def _meaning(told: Mapping[str, object]) -> Meaning:
    """An error's meaning by its name; one of the server's may not happen again, and nothing was charged for it."""
    error = an_object(told.get("error")) or told
    name, text = error.get("type"), error.get("message")
    meaning = BY_NAME.get(name, REFUSED) if isinstance(name, str) else REFUSED
    if meaning.error_class is ErrorClass.OUTCOME_UNKNOWN:
        return FAILED_THERE
    return refined_by_text(meaning, text, BY_TEXT)
