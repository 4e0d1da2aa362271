"""The cold items beside a job row: input, answers, results, past attempts, reviews. Written once, never changed.

An item's place (``sort_key``) names the attempt that wrote it, so the one thing a late worker may still write, the
answer of its own attempt, can never overwrite anything else. ``body`` is JSON text; above ``INLINE_LIMIT`` bytes a
store puts it to the blob store first and keeps ``blob_key``.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from datetime import datetime

from onceward.domain.action_records import ActionWord, RunEntry, SeenAttempt
from onceward.domain.job import SCHEMA_VERSION, Job, OpenCall, PresentAttempt
from onceward.domain.money import Cost
from onceward.domain.names import CallFingerprint, DownstreamKey, JobId, StepKey, TenantId
from onceward.domain.states import CallState, JobState, Resolution
from onceward.errors import Usage

INPUT_INLINE_LIMIT = 4 * 1024  # create is one transaction; a larger input goes to the blob store before it
ITEM_INLINE_LIMIT = 256 * 1024  # below DynamoDB's 400 KB with room for attributes
# Bytes. What is accepted must be readable: a result leaves through a Lambda, whose answer has 6 MiB. One byte here is
# three there at most (the two of \" go out as the four of \\\", a letter of two as the six of \u00e9), and a quarter is
# left for the rest of the job. A model's longest answer, 128,000 tokens, has half a megabyte.
ANSWER_LIMIT = 6 * 1024 * 1024 // 4
LOCAL = "local"  # whose answer a step's result is that called nobody
INPUT_PLACE = "input"  # one for each job
PARTICIPANTS = "participant#"  # where all participants of a flight are found


@dataclass(frozen=True, slots=True, kw_only=True)
class Input:
    """What the client sent, as sent, with the documents it resolved to (versions and checksums)."""

    tenant_id: TenantId
    job_id: JobId
    body: str | None
    blob_key: str | None = None
    schema_version: int = SCHEMA_VERSION

    @property
    def sort_key(self) -> str:
        """One input per job."""
        return INPUT_PLACE


@dataclass(frozen=True, slots=True, kw_only=True)
class Answer:
    """What a target answered to one send of one attempt, and what it cost: evidence, however late it comes.

    ``asked``: the fingerprint of the question that it answers (``None``: sent by older code).
    """

    tenant_id: TenantId
    job_id: JobId
    step: StepKey
    epoch: int
    attempt: int
    key: DownstreamKey
    state: CallState
    answered_at: datetime
    body: str | None = None
    blob_key: str | None = None
    usage: Usage | None = None
    cost: Cost
    provider: str
    model: str | None = None
    request_id: str | None = None
    error_class: str | None = None
    error_code: str | None = None
    asked: CallFingerprint | None = None
    schema_version: int = SCHEMA_VERSION

    @property
    def sort_key(self) -> str:
        """One answer per step and attempt: an attempt sends a step at most once."""
        return answer_place(self.epoch, self.step, self.attempt)


@dataclass(frozen=True, slots=True, kw_only=True)
class ProviderReference:
    """The provider's own name of work that it took and answers later; without it the call would be a maybe."""

    tenant_id: TenantId
    job_id: JobId
    step: StepKey
    epoch: int
    attempt: int
    key: DownstreamKey
    provider: str
    reference: str
    submitted_at: datetime
    schema_version: int = SCHEMA_VERSION

    @property
    def sort_key(self) -> str:
        """One reference per step and attempt, beside the answer's place."""
        return reference_place(self.epoch, self.step, self.attempt)


@dataclass(frozen=True, slots=True, kw_only=True)
class Result:
    """An output that is not simply one stored answer; the row names it when it is accepted.

    Attempt 0, which no worker has, is the person's who accepted it in a review of the epoch.
    """

    tenant_id: TenantId
    job_id: JobId
    epoch: int
    attempt: int
    body: str | None
    blob_key: str | None = None
    schema_version: int = SCHEMA_VERSION

    @property
    def sort_key(self) -> str:
        """One result per attempt."""
        return f"result#{self.epoch:04d}#{self.attempt:04d}"


@dataclass(frozen=True, slots=True, kw_only=True)
class PastAttempt:
    """An attempt that the row has moved on from.

    ``open``: the calls that had no answer then. What they may have cost is within the attempt's bounds; an answer that
    comes later says what they did. ``reasons``: the retry decision with every figure that it looked at, of which the
    hot row keeps only the rule.
    """

    tenant_id: TenantId
    job_id: JobId
    epoch: int
    number: int
    attempt: PresentAttempt
    open: tuple[OpenCall, ...] = ()
    reasons: str | None = None
    schema_version: int = SCHEMA_VERSION

    @property
    def sort_key(self) -> str:
        """One item per attempt."""
        return attempt_place(self.epoch, self.number)


@dataclass(frozen=True, slots=True, kw_only=True)
class Standing:
    """What a review's record keeps of the row, before and after: where the job stood, and what it had cost."""

    state: JobState
    epoch: int
    seq: int
    attempts: int
    spent: Cost
    reserved_micro_usd: int | None = None
    charge_micro_usd: int | None = None
    error_code: str | None = None
    open: tuple[OpenCall, ...] = ()


@dataclass(frozen=True, slots=True, kw_only=True)
class Participant:
    """A job that a flight works for: ``job_id`` is the flight's, since its own items name all that it is to serve."""

    tenant_id: TenantId
    job_id: JobId
    participant: JobId
    joined_at: datetime
    schema_version: int = SCHEMA_VERSION

    @property
    def sort_key(self) -> str:
        """One item per participant."""
        return f"{PARTICIPANTS}{self.participant}"


@dataclass(frozen=True, slots=True, kw_only=True)
class ReviewRecord:
    """Who resolved a review, when, how and why; ``digest`` is the SHA-256 of the canonical JSON of a given result."""

    tenant_id: TenantId
    job_id: JobId
    epoch: int
    resolution: Resolution
    by: str
    at: datetime
    why: str
    digest: str | None = None
    before: Standing
    after: Standing
    schema_version: int = SCHEMA_VERSION

    @property
    def sort_key(self) -> str:
        """One per epoch: a verdict ends its epoch."""
        return review_place(self.epoch)


__all__ = [
    "Answer",
    "ColdItem",
    "Input",
    "Participant",
    "PastAttempt",
    "ProviderReference",
    "Result",
    "ReviewRecord",
    "Standing",
    "Usage",
]


def past_attempt(job: Job, reasons: str | None = None) -> PastAttempt | None:
    """The present attempt as the item it becomes, with what its open calls may have cost; ``None``: none began."""
    if job.attempt is None:
        return None
    attempt = replace(job.attempt, cost=job.attempt_cost)
    return PastAttempt(
        tenant_id=job.tenant_id,
        job_id=job.job_id,
        epoch=job.epoch,
        number=job.attempts,
        attempt=attempt,
        open=job.open,
        reasons=reasons,
    )


def standing_of(job: Job) -> Standing:
    """The row as a review's record keeps it."""
    return Standing(
        state=job.state,
        epoch=job.epoch,
        seq=job.seq,
        attempts=job.attempts,
        spent=job.possible_spent,
        reserved_micro_usd=job.reserved_micro_usd,
        charge_micro_usd=job.charge_micro_usd,
        error_code=job.error_code,
        open=job.open,
    )


def attempt_place(epoch: int, number: int) -> str:
    """Where a past attempt is kept."""
    return f"{attempt_prefix()}{epoch:04d}#{number:04d}"


def answer_place(epoch: int, step: StepKey, attempt: int) -> str:
    """Where the answer to one attempt's send of a step is kept."""
    return f"{answer_prefix()}{epoch:04d}#{step}#{attempt:04d}"


def review_place(epoch: int) -> str:
    """Where the record of an epoch's review is kept."""
    return f"{review_prefix()}{epoch:04d}"


def reference_place(epoch: int, step: StepKey, attempt: int) -> str:
    """Where the provider's reference for one attempt's send of a step is kept."""
    return f"{answer_place(epoch, step, attempt)}#ref"


type ColdItem = (
    Input
    | Answer
    | ProviderReference
    | Result
    | PastAttempt
    | ReviewRecord
    | Participant
    | SeenAttempt
    | ActionWord
    | RunEntry
)


def answer_prefix() -> str:
    """Where all answers of a job, and providers' references, are found, oldest epoch first."""
    return "call#"


def attempt_prefix() -> str:
    """Where all past attempts of a job are found, oldest first."""
    return "attempt#"


def review_prefix() -> str:
    """Where all records of a job's reviews are found, oldest first."""
    return "review#"
