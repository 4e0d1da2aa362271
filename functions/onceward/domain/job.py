"""The job row: the truth about one job, small and hot, and the parts it is made of.

The row is the idempotency record too. Cold things (input, answers, results, past attempts) are items of their own
(``records.py``). Instants are aware UTC with millisecond precision; money is integer micro-USD.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from datetime import datetime, timedelta

from onceward.domain.money import Cost
from onceward.domain.names import (
    CallFingerprint,
    CreateToken,
    DownstreamKey,
    Fingerprint,
    Identity,
    JobId,
    RunToken,
    StepKey,
    TenantId,
    identity_of,
)
from onceward.domain.states import AttemptOutcome, CallState, JobState, ProviderCancel, WaitingFor

SCHEMA_VERSION = 1  # of every item and message; a reader leaves a higher one to newer code
FLIGHT_SCHEMA = 2  # of a flight's row: code that knows no flights would charge for one


@dataclass(frozen=True, slots=True, kw_only=True)
class AnswerRef:
    """Names the stored answer of a step: the item of one attempt in one epoch.

    ``is_local``: the step called nobody, and its answer is what the kind's own code made; nothing was bought.
    """

    epoch: int
    attempt: int
    is_local: bool = False


@dataclass(frozen=True, slots=True, kw_only=True)
class ResultRef:
    """Where an accepted result is: the answer of ``step`` itself, or, without one, the attempt's result item."""

    epoch: int
    attempt: int
    step: StepKey | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class EarlierSend:
    """The send whose place in the row a repeat under the same key took: whose it was, when, its bound, its promises.

    ``is_booked``: the repeat was counted as a second purchase, so that the bound went into what was spent.
    """

    epoch: int
    attempt: int
    sent_at: datetime
    max_cost: int
    is_booked: bool
    promised: str | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class OpenCall:
    """A call that may have reached its target and has no accepted answer.

    ``sent_at`` is the journal's instant, ``first_sent_at`` that of the first send under this key (a target's dedup
    window counts from there), ``hard_timeout`` the longest the request may have been on its way, ``max_cost`` the
    most it can have cost in micro-USD, ``asked`` the fingerprint of what it asked (``None``: sent by older code),
    ``target`` the declared HTTP target that it went to (``None``: the model), ``promised`` who that was then and what
    it promised about repeats (``None``: sent by older code), ``repeats`` the maybe that it took the place of (``None``:
    it is the first, or was sent by older code).
    """

    step: StepKey
    epoch: int
    attempt: int
    key: DownstreamKey
    state: CallState
    sent_at: datetime
    first_sent_at: datetime
    hard_timeout: timedelta
    max_cost: int
    asked: CallFingerprint | None = None
    target: str | None = None
    promised: str | None = None
    repeats: EarlierSend | None = None

    def __post_init__(self) -> None:
        """Refuse a bound that no cost has, before it is journaled: the row's books could never be added up again."""
        if self.max_cost < 0:
            raise ValueError(f"a call costs nothing at least, got {self.max_cost}")

    @property
    def is_repeat(self) -> bool:
        """Whether something was sent under its key before, of which nobody knew what it did."""
        return self.repeats is not None or self.sent_at != self.first_sent_at


@dataclass(frozen=True, slots=True, kw_only=True)
class PresentAttempt:
    """The attempt the row is in; its number is the row's ``attempts``. ``run`` names the run that began it."""

    started_at: datetime
    ended_at: datetime | None = None
    outcome: AttemptOutcome | None = None
    error_class: str | None = None
    error_code: str | None = None
    decision: str | None = None
    cost: Cost = field(default_factory=Cost.nothing)
    run: str | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class Job:
    """One job as its row says.

    ``seq`` counts committed transitions: the events' order is made from it. ``journals`` counts the writes of intents,
    so that one which arrives late is not put over a newer one. ``in_flight``: its reservation is counted in its
    account, as those of older code are not.
    """

    tenant_id: TenantId
    job_id: JobId
    create_token: CreateToken
    fingerprint: Fingerprint
    kind: str
    kind_version: int
    schema_version: int = SCHEMA_VERSION
    created_at: datetime
    created_by: str
    deadline_at: datetime
    expires_at: datetime
    traceparent: str | None = None
    seq: int = 1
    journals: int = 0

    state: JobState = JobState.QUEUED
    waiting_for: WaitingFor | None = None
    wake_at: datetime | None = None
    due: datetime | None = None
    review_until: datetime | None = None

    epoch: int = 1
    attempts: int = 0
    lost: int = 0
    run_token: RunToken | None = None
    lease_until: datetime | None = None
    attempt: PresentAttempt | None = None

    open: tuple[OpenCall, ...] = ()
    accepted: Mapping[StepKey, AnswerRef] = field(default_factory=dict)
    spent: Cost = field(default_factory=Cost.nothing)

    reserved_micro_usd: int | None = None
    in_flight: bool = False
    charge_micro_usd: int | None = None
    cancel_requested_at: datetime | None = None
    cancelled_at: datetime | None = None
    provider_cancel: ProviderCancel = ProviderCancel.NONE

    result: ResultRef | None = None
    error_code: str | None = None
    finished_at: datetime | None = None
    erased_at: datetime | None = None

    flight: JobId | None = None
    participants: int | None = None

    @property
    def is_flight(self) -> bool:
        """Whether this is a hidden job that works for others; ``participants`` counts who waits for it."""
        return self.participants is not None

    @property
    def is_shared(self) -> bool:
        """Whether the accepted result is a flight's: its cost stands there, and nothing was sent for this job."""
        return self.state is JobState.SUCCEEDED and self.flight is not None and not self.accepted

    @property
    def identity(self) -> Identity:
        """The key under which the row is stored."""
        return identity_of(self.job_id)

    @property
    def is_in_review(self) -> bool:
        """Whether an outcome waits for a person; stays true while a closing run looks again."""
        return self.review_until is not None

    @property
    def has_maybe(self) -> bool:
        """Whether some call may have happened without an answer that we hold."""
        return any(call.state is not CallState.SUBMITTED for call in self.open)

    @property
    def has_submitted(self) -> bool:
        """Whether a provider works on a call and will answer under its reference."""
        return any(call.state is CallState.SUBMITTED for call in self.open)

    @property
    def bought(self) -> tuple[StepKey, ...]:
        """The steps whose accepted answer somebody else gave: what may have cost money, or changed something."""
        return tuple(step for step, ref in self.accepted.items() if not ref.is_local)

    @property
    def possible_spent(self) -> Cost:
        """What was spent, and what the open calls may have cost besides."""
        return self.spent + _bounds(self.open)

    @property
    def own_open(self) -> tuple[OpenCall, ...]:
        """The open calls that the present attempt sent itself: not those of an earlier one, or of an earlier epoch."""
        return tuple(call for call in self.open if self.is_present(call.epoch, call.attempt))

    def is_present(self, epoch: int, attempt: int) -> bool:
        """Whether that attempt of that epoch is the one that the row is in."""
        return (epoch, attempt) == (self.epoch, self.attempts)

    @property
    def attempt_cost(self) -> Cost:
        """What the present attempt cost, and what its own open calls may have."""
        return (Cost.nothing() if self.attempt is None else self.attempt.cost) + _bounds(self.own_open)

    def call_of(self, step: StepKey) -> OpenCall | None:
        """The open entry of a step, if it has one."""
        return next((call for call in self.open if call.step == step), None)


def _bounds(calls: Iterable[OpenCall]) -> Cost:
    """What calls without an answer may have cost."""
    return sum((Cost.maybe(call.max_cost) for call in calls), Cost.nothing())
