"""When a provider that answers later is asked again: soon at first, then ever more rarely.

A wait grows with the age of the work, so that a short one costs little time and a long one few polls; and it stays well
within what the provider documents of how long a finished answer is kept.
"""

from __future__ import annotations

from collections.abc import Iterable
from datetime import datetime, timedelta

from onceward.domain.job import OpenCall
from onceward.domain.policy import Capability
from onceward.domain.states import CallState

FIRST = timedelta(seconds=2)
LONGEST = timedelta(minutes=15)  # beyond ten minutes the row alone waits, without a message; a batch takes up to a day
PART_OF_AGE = 4  # a wait is a quarter of the age: an answer is found at most that much too late


def next_poll(calls: Iterable[OpenCall], capability: Capability, now: datetime, jitter: float) -> datetime | None:
    """When to ask next for the youngest of the calls that were submitted; ``None``: none was.

    ``jitter`` is one draw from [0, 1): what was submitted together is not polled together.
    """
    waits = [_wait(now - call.sent_at, capability) for call in calls if call.state is CallState.SUBMITTED]
    return now + min(waits) * (1 + jitter / PART_OF_AGE) if waits else None


def _wait(age: timedelta, capability: Capability) -> timedelta:
    """Half of what an answer is kept at most: a poll that fails leaves time for another."""
    longest = LONGEST if capability.kept is None else min(LONGEST, capability.kept / 2)
    return min(max(age / PART_OF_AGE, FIRST), longest)
