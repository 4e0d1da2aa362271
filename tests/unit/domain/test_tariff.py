"""Tariffs: fixed, by page, by token, and never above the maximum that was held."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from onceward.domain.tariff import Metered, PerPage, PerToken, charge_for, is_payable
from onceward.errors import Usage

TOKENS = PerToken(input=2_000_000, output=8_000_000)  # $2 and $8 a million: 2 and 8 micro-USD for each
AN_ANSWER = Usage(input=100, cached=60, output=10, reasoning=4)


@pytest.mark.parametrize(
    ("metered", "expected"),
    [
        (None, 5_000),
        (PerPage(70), 3 * 70),
        (PerPage(2_000), 5_000),
        (TOKENS, 2 * (100 * 2 + 10 * 8)),
        (PerToken(input=1, output=0), 1),
        (PerToken(input=50_000_000, output=0), 5_000),
    ],
    ids=["fixed", "pages", "pages beyond the maximum", "tokens", "a sum is rounded up once", "tokens beyond"],
)
def test_charge_follows_the_tariff(metered: Metered | None, expected: int) -> None:
    """Three pages and two answers; cached and reasoning tokens are part of what was counted."""
    assert charge_for(metered, 5_000, pages=3, answers=[AN_ANSWER, AN_ANSWER]) == expected


def test_answer_without_usage_is_not_charged_by_token() -> None:
    """Nobody is charged for what nobody counted."""
    assert charge_for(TOKENS, 5_000, pages=0, answers=[None, AN_ANSWER]) == 280


@pytest.mark.failure_mode("F30")
@given(
    metered=st.one_of(
        st.none(),
        st.builds(PerPage, st.integers(0, 10**9)),
        st.builds(PerToken, input=st.integers(0, 10**9), output=st.integers(0, 10**9)),
    ),
    most=st.integers(0, 10**9),
    pages=st.integers(-3, 10**6),
    tokens=st.lists(st.integers(0, 10**9), max_size=5),
)
def test_charge_is_never_negative_and_never_above_what_was_held(
    metered: Metered | None, most: int, pages: int, tokens: list[int]
) -> None:
    """Whatever a kind or a provider counts."""
    answers = [Usage(input=count, output=count) for count in tokens]

    assert 0 <= charge_for(metered, most, pages=pages, answers=answers) <= most


@pytest.mark.parametrize(
    ("metered", "expected"),
    [
        (None, True),
        (PerPage(0), True),
        (PerPage(-1), False),
        (TOKENS, True),
        (PerToken(input=-1, output=0), False),
        (PerToken(input=0, output=-1), False),
    ],
)
def test_no_price_is_negative(metered: Metered | None, expected: bool) -> None:
    """A kind with one is refused at its registration."""
    assert is_payable(metered) is expected
