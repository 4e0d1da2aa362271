"""Reviews over the wire: what an operator is told of one, what it may decide, and the record of what was decided."""

from __future__ import annotations

from datetime import datetime
from typing import Annotated, Literal

from pydantic import Field, JsonValue

from onceward.wire.history import CallView
from onceward.wire.requests import RequestBody
from onceward.wire.responses import CostView, OneOf, ResponseBody, Status

LONGEST_WHY = 500  # characters: a sentence and a ticket's number, no report
VerdictWord = Annotated[Literal["accept", "fail", "retry"], OneOf]


class ResolveReview(RequestBody):
    """A verdict on the review of ``epoch``, as it was read."""

    verdict: Annotated[
        Literal["accept", "fail", "retry"],
        Field(description="Take the given result; end without one; or send again, at the risk of paying twice."),
    ]
    epoch: Annotated[int, Field(strict=True, ge=1, description="The epoch whose review was looked at.")]
    why: Annotated[
        str, Field(min_length=1, max_length=LONGEST_WHY, description="For the record. It is kept: no content in it.")
    ]
    result: Annotated[JsonValue, Field(description="With an accept: the kind's output, as its model describes it.")] = (
        None
    )
    may_pay_twice: Annotated[bool, Field(strict=True, description="With a retry: must be true.")] = False


class StandingView(ResponseBody):
    """Where a job stood at a verdict, before it or after."""

    status: Status
    epoch: int
    attempts: int
    provider_cost: CostView
    reserved_micro_usd: int | None = None
    charge_micro_usd: int | None = None
    error_code: str | None = None
    open_steps: tuple[str, ...] = ()


class ReviewRecordView(ResponseBody):
    """Who decided, when, how and why, and what it changed."""

    epoch: int
    verdict: VerdictWord
    by: str
    at: datetime
    why: str
    result_sha256: str | None = None
    before: StandingView
    after: StandingView


class ReviewView(ResponseBody):
    """A job in review, or one that was; ``records`` are its verdicts, the oldest first."""

    job_id: str
    kind: str
    operation_id: Annotated[
        str | None, Field(description="Of an agent's action, where its review is read alone: there its arguments are.")
    ] = None
    status: Status
    epoch: int
    is_open: Annotated[bool, Field(description="Whether a verdict can be taken now.")]
    since: datetime | None = None
    until: Annotated[datetime | None, Field(description="Then it ends without a result.")] = None
    next_look_at: Annotated[datetime | None, Field(description="When the truth is looked for by itself.")] = None
    cancel_requested_at: datetime | None = None
    open_calls: tuple[CallView, ...] = ()
    provider_cost: CostView
    reserved_micro_usd: int | None = None
    flight: Annotated[
        str | None, Field(description="The shared computation that this job waits for: its review decides for both.")
    ] = None
    participants: Annotated[int | None, Field(description="Of a shared computation: how many jobs wait for it.")] = None
    records: tuple[ReviewRecordView, ...] = ()


class ReviewList(ResponseBody):
    """One page of the tenant's reviews, by creation of their jobs, newest first."""

    reviews: tuple[ReviewView, ...]
    next_cursor: Annotated[str | None, Field(description="Ask with it for the next page; null: this was the last.")]


class ReviewResolved(ResponseBody):
    """A verdict that holds: the review as it is now, and the record; ``is_replay``: it had been given before."""

    review: ReviewView
    record: ReviewRecordView
    is_replay: bool
