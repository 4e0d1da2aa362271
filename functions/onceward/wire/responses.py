"""What the API answers. Readers are tolerant: a newer server may add members, and an older client ignores them.

Instants are RFC 3339 in UTC, money is integer micro-USD, words are those of the glossary. A newer server may say words
that this version does not know; whoever reads with ``TOLERANT`` gets them as they are, and treats them as none of
those it knows.
"""

from __future__ import annotations

from datetime import datetime
from typing import Annotated, Literal

from pydantic import BaseModel, ConfigDict, Field, JsonValue, ValidationInfo, ValidatorFunctionWrapHandler
from pydantic.functional_validators import WrapValidator

TOLERANT = {"tolerant": True}  # the validation context of a reader; a writer stays strict


def _word(value: object, known: ValidatorFunctionWrapHandler, info: ValidationInfo) -> object:
    """A word as it stands for a tolerant reader, one of the known words for everybody else."""
    return value if info.context == TOLERANT and isinstance(value, str) else known(value)


OneOf = WrapValidator(_word)
Status = Annotated[Literal["queued", "running", "waiting", "needs_review", "succeeded", "failed", "cancelled"], OneOf]
WaitingFor = Annotated[Literal["retry", "provider", "lookup", "flight", "approval"], OneOf]
Outcome = Annotated[Literal["succeeded", "failed", "unknown", "interrupted", "cancelled"], OneOf]
ProviderCancel = Annotated[Literal["none", "unsupported", "requested", "confirmed"], OneOf]


class ResponseBody(BaseModel):
    """Base of all response bodies."""

    model_config = ConfigDict(extra="ignore", frozen=True)


class CostView(ResponseBody):
    """What was spent at providers: ``exact`` if it is known, else it lies between ``low`` and ``high``.

    ``unpriced``: a call has no known price; its part of ``high`` is the kind's maximum.
    """

    exact_micro_usd: int | None
    low_micro_usd: int
    high_micro_usd: int
    unpriced: bool


class UsageView(ResponseBody):
    """Tokens as the provider counted them; cached ones are part of input, reasoning ones part of output."""

    input_tokens: int
    cached_tokens: int
    cache_write_tokens: int = 0
    output_tokens: int
    reasoning_tokens: int


class AttemptView(ResponseBody):
    """One try; numbered from 1 in each epoch. ``usage`` is told once the job has ended."""

    epoch: int
    number: int
    run: Annotated[str | None, Field(description="Short hash of the token of the run that began it.")] = None
    started_at: datetime
    ended_at: datetime | None = None
    outcome: Outcome | None = None
    error_class: str | None = None
    error_code: str | None = None
    decision: Annotated[str | None, Field(description="Why it was tried again, or not.")] = None
    provider_cost: CostView
    usage: UsageView | None = None


class JobAccepted(ResponseBody):
    """A job as create and cancel answer it: where it stands now."""

    job_id: str
    kind: str
    status: Status
    waiting_for: WaitingFor | None = None
    created_at: datetime
    deadline_at: datetime
    cancel_requested_at: datetime | None = None
    finished_at: datetime | None = None


class JobError(ResponseBody):
    """Why a job failed: a stable code for programs, and that code's own sentence for people."""

    code: str
    message: Annotated[
        str | None, Field(description="The same for each failure with this code; null for a kind's own codes.")
    ] = None


class CancelView(ResponseBody):
    """The two facts of a cancellation: the job's, and the provider's."""

    requested_at: datetime
    cancelled_at: datetime | None = None
    provider: ProviderCancel


class JobView(JobAccepted):
    """Everything a tenant may know of its job."""

    created_by: str
    epoch: int
    wake_at: datetime | None = None
    expires_at: datetime
    erased_at: Annotated[datetime | None, Field(description="Since then the job holds no content.")] = None
    attempts: tuple[AttemptView, ...]
    provider_cost: CostView
    reserved_micro_usd: Annotated[int | None, Field(description="Held on the tenant's account while it is open.")] = (
        None
    )
    charge_micro_usd: Annotated[int | None, Field(description="What the user pays; null until the job has ended.")] = (
        None
    )
    result: Annotated[JsonValue, Field(description="The kind's output; null unless the job succeeded.")] = None
    shared: Annotated[
        bool, Field(description="The result was computed once for several jobs; its cost is in none.")
    ] = False
    error: JobError | None = None
    cancel: CancelView | None = None


class JobList(ResponseBody):
    """One page of a tenant's jobs, newest first; a short or empty page may still have a next one."""

    jobs: tuple[JobAccepted, ...]
    next_cursor: Annotated[str | None, Field(description="Ask with it for the next page; null: this was the last.")]


class AccountView(ResponseBody):
    """A tenant's own account; without one (``is_limited`` is false) it may spend without limit, and amounts are null.

    ``granted = available + reserved + captured``; ``most_in_flight`` is null where any number of jobs may be open.
    """

    is_limited: bool
    granted_micro_usd: int | None = None
    available_micro_usd: Annotated[int | None, Field(description="What a new job may still reserve.")] = None
    reserved_micro_usd: Annotated[int | None, Field(description="Held for jobs that have not ended.")] = None
    captured_micro_usd: Annotated[int | None, Field(description="Charged for accepted results.")] = None
    in_flight: Annotated[int | None, Field(description="Jobs that hold a reservation.")] = None
    most_in_flight: Annotated[int | None, Field(description="So many may; one more is answered 429.")] = None


class UploadAccepted(ResponseBody):
    """A form for one document: POST ``fields`` and then ``file`` as multipart/form-data to ``url``."""

    document_id: str
    url: str
    fields: dict[str, str]
    expires_at: datetime


class Health(ResponseBody):
    """The API runs."""

    status: Literal["ok"] = "ok"
