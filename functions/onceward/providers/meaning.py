"""What a failed call means, in our own words: the vocabulary that every provider's table is written in.

Each provider has one table from its statuses and structured codes to these. Whatever is not in it is
``outcome_unknown``: to guess "nothing ran" is how a call is paid twice.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from datetime import datetime

from onceward.domain.retry import RETRYABLE, ErrorClass
from onceward.errors import CallFailure, Usage
from onceward.providers.http import HttpReply
from onceward.providers.reading import a_name
from onceward.providers.retry_after import asked_delay, forbids_retry

_SERVER_FAULT = 500
_REQUEST_TIMEOUT = 408
_MODEL_ERROR = 424  # Bedrock: the model failed while it worked
_CODE_SHAPE = re.compile(r"[A-Za-z][A-Za-z0-9_]{0,63}")  # what may be repeated in our own errors: never a sentence


@dataclass(frozen=True, slots=True)
class Meaning:
    """How a failure is to be treated, and its name in our own words."""

    error_class: ErrorClass
    code: str


TOO_LONG = Meaning(ErrorClass.PERMANENT, "document_too_long")
TOO_LARGE = Meaning(ErrorClass.PERMANENT, "request_too_large")
NO_MONEY = Meaning(ErrorClass.QUOTA_EXHAUSTED, "provider_quota_exhausted")
FILTERED = Meaning(ErrorClass.POLICY_REJECTED, "content_filtered")
REFUSED_BY_MODEL = Meaning(ErrorClass.POLICY_REJECTED, "model_refused")
AUTH = Meaning(ErrorClass.PERMANENT, "provider_auth")
FORBIDDEN = Meaning(ErrorClass.PERMANENT, "provider_forbidden")
BUSY = Meaning(ErrorClass.RATE_LIMITED, "rate_limited")
OVERLOADED = Meaning(ErrorClass.TRANSIENT, "provider_overloaded")
REFUSED = Meaning(ErrorClass.PERMANENT, "provider_refused_request")
NO_SUCH_PLACE = Meaning(ErrorClass.PERMANENT, "provider_not_found")
NO_SUCH_MODEL = Meaning(ErrorClass.PERMANENT, "model_not_found")
REDIRECTS = Meaning(ErrorClass.PERMANENT, "provider_redirects")
TIMED_OUT = Meaning(ErrorClass.OUTCOME_UNKNOWN, "provider_timed_out")
SERVER_ERROR = Meaning(ErrorClass.OUTCOME_UNKNOWN, "provider_error")
GATEWAY = Meaning(ErrorClass.OUTCOME_UNKNOWN, "provider_gateway")
FAILED_THERE = Meaning(ErrorClass.TRANSIENT, "provider_error")  # told of work that has ended: no maybe
CANCELLED_THERE = Meaning(ErrorClass.PERMANENT, "provider_cancelled")
BATCH_EXPIRED = Meaning(ErrorClass.TRANSIENT, "batch_expired")  # its time ran out before anything was done
UNMAPPED = Meaning(ErrorClass.OUTCOME_UNKNOWN, "provider_answer_unknown")

BY_STATUS: Mapping[int, Meaning] = {
    # A redirect is a wrong address in the settings; nothing ran, and a key is never sent on to another host.
    **dict.fromkeys((301, 302, 303, 307, 308), REDIRECTS),
    400: REFUSED,
    401: AUTH,
    402: NO_MONEY,
    403: FORBIDDEN,
    404: NO_SUCH_PLACE,
    405: NO_SUCH_PLACE,
    408: TIMED_OUT,
    413: TOO_LARGE,
    415: REFUSED,
    422: REFUSED,
    # 429 and 503 (529 at some) are answers of a door that stayed shut: nothing ran.
    429: BUSY,
    503: OVERLOADED,
    529: OVERLOADED,
    # Behind these the model may have run, and nobody documents that it is not billed: repeated only where the target
    # dedupes or the kind's policy accepts a second payment.
    500: SERVER_ERROR,
    502: GATEWAY,
    504: TIMED_OUT,
}


def meaning_of(status: int, names: Iterable[str], by_name: Mapping[str, Meaning]) -> Meaning:
    """A known code says more than its status, unless the status says that the work itself may have been begun."""
    by_status = BY_STATUS.get(status, UNMAPPED)
    is_maybe = status in {_REQUEST_TIMEOUT, _MODEL_ERROR} or (status >= _SERVER_FAULT and by_status is not OVERLOADED)
    if is_maybe:
        return by_status
    return next((by_name[name] for name in names if name in by_name), by_status)


def refined_by_text(meaning: Meaning, text: object, by_text: Mapping[str, Meaning]) -> Meaning:
    """A bare refusal made exact by its message, where the provider gives its reason no code.

    The last resort, and a safe one: it chooses among final meanings only, so a changed sentence can neither repeat a
    call nor make a maybe certain. The text is matched and never kept.
    """
    if meaning is not REFUSED or not isinstance(text, str):
        return meaning
    said = text.casefold()
    return next((exact for phrase, exact in by_text.items() if phrase in said), meaning)


def failure_from(
    meaning: Meaning, reply: HttpReply, names: Iterable[str], now: datetime, request_id: object
) -> CallFailure:
    """The failure of an error answer; what of it may be repeated is its status and a code that looks like one."""
    if meaning.error_class in RETRYABLE and forbids_retry(reply.headers):
        meaning = Meaning(ErrorClass.PERMANENT, meaning.code)
    said = next((name for name in names if _CODE_SHAPE.fullmatch(name)), None)
    return CallFailure(
        f"HTTP {reply.status}" if said is None else f"HTTP {reply.status} {said}",
        code=meaning.code,
        error_class=meaning.error_class,
        was_sent=True,
        retry_after=asked_delay(reply.headers, now) if meaning.error_class in RETRYABLE else None,
        request_id=a_name(request_id),
    )


def uncharged(meaning: Meaning, request_id: str | None = None) -> CallFailure:
    """The failure of a request that a batch's provider documents not to bill."""
    return CallFailure(
        "the batch has no answer",
        code=meaning.code,
        error_class=meaning.error_class,
        was_sent=True,
        request_id=request_id,
    )


def of_ended_work(failure: CallFailure) -> CallFailure:
    """What the reading of an answer to ended work failed with: no maybe, as nothing more will become known.

    An answer that nobody can read may be charged, for what nobody knows: unpriced, and not free.
    """
    if failure.error_class is not ErrorClass.OUTCOME_UNKNOWN:
        return failure
    return CallFailure(
        "an answer of no known form",
        code=UNMAPPED.code,
        error_class=ErrorClass.INVALID_OUTPUT,
        was_sent=True,
        model="unread",
        request_id=failure.request_id,
    )


@dataclass(frozen=True, slots=True)
class Charged:
    """What an answer was charged for, whatever it is worth."""

    usage: Usage | None
    model: str
    request_id: str | None

    def failure(self, error_class: ErrorClass, code: str) -> CallFailure:
        """A failed call whose tokens are paid all the same."""
        return CallFailure(
            "the answer is no result",
            code=code,
            error_class=error_class,
            was_sent=True,
            usage=self.usage,
            model=self.model,
            request_id=self.request_id,
        )
