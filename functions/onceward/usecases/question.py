"""What a step asks, in the one form that the call protocol takes: of a model, or of an HTTP target."""

from __future__ import annotations

import json
from collections.abc import Awaitable, Callable, Mapping
from dataclasses import dataclass
from datetime import timedelta
from functools import partial

from pydantic import JsonValue

from onceward.domain.names import CallFingerprint, DownstreamKey
from onceward.errors import JobFailure
from onceward.usecases.call_fingerprint import call_fingerprint, model_fingerprint
from onceward.usecases.http_target import HttpTarget
from onceward.usecases.ports import ModelReply, ModelRequest, Provider, Submitted, Target


@dataclass(frozen=True, slots=True, kw_only=True)
class Question:
    """What one step asks of whom: ``most`` is what it can cost in micro-USD, ``send`` the one request itself.

    ``http``: the name of an HTTP target; ``None``: the kind's model. ``breaker``: whose circuit breaker is asked.
    """

    target: Target
    http: str | None = None
    most: int | None = None
    breaker: str | None = None
    fingerprint: CallFingerprint
    send: Callable[[DownstreamKey, timedelta], Awaitable[ModelReply | Submitted]]


def full_model_name(provider: Provider) -> str:
    """Provider and model: the name of its circuit breaker and of its spending. Models are ill each for itself."""
    return f"{provider.name}:{provider.model}"


def question_to_model(provider: Provider, request: ModelRequest) -> Question:
    """One question to a model; raises ``JobFailure`` if it cannot be written."""
    check_writable((request.messages, json.loads(request.json_schema or "null")))
    return Question(
        target=provider,
        most=provider.most(request),
        breaker=full_model_name(provider),
        fingerprint=model_fingerprint(request),
        send=partial(provider.generate, request),
    )


def question_to_http(target: HttpTarget, arguments: Mapping[str, JsonValue]) -> Question:
    """One request to an HTTP target; where the target is may change with a deploy, what it is asked may not.

    Raises ``JobFailure`` if it cannot be written.
    """
    check_writable(dict(arguments))
    return Question(
        target=target,
        http=target.name,
        breaker=f"http:{target.name}",
        fingerprint=call_fingerprint(f"http:{target.name}", dict(arguments)),
        send=partial(target.send, arguments),
    )


def check_writable(asked: object) -> None:
    """Refuse half a surrogate pair, or what is no JSON: it fails when the request is written, and may look sent then.

    No attempt would write it, so it is final; and it is found out before the journal, so it is no maybe.
    """
    try:
        json.dumps(asked, ensure_ascii=False, allow_nan=False).encode()
    except (TypeError, ValueError, RecursionError):
        raise JobFailure("a request that cannot be written", code="request_not_writable") from None
