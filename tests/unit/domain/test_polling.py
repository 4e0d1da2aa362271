"""When a provider that answers later is asked again."""

from __future__ import annotations

from datetime import timedelta

import pytest
from hypothesis import given
from hypothesis import strategies as st

from onceward.domain.cancelling import said_by_all
from onceward.domain.policy import Capability
from onceward.domain.polling import FIRST, LONGEST, PART_OF_AGE, next_poll
from onceward.domain.states import CallState, ProviderCancel
from tests.support.builders import NOW, an_open_call, seconds

SHORT = Capability(kept=timedelta(minutes=10))
LONG = Capability(kept=timedelta(days=29))

ages = st.floats(min_value=-5, max_value=7 * 86_400).map(seconds)
jitters = st.floats(min_value=0, max_value=1, exclude_max=True)


@given(ages, jitters, st.sampled_from([SHORT, LONG]))
def test_wait_is_bounded_by_age_and_by_what_is_kept(age: timedelta, jitter: float, target: Capability) -> None:
    """Never at once, never so late that an answer could be gone, and a quarter of the age in between."""
    call = an_open_call(state=CallState.SUBMITTED, sent_at=NOW - age)
    at = next_poll([call], target, NOW, jitter)

    assert at is not None
    assert target.kept is not None
    assert FIRST <= at - NOW <= LONGEST * (1 + 1 / PART_OF_AGE)
    assert at - NOW < target.kept * 2 / 3
    assert at - NOW <= max(FIRST, age / PART_OF_AGE) * (1 + 1 / PART_OF_AGE)


def test_youngest_work_is_asked_for_first() -> None:
    """What was submitted last may be done soon; the older work is asked for with it."""
    young = an_open_call(state=CallState.SUBMITTED, sent_at=NOW)
    old = an_open_call(state=CallState.SUBMITTED, sent_at=NOW - timedelta(hours=9))

    assert next_poll([old, young], LONG, NOW, 0) == NOW + FIRST


def test_nothing_submitted_is_nothing_to_poll() -> None:
    """A maybe is recovery's."""
    assert next_poll([an_open_call(state=CallState.UNKNOWN)], LONG, NOW, 0) is None


@pytest.mark.parametrize(
    ("said", "expected"),
    [
        (["confirmed"], "confirmed"),
        (["confirmed", "requested"], "requested"),
        (["requested", "unsupported", "confirmed"], "unsupported"),
    ],
)
def test_several_words_of_a_provider_are_told_as_the_least(said: list[str], expected: str) -> None:
    """Confirmed is said only if all work has stopped."""
    assert said_by_all(map(ProviderCancel, said)) == expected
