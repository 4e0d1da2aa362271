"""What becomes of a message once its job has been looked at: the message table of the design.

The receive count is SQS's, never ours: a message near its ``maxReceiveCount`` is acknowledged, since the row is due
and the sweeper sends a fresh one. So SQS moves a message to the dead letters only if the handler never ran.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from datetime import datetime, timedelta

from onceward.domain.timing import SHORT_WAIT, Timing

RECEIVES_KEPT_BACK = 3  # two receives may be lost to throttles or a crash before ours ends the message
ONE_SECOND = timedelta(seconds=1)
TOGETHER = timedelta(seconds=15)  # the longest wait of a policy as it comes


@dataclass(frozen=True, slots=True)
class Acknowledge:
    """Nothing is left for this message to do."""


@dataclass(frozen=True, slots=True)
class PutBack:
    """Deliver it again after ``visibility``."""

    visibility: timedelta


@dataclass(frozen=True, slots=True)
class LeaveUntouched:
    """We lost the lease: whoever holds it may be served by this very message's visibility."""


@dataclass(frozen=True, slots=True)
class DeadLetterUnreadable:
    """The body names no job that could be asked; keep it for a person, with the reason."""

    reason: str


type Disposition = Acknowledge | PutBack | LeaveUntouched | DeadLetterUnreadable


def wait_for_wake(wake_at: datetime | None, now: datetime, timing: Timing) -> Disposition:
    """A waiting job within ten minutes keeps its message; a longer wait belongs to the row's ``due``."""
    if wake_at is None or wake_at - now > SHORT_WAIT:
        return Acknowledge()
    wait = max(wake_at - now, timedelta(0))
    whole = timedelta(seconds=-(-wait // ONE_SECOND))  # rounded up: never before wake_at
    return PutBack(whole + timing.skew_allowance + ONE_SECOND)


def wait_for_all(own: datetime, others: Iterable[datetime | None], now: datetime, timing: Timing) -> Disposition:
    """One message for all whom one failure has made wait: it comes when the last one is awake of those that soon are.

    They then share one try again, and whoever waits much longer does not hold them up.
    """
    return wait_for_wake(max([own, *(one for one in others if one and one - own <= TOGETHER)]), now, timing)


def after_infrastructure_error(receive_count: int, timing: Timing) -> PutBack:
    """Come back later, each time a little more, without burning an attempt."""
    doubled = timing.infrastructure_backoff * 2 ** min(max(receive_count - 1, 0), 10)
    return PutBack(min(doubled, timing.infrastructure_backoff_max))


def while_breaker_open(receive_count: int, jitter: float, timing: Timing) -> PutBack:
    """Come back later and not together: those that one brown-out stopped would meet again, all at the first probe."""
    return PutBack(after_infrastructure_error(receive_count, timing).visibility * (1 + jitter))


def lease_visibility(lease_left: timedelta, timing: Timing) -> timedelta:
    """How long the message hides while its job is leased: a crash is retried after one lease."""
    return max(lease_left, timedelta(0)) + 2 * timing.skew_allowance + ONE_SECOND


def decide_delivery(wish: Disposition, receive_count: int, max_receive_count: int) -> Disposition:
    """The wish, unless the message has been received too often to be put back once more."""
    if isinstance(wish, DeadLetterUnreadable):
        return wish
    return Acknowledge() if receive_count >= max_receive_count - RECEIVES_KEPT_BACK else wish
