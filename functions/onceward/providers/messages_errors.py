"""What an Anthropic error answer means: the one table of this provider.

Decided by status, by ``error.details.error_code`` where there is one, then by ``error.type``. Two refusals have
neither: a spent balance and a prompt that is too long come as a bare ``invalid_request_error``; only there, and only
among final meanings, the message decides (seen in anthropics/claude-code#4208 and in the API's documentation).
"""

from __future__ import annotations

from collections.abc import Mapping
from datetime import datetime

from onceward.errors import CallFailure
from onceward.providers.http import HttpReply
from onceward.providers.meaning import (
    AUTH,
    BUSY,
    FORBIDDEN,
    NO_MONEY,
    NO_SUCH_MODEL,
    OVERLOADED,
    REFUSED,
    SERVER_ERROR,
    TIMED_OUT,
    TOO_LARGE,
    TOO_LONG,
    UNMAPPED,
    Meaning,
    failure_from,
    meaning_of,
    refined_by_text,
)
from onceward.providers.reading import an_object

_OK = 200

BY_NAME: Mapping[str, Meaning] = {
    # error.details.error_code
    "enforced_spend_limit_reached": NO_MONEY,
    "contract_spend_limit_reached": NO_MONEY,
    "linked_organization_spend_limit_reached": NO_MONEY,
    "linked_organization_billing_unavailable": NO_MONEY,
    "organization_on_hold": NO_MONEY,
    "ramp_limit_exceeded": BUSY,
    "request_body_too_large_after_decoding": TOO_LARGE,
    # error.type
    "authentication_error": AUTH,
    "permission_error": FORBIDDEN,
    "billing_error": NO_MONEY,
    "not_found_error": NO_SUCH_MODEL,
    "request_too_large": TOO_LARGE,
    "rate_limit_error": BUSY,
    "overloaded_error": OVERLOADED,
    "api_error": SERVER_ERROR,
    "timeout_error": TIMED_OUT,
    "invalid_request_error": REFUSED,
}
BY_TEXT: Mapping[str, Meaning] = {
    "credit balance is too low": NO_MONEY,
    "reached your specified": NO_MONEY,  # "... API usage limits", of an organisation or of a workspace
    "prompt is too long": TOO_LONG,
    "exceed context limit": TOO_LONG,
}


def failure_of(reply: HttpReply, now: datetime) -> CallFailure:
    """The failure that an error answer stands for. An error inside a 200 is a maybe: the model had begun."""
    body = reply.json_object() or {}
    error = an_object(body.get("error"))
    coded = (an_object(error.get("details")).get("error_code"), error.get("type"))
    names = [name for name in coded if isinstance(name, str)]
    meaning = UNMAPPED if reply.status == _OK else meaning_of(reply.status, names, BY_NAME)
    meaning = refined_by_text(meaning, error.get("message"), BY_TEXT)
    return failure_from(meaning, reply, names, now, reply.headers.get("request-id") or body.get("request_id"))
