"""Circuit breakers: one for each provider and model, shared by all workers.

Failures in a row open it; while it is open nothing is sent there, until a pause is over. Then one send is let through
every few seconds, a probe: some that succeed close it, one that fails opens it anew with a pause twice as long. What
left before it opened says nothing about now and changes nothing. Every change carries the token of its write, so that
of two workers who saw the same state one wins, and an SDK's repeat knows its own.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from datetime import datetime, timedelta
from enum import StrEnum

from onceward.domain.retry import ErrorClass

KNOWN_FOR = timedelta(seconds=5)  # as for kill switches: one small read every few seconds of a process that sends
MOST_DOUBLINGS = 10


@dataclass(frozen=True, slots=True, kw_only=True)
class BreakerRule:
    """When it opens and how it closes.

    ``failures`` in a row, none longer than ``memory`` after the last; ``pause`` of the first opening, doubled up to
    ``longest_pause``; then a probe every ``probe_every``, and ``successes`` of them close it.
    """

    failures: int = 5
    memory: timedelta = timedelta(minutes=2)
    pause: timedelta = timedelta(seconds=30)
    longest_pause: timedelta = timedelta(minutes=5)
    probe_every: timedelta = timedelta(seconds=5)
    successes: int = 3


@dataclass(frozen=True, slots=True, kw_only=True)
class Breaker:
    """One breaker as the last write left it; closed while ``opened_at`` is ``None``, and then it counts a ``streak``.

    ``token`` names that write; ``openings`` counts those in a row; from ``probe_at`` on one more send may leave;
    ``successes`` are those of probes since it opened.
    """

    name: str
    token: str
    streak: int = 0
    failed_at: datetime | None = None
    opened_at: datetime | None = None
    openings: int = 0
    probe_at: datetime | None = None
    successes: int = 0

    @property
    def is_open(self) -> bool:
        """Whether sends are stopped, but for probes."""
        return self.opened_at is not None


class Sign(StrEnum):
    """What the end of one call says about its target."""

    WELL = "well"
    ILL = "ill"
    NOTHING = "nothing"


def sign_of(error_class: str, *, was_sent: bool) -> Sign:
    """What a failed call says: no answer, or one that admits a fault, is ill; a refusal of this one request is well.

    A rate limit says nothing: the provider is there and has a wish of its own, which the retry keeps.
    """
    if error_class in (ErrorClass.TRANSIENT, ErrorClass.OUTCOME_UNKNOWN):
        return Sign.ILL
    if not was_sent or error_class in (ErrorClass.RATE_LIMITED, ErrorClass.QUOTA_EXHAUSTED):
        return Sign.NOTHING
    return Sign.WELL


def may_try(breaker: Breaker | None, now: datetime) -> bool:
    """Whether a send may be attempted: it is closed, or the next probe's time has come."""
    if breaker is None or breaker.probe_at is None:
        return True
    return breaker.probe_at <= now


def take_probe(breaker: Breaker, rule: BreakerRule, token: str, now: datetime) -> Breaker:
    """One send is let through; the next one a while later, however long this one takes."""
    return replace(breaker, token=token, probe_at=now + rule.probe_every)


def after_call(
    breaker: Breaker, sign: Sign, rule: BreakerRule, *, token: str, sent_at: datetime, now: datetime
) -> Breaker | None:
    """The breaker after a call that left at ``sent_at``; ``None``: it says nothing new."""
    is_old = breaker.opened_at is not None and sent_at < breaker.opened_at
    if sign is Sign.NOTHING or is_old:
        return None
    after = _after_ill(breaker, rule, now) if sign is Sign.ILL else _after_well(breaker, rule)
    return None if after is None else replace(after, token=token)


def _after_ill(breaker: Breaker, rule: BreakerRule, now: datetime) -> Breaker:
    """One more in a row, or a probe that failed."""
    if breaker.is_open:
        return _opened(breaker, rule, now)
    is_fresh = breaker.failed_at is not None and now - breaker.failed_at <= rule.memory
    counted = replace(breaker, streak=breaker.streak + 1 if is_fresh else 1, failed_at=now)
    return _opened(counted, rule, now) if counted.streak >= rule.failures else counted


def _after_well(breaker: Breaker, rule: BreakerRule) -> Breaker | None:
    """The row of failures is broken, or a probe succeeded; a healthy target costs no write."""
    if not breaker.is_open:
        return replace(breaker, streak=0, failed_at=None) if breaker.streak else None
    if breaker.successes + 1 >= rule.successes:
        return Breaker(name=breaker.name, token=breaker.token)
    return replace(breaker, successes=breaker.successes + 1)


def _opened(breaker: Breaker, rule: BreakerRule, now: datetime) -> Breaker:
    """Open from now on, for longer each time."""
    pause = min(rule.pause * (1 << min(breaker.openings, MOST_DOUBLINGS)), rule.longest_pause)
    return replace(breaker, streak=0, opened_at=now, openings=breaker.openings + 1, probe_at=now + pause, successes=0)
