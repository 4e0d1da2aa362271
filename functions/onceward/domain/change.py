"""A change of the row as data: under which conditions, what is set, what is counted.

Use cases build changes, stores apply them atomically; both the memory store and the DynamoDB store read the same
object, so a rule is written once. ``None`` in ``set`` removes the attribute.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from datetime import datetime
from typing import Any, TypedDict, cast

from onceward.domain.conditions import Condition
from onceward.domain.job import AnswerRef, Job, OpenCall, PresentAttempt, ResultRef
from onceward.domain.money import Cost
from onceward.domain.names import JobId, RunToken, StepKey
from onceward.domain.states import JobState, ProviderCancel, WaitingFor


class Fields(TypedDict, total=False):
    """The fields of a row that a write may set; what is not here never changes after create."""

    state: JobState
    waiting_for: WaitingFor | None
    wake_at: datetime | None
    due: datetime | None
    review_until: datetime | None
    epoch: int
    attempts: int
    lost: int
    run_token: RunToken | None
    lease_until: datetime | None
    attempt: PresentAttempt | None
    open: tuple[OpenCall, ...]
    accepted: Mapping[StepKey, AnswerRef]
    spent: Cost
    reserved_micro_usd: int | None
    in_flight: bool
    charge_micro_usd: int | None
    deadline_at: datetime
    cancel_requested_at: datetime | None
    cancelled_at: datetime | None
    provider_cancel: ProviderCancel
    result: ResultRef | None
    error_code: str | None
    finished_at: datetime | None
    erased_at: datetime | None
    flight: JobId | None


class Counts(TypedDict, total=False):
    """The fields that are added to, so that a blind write need not know their value."""

    attempts: int
    lost: int
    seq: int
    journals: int
    participants: int


@dataclass(frozen=True, slots=True, kw_only=True)
class RowChange:
    """One atomic write of a row: all of ``when`` hold, or nothing happens and the row as it is comes back."""

    when: tuple[Condition, ...]
    set: Fields = field(default_factory=Fields)
    add: Counts = field(default_factory=Counts)

    def holds(self, job: Job) -> bool:
        """Whether a store may apply this change to ``job``."""
        return all(condition.holds(job) for condition in self.when)

    def apply(self, job: Job) -> Job:
        """The row after the write."""
        counted = {name: getattr(job, name) + cast("int", step) for name, step in self.add.items()}
        fields: dict[str, Any] = {**self.set, **counted}  # the only untyped step: TypedDict keys are Job's own fields
        return replace(job, **fields)
