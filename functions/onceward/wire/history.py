"""What the API answers about a job's history: every attempt of every epoch, and each of its calls."""

from __future__ import annotations

from datetime import datetime
from typing import Annotated, Literal

from pydantic import Field

from onceward.wire.responses import AttemptView, CostView, OneOf, ResponseBody, Status, UsageView

Stage = Annotated[Literal["started", "sent", "answered", "accepted"], OneOf]
CallState = Annotated[Literal["sent", "submitted", "succeeded", "failed", "unknown"], OneOf]


class CallView(ResponseBody):
    """One call of an attempt; without an answer its cost is a bound."""

    step: str
    state: CallState
    sent_at: Annotated[datetime | None, Field(description="Told while it has no answer, or came late.")] = None
    answered_at: datetime | None = None
    provider: str | None = None
    model: str | None = None
    provider_request_id: Annotated[str | None, Field(description="Ask the provider about this.")] = None
    downstream_key: Annotated[str, Field(description="The idempotency key that the target saw.")]
    usage: UsageView | None = None
    provider_cost: CostView
    error_class: str | None = None
    error_code: str | None = None


class AttemptRecord(AttemptView):
    """One try, how far it came, and each of its calls."""

    stage: Stage
    calls: tuple[CallView, ...]


class JobHistory(ResponseBody):
    """Every attempt of every epoch, the oldest first, with what came late."""

    job_id: str
    kind: str
    status: Status
    epoch: int
    provider_cost: CostView
    attempts: tuple[AttemptRecord, ...]
