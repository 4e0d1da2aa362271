"""The guard between the journal and the socket: the last look before money may be spent.

A process can be frozen anywhere, also between its durable ``sent`` and the request. What was true at the journal may
be false at the socket, so everything is asked again, on the wall clock and on the monotonic one; the caller passes
the smaller of both readings. What remains is a freeze between this check and the socket write itself: no code can
close that, and the docs say so.
"""

from __future__ import annotations

from dataclasses import dataclass
from datetime import timedelta
from enum import StrEnum

from onceward.domain.timing import Timing


class Guard(StrEnum):
    """What to do with a request that is journaled and not yet sent; the last two come before the journal."""

    SEND = "send"
    JOURNAL_AGAIN = "journal_again"
    STOP_LEASE = "stop_lease"
    STOP_TIME = "stop_time"
    STOP_INVOCATION = "stop_invocation"
    STOP_CANCEL = "stop_cancel"
    STOP_SWITCHED_OFF = "stop_switched_off"
    STOP_BREAKER_OPEN = "stop_breaker_open"
    STOP_NO_SLOT = "no_slot"


# The target is out of order or switched off, or this process is busy: the job waits, and no attempt is used up by it.
PASSING = frozenset({Guard.STOP_SWITCHED_OFF, Guard.STOP_BREAKER_OPEN, Guard.STOP_NO_SLOT})


@dataclass(frozen=True, slots=True, kw_only=True)
class BeforeSend:
    """What is left of each limit at this instant, and what has been heard."""

    lease_left: timedelta
    attempt_left: timedelta
    job_left: timedelta
    invocation_left: timedelta
    since_journal: timedelta
    hard_timeout: timedelta
    is_cancelled: bool = False
    is_switched_off: bool = False


def decide_send(at: BeforeSend, timing: Timing) -> Guard:
    """Send, journal anew because the process was held up, or stop with the reason."""
    if at.is_cancelled:
        return Guard.STOP_CANCEL
    if at.is_switched_off:
        return Guard.STOP_SWITCHED_OFF
    if at.lease_left <= timing.lease_margin:
        return Guard.STOP_LEASE
    if min(at.attempt_left, at.job_left) < at.hard_timeout:
        return Guard.STOP_TIME
    if at.invocation_left < at.hard_timeout:
        return Guard.STOP_INVOCATION
    return Guard.SEND if at.since_journal <= timing.send_window else Guard.JOURNAL_AGAIN
