"""What a job kind promises and permits: attempts, time, money, and what to do after a maybe."""

from __future__ import annotations

from dataclasses import dataclass, field
from datetime import timedelta
from enum import StrEnum
from hashlib import sha256

from onceward.domain.coalescing import CoalesceBy
from onceward.domain.conditions import KindLimit
from onceward.domain.error_class import MAY_BE_RETRIED, RETRYABLE, ErrorClass
from onceward.domain.tariff import Metered

MAX_ACCEPTED_STEPS = 20  # the row stays under 1 KB
MOST_ATTEMPTS = 20  # the queue delivers a message 2 x this + 10 times before SQS gives it up


class OnUnknown(StrEnum):
    """What may be done about a call whose outcome is unknown and cannot be found out."""

    REVIEW = "review"
    RETRY = "retry"


class Backoff(StrEnum):
    """How the ceiling of the waits grows with the attempts: doubling, or not at all."""

    EXPONENTIAL = "exponential"
    CONSTANT = "constant"


class Jitter(StrEnum):
    """How a wait is drawn. There is one way: jobs that fail together must not wake together."""

    FULL = "full"


@dataclass(frozen=True, slots=True, kw_only=True)
class RetryPolicy:
    """When a failed attempt is tried again: which failures, how often, and after which wait."""

    max_attempts: int = 3
    backoff: Backoff = Backoff.EXPONENTIAL
    initial_delay: timedelta = timedelta(seconds=0.5)
    max_delay: timedelta = timedelta(seconds=15)
    jitter: Jitter = Jitter.FULL
    retry_on: frozenset[ErrorClass] = RETRYABLE
    on_unknown: OnUnknown = OnUnknown.REVIEW

    def __post_init__(self) -> None:
        """Refuse a policy that could never start, or never end."""
        if not 1 <= self.max_attempts <= MOST_ATTEMPTS:
            raise ValueError(f"max_attempts must be between 1 and {MOST_ATTEMPTS}")
        if self.initial_delay <= timedelta(0) or self.max_delay < self.initial_delay:
            raise ValueError("delays must satisfy 0 < initial_delay <= max_delay")
        if not self.retry_on <= MAY_BE_RETRIED:
            raise ValueError(f"retry_on may hold {', '.join(sorted(MAY_BE_RETRIED))}: the others are final")


@dataclass(frozen=True, slots=True, kw_only=True)
class KindPolicy:
    """The rules of one kind.

    ``timeout`` of one attempt; ``deadline`` of the whole job; ``call_timeout`` the hard limit of one call;
    ``tariff_micro_usd`` what the user is charged for one accepted result, or, of a ``metered`` tariff, at most;
    ``max_call_cost`` the most one call can cost in micro-USD (an unpriced call counts as this);
    ``has_outside_effect``: an unknown outcome is never closed by a cancel alone; ``requires_approval``: each of its
    epochs waits for a person first, but for one that a person's verdict on a review has opened; ``coalesce``: equal
    questions that are open at the same time are computed once.
    """

    name: str
    version: int = 1
    timeout: timedelta = timedelta(minutes=10)
    deadline: timedelta = timedelta(days=1)
    call_timeout: timedelta = timedelta(minutes=5)
    retry: RetryPolicy = field(default_factory=RetryPolicy)
    tariff_micro_usd: int = 0
    metered: Metered | None = None
    max_call_cost: int = 0
    max_provider_cost: int | None = None
    has_outside_effect: bool = False
    requires_approval: bool = False
    coalesce: CoalesceBy | None = None

    @property
    def limit(self) -> KindLimit:
        """What a claim needs to know of this kind."""
        return KindLimit(self.name, self.version, self.retry.max_attempts)


@dataclass(frozen=True, slots=True, kw_only=True)
class Capability:
    """What a target documents about repeats. Declared only where its documentation says so.

    ``dedup_window``: a second send with the same key within it costs and changes nothing; ``lookup_lag``: a finished
    call can be found by key that long after it ended; ``kept``: it may answer later, under a reference, and a finished
    answer can be fetched under it for at least that long.
    """

    dedup_window: timedelta | None = None
    lookup_lag: timedelta | None = None
    kept: timedelta | None = None

    def promised(self, whose: str) -> str:
        """Who promises and which kinds of things, in eight characters: what a call remembers of whom it was sent to."""
        kinds = [self.dedup_window is not None, self.lookup_lag is not None, self.kept is not None]
        return sha256(f"{whose} {kinds}".encode()).hexdigest()[:8]
