"""The circuit breaker's rule: opens by failures in a row, half-opens gently, closes by successes."""

from __future__ import annotations

from dataclasses import replace
from datetime import datetime, timedelta

import pytest
from hypothesis import given
from hypothesis import strategies as st

from onceward.domain.breaking import Breaker, BreakerRule, Sign, after_call, may_try, sign_of, take_probe
from tests.support.builders import NOW, seconds

RULE = BreakerRule()
CLOSED = Breaker(name="openai:m", token="t")


def told(breaker: Breaker, sign: Sign, at: datetime, sent_at: datetime | None = None) -> Breaker:
    """The breaker after a call; as it was if the call said nothing."""
    after = after_call(breaker, sign, RULE, token="next", sent_at=sent_at or at, now=at)
    return breaker if after is None else after


def opened(times: int = 1) -> Breaker:
    """Open since NOW, for the how-manieth time in a row."""
    breaker = CLOSED
    for _ in range(RULE.failures + times - 1):
        breaker = told(breaker, Sign.ILL, NOW)
    return breaker


@pytest.mark.parametrize(
    ("error_class", "was_sent", "expected"),
    [
        ("transient", True, Sign.ILL),
        ("transient", False, Sign.ILL),
        ("outcome_unknown", True, Sign.ILL),
        ("rate_limited", True, Sign.NOTHING),
        ("quota_exhausted", True, Sign.NOTHING),
        ("permanent", False, Sign.NOTHING),
        ("permanent", True, Sign.WELL),
        ("invalid_output", True, Sign.WELL),
        ("policy_rejected", True, Sign.WELL),
    ],
)
def test_what_a_failure_says_of_its_target(error_class: str, was_sent: bool, expected: Sign) -> None:
    """No connection, no answer or a fault of its own; a refusal shows that somebody is there."""
    assert sign_of(error_class, was_sent=was_sent) is expected


def test_failures_in_a_row_open_it_and_the_last_one_begins_the_pause() -> None:
    """One less, and everything is sent."""
    almost = CLOSED
    for _ in range(RULE.failures - 1):
        almost = told(almost, Sign.ILL, NOW)

    assert (almost.is_open, may_try(almost, NOW)) == (False, True)
    now_open = told(almost, Sign.ILL, NOW)
    assert (now_open.is_open, may_try(now_open, NOW + RULE.pause - seconds(1))) == (True, False)
    assert may_try(now_open, NOW + RULE.pause)


def test_a_success_in_between_breaks_the_row() -> None:
    """A target that answers now and then is not in a brown-out; retries are for that."""
    breaker = CLOSED
    for _ in range(10 * RULE.failures):
        breaker = told(told(breaker, Sign.ILL, NOW), Sign.WELL, NOW)

    assert not breaker.is_open


def test_failures_far_apart_are_no_row() -> None:
    """Four in January and one in March open nothing."""
    breaker = CLOSED
    for number in range(10 * RULE.failures):
        breaker = told(breaker, Sign.ILL, NOW + number * (RULE.memory + seconds(1)))

    assert not breaker.is_open


def test_healthy_target_costs_no_write() -> None:
    """A success of a breaker that counts nothing says nothing new."""
    assert after_call(CLOSED, Sign.WELL, RULE, token="next", sent_at=NOW, now=NOW) is None


def test_probes_come_one_at_a_time_and_some_successes_close_it() -> None:
    """Each moves the next one's time; the last success leaves a breaker as if nothing had been."""
    at = NOW + RULE.pause
    breaker = take_probe(opened(), RULE, "probe", at)

    assert not may_try(breaker, at + RULE.probe_every - seconds(1))
    assert may_try(breaker, at + RULE.probe_every)
    for number in range(RULE.successes):
        assert breaker.is_open
        breaker = told(breaker, Sign.WELL, at + number * RULE.probe_every)
    assert replace(breaker, token="t") == CLOSED


def test_failed_probe_opens_it_for_twice_as_long_up_to_a_limit() -> None:
    """30 s, a minute, two ... five minutes; successes before it count no more."""
    probed = told(opened(), Sign.WELL, NOW + RULE.pause)
    again = told(probed, Sign.ILL, NOW + RULE.pause)

    assert (again.successes, again.opened_at) == (0, NOW + RULE.pause)
    assert again.probe_at == NOW + RULE.pause + 2 * RULE.pause
    assert opened(times=40).probe_at == NOW + RULE.longest_pause


@pytest.mark.parametrize("sign", [Sign.WELL, Sign.ILL])
def test_what_left_before_it_opened_says_nothing(sign: Sign) -> None:
    """Ten calls of one batch fail together: one opening, not six; and a late success closes nothing."""
    assert told(opened(), sign, NOW + seconds(3), sent_at=NOW - seconds(1)) == opened()


@given(
    signs=st.lists(st.sampled_from(list(Sign)), max_size=40),
    steps=st.lists(st.integers(0, 400), min_size=40, max_size=40),
)
def test_it_never_stays_open_for_ever_and_counts_stay_small(signs: list[Sign], steps: list[int]) -> None:
    """Whatever happens: the next probe is at most one longest pause away, and no count runs beyond its limit."""
    breaker, at = CLOSED, NOW
    for sign, step in zip(signs, steps, strict=False):
        at += timedelta(seconds=step)
        breaker = told(breaker, sign, at)

    assert may_try(breaker, at + RULE.longest_pause)
    assert 0 <= breaker.streak < RULE.failures
    assert 0 <= breaker.successes < RULE.successes
