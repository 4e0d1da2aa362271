"""What every small kind of these tests has in common: its prompt, its text, its short times and its small sums."""

from __future__ import annotations

from datetime import timedelta

from pydantic import BaseModel

from onceward.domain.policy import KindPolicy, OnUnknown, RetryPolicy
from tests.support.deployed.terms import CALL, MAX_ATTEMPTS, MAX_CALL_COST, TARIFF

RETRY = RetryPolicy(max_attempts=MAX_ATTEMPTS, initial_delay=timedelta(seconds=0.2), max_delay=timedelta(seconds=1))


class Prompt(BaseModel):
    """What to ask; a marker in it may choose a crash point."""

    prompt: str


class Text(BaseModel):
    """What came of it."""

    text: str


def short_policy(
    name: str,
    *,
    on_unknown: OnUnknown = OnUnknown.REVIEW,
    call_timeout: timedelta = CALL,
    max_attempts: int = MAX_ATTEMPTS,
) -> KindPolicy:
    """The short times and small sums of tests."""
    retry = RetryPolicy(
        max_attempts=max_attempts,
        initial_delay=RETRY.initial_delay,
        max_delay=RETRY.max_delay,
        on_unknown=on_unknown,
    )
    return KindPolicy(
        name=name,
        timeout=timedelta(minutes=2),
        call_timeout=call_timeout,
        retry=retry,
        tariff_micro_usd=TARIFF,
        max_call_cost=MAX_CALL_COST,
    )
