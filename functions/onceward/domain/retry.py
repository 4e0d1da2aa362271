"""The retry decision: one pure function, whose reasons are stored with the attempt.

Back-off has full jitter. A well-formed Retry-After is a floor, with positive jitter on top, and is never slept inside a
Lambda: it becomes the row's ``wake_at``.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from datetime import datetime, timedelta

from onceward.domain.closing import Close
from onceward.domain.error_class import RETRYABLE, ErrorClass
from onceward.domain.job import Job
from onceward.domain.money import Cost
from onceward.domain.policy import Backoff, KindPolicy, OnUnknown
from onceward.domain.timing import MAX_JOB_DEADLINE

__all__ = [
    "RETRYABLE",
    "Decision",
    "ErrorClass",
    "Failure",
    "GiveUp",
    "LookUpAt",
    "RetryAt",
    "Review",
    "Situation",
    "backoff",
    "beside_maybe",
    "decide_retry",
    "final_failure",
]


LEAST_JITTER = timedelta(milliseconds=1)  # what stored instants can tell apart
# Of a floor: a thousand jobs that were told the same minute come back over six seconds, not over half a one.
SPREAD = 0.1


@dataclass(frozen=True, slots=True, kw_only=True)
class Failure:
    """How an attempt failed: class, stable code, and the target's own wish when to come back.

    The wish is any target's or kind's word: it is kept within nothing and a job's longest life, so that it can be added
    to any instant. What goes beyond the job's own deadline ends the job there, as ever.
    """

    error_class: ErrorClass
    code: str
    retry_after: timedelta | None = None

    def __post_init__(self) -> None:
        """Clamp the wish; the one place for all that read it."""
        if self.retry_after is not None:
            within = min(max(self.retry_after, timedelta(0)), MAX_JOB_DEADLINE)
            object.__setattr__(self, "retry_after", within)  # the dataclass is frozen for everybody else


@dataclass(frozen=True, slots=True, kw_only=True)
class Situation:
    """What the decision is made from. ``jitter`` is one draw from [0, 1); ``spent`` includes what may have been.

    ``is_repeat_allowed``: a person has said of each unknown call that it may be made again.
    """

    failure: Failure
    attempts: int
    spent: Cost
    now: datetime
    deadline_at: datetime
    jitter: float
    can_look_up_at: datetime | None = None
    is_resend_deduped: bool = False
    is_repeat_allowed: bool = False


@dataclass(frozen=True, slots=True, kw_only=True)
class Decided:
    """What every decision says of itself: the rule in a few words, which the hot row keeps, and all figures."""

    why: str
    figures: str

    @property
    def reasons(self) -> str:
        """The whole of it, as the attempt's item keeps it."""
        return f"{self.why}; {self.figures}"


@dataclass(frozen=True, slots=True, kw_only=True)
class RetryAt(Decided):
    """Try again, not before ``at``."""

    at: datetime


@dataclass(frozen=True, slots=True, kw_only=True)
class LookUpAt(Decided):
    """First find out what became of the call."""

    at: datetime


@dataclass(frozen=True, slots=True, kw_only=True)
class GiveUp(Decided):
    """The job fails with this code; ``is_exhausted``: more attempts could have helped, so it becomes a dead letter."""

    code: str
    is_exhausted: bool


@dataclass(frozen=True, slots=True, kw_only=True)
class Review(Decided):
    """A person decides: an outcome is unknown and may not be repeated."""


type Decision = RetryAt | LookUpAt | GiveUp | Review


def backoff(policy: KindPolicy, attempts: int, jitter: float, floor: timedelta | None) -> timedelta:
    """Full jitter below a ceiling, which doubles or stays; a floor is kept, and what is drawn comes on top of it.

    On a floor the jitter is never nothing, and grows with the floor up to the last ceiling: those who were told the
    same wake apart.
    """
    retry = policy.retry
    doublings = min(attempts - 1, 30) if retry.backoff is Backoff.EXPONENTIAL else 0
    ceiling = min(retry.initial_delay * (1 << doublings), retry.max_delay)
    if floor is None:
        return ceiling * jitter
    spread = max(ceiling, min(floor * SPREAD, retry.max_delay))
    return floor + max(spread * jitter, LEAST_JITTER)


def decide_retry(policy: KindPolicy, at: Situation) -> Decision:
    """What follows a failed attempt."""
    failure, figures = at.failure, _figures(policy, at)
    is_maybe = failure.error_class is ErrorClass.OUTCOME_UNKNOWN
    if is_maybe and at.can_look_up_at is not None:
        return LookUpAt(at=at.can_look_up_at, why="outcome unknown; the target answers lookups", figures=figures)
    may_repeat = at.is_resend_deduped or at.is_repeat_allowed or policy.retry.on_unknown is OnUnknown.RETRY
    if is_maybe and not may_repeat:
        return Review(why="outcome unknown; no lookup, no dedup, policy is review", figures=figures)
    if not is_maybe and failure.error_class not in policy.retry.retry_on:
        return GiveUp(code=failure.code, is_exhausted=False, why=f"{failure.error_class} is final", figures=figures)
    if at.attempts >= policy.retry.max_attempts:
        return _no_more(Close.EXHAUSTED, "no attempt left", policy, at)
    cap = policy.max_provider_cost
    if cap is not None and at.spent.high + policy.max_call_cost > cap:
        return _no_more("spend_cap_reached", "one more call could pass the spend cap", policy, at)
    wait = backoff(policy, at.attempts, at.jitter, failure.retry_after)
    if at.now + wait + policy.call_timeout > at.deadline_at:
        return _no_more("deadline_exceeded", "the next attempt could not end before the deadline", policy, at)
    return RetryAt(at=at.now + wait, why=_why(at), figures=_figures(policy, at, wait))


def _why(at: Situation) -> str:
    """What lets the attempt be repeated."""
    if at.failure.error_class is not ErrorClass.OUTCOME_UNKNOWN:
        return f"{at.failure.error_class} is retried"
    if at.is_resend_deduped:
        return "outcome unknown; the target dedupes"
    return "outcome unknown; " + ("a person allowed it" if at.is_repeat_allowed else "policy is retry")


def _figures(policy: KindPolicy, at: Situation, wait: timedelta | None = None) -> str:
    """Every figure that a decision looked at, for whoever asks why."""
    cap = policy.max_provider_cost
    spent = f"{at.spent.low}-{at.spent.high}" + ("" if cap is None else f" of {cap}")
    figures = [
        f"attempt {at.attempts} of {policy.retry.max_attempts}",
        f"spent {spent} micro-USD",
        f"{max((at.deadline_at - at.now).total_seconds(), 0):.0f} s to the deadline",
    ]
    if wait is not None:
        floor = at.failure.retry_after
        asked = "" if floor is None else f", {floor.total_seconds():.0f} s of it asked for"
        figures.append(f"waits {wait.total_seconds():.3f} s{asked}")
    return "; ".join(figures)


def beside_maybe(job: Job, failure: Failure) -> Failure:
    """A failure beside a call whose outcome is unknown is an unknown outcome, whatever else went wrong."""
    return replace(failure, error_class=ErrorClass.OUTCOME_UNKNOWN) if job.has_maybe else failure


def final_failure(failure: Failure) -> Failure | None:
    """A failure that more attempts could not have helped; the others are named by the closing rule."""
    return None if failure.error_class in RETRYABLE or failure.error_class is ErrorClass.OUTCOME_UNKNOWN else failure


def _no_more(code: str, why: str, policy: KindPolicy, at: Situation) -> Decision:
    """A limit ends it: with an open maybe as a review, never as a failure."""
    figures = _figures(policy, at)
    if at.failure.error_class is ErrorClass.OUTCOME_UNKNOWN:
        return Review(why=f"outcome unknown; {why}", figures=figures)
    return GiveUp(code=code, is_exhausted=code == Close.EXHAUSTED, why=why, figures=figures)
