"""What an OpenAI-compatible error answer means: the one table of this provider.

Decided by status and by the structured ``error.code`` (then ``error.type``, which is coarser), never by message
text: a message can hold a piece of the prompt or of a key, and changes without notice.
"""

from __future__ import annotations

from collections.abc import Mapping
from datetime import datetime

from onceward.errors import CallFailure
from onceward.providers.http import HttpReply
from onceward.providers.meaning import (
    AUTH,
    BUSY,
    FILTERED,
    NO_MONEY,
    NO_SUCH_MODEL,
    OVERLOADED,
    REFUSED,
    TOO_LONG,
    Meaning,
    failure_from,
    meaning_of,
)

BY_CODE: Mapping[str, Meaning] = {
    "context_length_exceeded": TOO_LONG,
    "string_above_max_length": TOO_LONG,
    "insufficient_quota": NO_MONEY,
    "credit_balance_exhausted": NO_MONEY,
    "organization_spend_limit_exceeded": NO_MONEY,
    "organization_usage_limit_exceeded": NO_MONEY,
    "project_spend_limit_exceeded": NO_MONEY,
    "billing_hard_limit_reached": NO_MONEY,
    "billing_not_active": NO_MONEY,
    "content_filter": FILTERED,
    "content_policy_violation": FILTERED,
    "invalid_prompt": REFUSED,
    "invalid_api_key": AUTH,
    "account_deactivated": AUTH,
    "model_not_found": NO_SUCH_MODEL,
    "rate_limit_exceeded": BUSY,
    "server_is_overloaded": OVERLOADED,
    "slow_down": OVERLOADED,
}


def failure_of(reply: HttpReply, now: datetime) -> CallFailure:
    """The failure that an error answer stands for; also a 200 whose body is an error."""
    names = _names(reply.json_object() or {})
    meaning = meaning_of(reply.status, names, BY_CODE)
    return failure_from(meaning, reply, names, now, reply.headers.get("x-request-id"))


def _names(body: Mapping[str, object]) -> list[str]:
    """``error.code`` before ``error.type``; an error that is a plain string, or a number as its code, names nothing."""
    error = body.get("error", body)
    if not isinstance(error, Mapping):
        return []
    return [name for name in (error.get("code"), error.get("type")) if isinstance(name, str)]
