"""Instants as stored: exact to the millisecond, and expiry never too early."""

from __future__ import annotations

from datetime import datetime, timedelta

import pytest
from hypothesis import given

from onceward.adapters.instants import (
    duration_from_ms,
    duration_ms,
    from_expiry,
    from_ms,
    seconds_passed,
    to_expiry,
    to_ms,
)
from tests.support.builders import NOW
from tests.unit.adapters.dynamodb.strategies import QUICK, durations, expiries, instants


@QUICK
@given(at=instants)
def test_instant_reads_as_it_was(at: datetime) -> None:
    """No float rounds a millisecond away."""
    assert from_ms(to_ms(at)) == at


@QUICK
@given(duration=durations)
def test_duration_reads_as_it_was(duration: timedelta) -> None:
    """To the millisecond."""
    assert duration_from_ms(duration_ms(duration)) == duration


@pytest.mark.parametrize(("ms", "later"), [(0, 0), (1, 1_000), (999, 1_000), (1_000, 1_000)])
def test_expiry_is_rounded_up_to_a_whole_second(ms: int, later: int) -> None:
    """What expires lives at least as long as promised."""
    assert from_expiry(to_expiry(NOW + timedelta(milliseconds=ms))) == NOW + timedelta(milliseconds=later)


@QUICK
@given(expiry=expiries, now=instants)
def test_stored_expiry_is_past_exactly_when_the_instant_is(expiry: datetime, now: datetime) -> None:
    """Comparing whole seconds with cut seconds is comparing instants."""
    assert (to_expiry(expiry) <= seconds_passed(now)) == (expiry <= now)
