"""Dates are read in the formats contracts use, and what is no day is left alone."""

from datetime import date

import pytest

from onceward.local.model.brain.calendar import find_dates

MARCH_12 = date(2026, 3, 12)


@pytest.mark.parametrize(
    "written",
    [
        "12 March 2026",
        "12 Mar. 2026",
        "12th March, 2026",
        "March 12, 2026",
        "March 12th 2026",
        "March the 12th, 2026",
        "MAR 12, 2026",
        "the 12th day of March, 2026",
        "the twelfth day of March 2026",
        "the 12th of March in the year 2026",
        "12-Mar-2026",
        "Thursday, 12 March 2026",
        "2026-03-12",
        "2026-03-12T09:30:00Z",
        "2026/03/12",
        "12.03.2026",
        "12.3.2026",
        "12.03.26",
        "12/03/2026",
        "12/3/26",
        "12-03-2026",
        "12. März 2026",
        "12 mars 2026",
        "12 de marzo de 2026",
        "12 marzo 2026",
        "12 maart 2026",
        "12 de março de 2026",
        "2026年3月12日",
        "12March 2026",
    ],
)
def test_a_day_is_read_in_each_of_its_formats(written: str) -> None:
    """However a contract writes the twelfth of March, it is the same day."""
    assert [found.value for found in find_dates(f"made on {written} between")] == [MARCH_12]


@pytest.mark.parametrize(
    ("written", "expected"),
    [
        ("03/04/2026", date(2026, 4, 3)),
        ("03/25/2026", date(2026, 3, 25)),
        ("25/03/2026", date(2026, 3, 25)),
        ("1er avril 2026", date(2026, 4, 1)),
        ("31.12.99", date(1999, 12, 31)),
        ("29 February 2028", date(2028, 2, 29)),
    ],
)
def test_figures_are_read_day_first_unless_that_is_impossible(written: str, expected: date) -> None:
    """The order of day and month is decided by what can be a day."""
    assert [found.value for found in find_dates(written)] == [expected]


@pytest.mark.parametrize(
    "text",
    [
        "31.02.2026",
        "29 February 2026",
        "13/25/2026",
        "192.168.10.20",
        "version 1.2.26",
        "in March 2026",
        "12 March",
        "§ 4.2.1",
    ],
)
def test_what_names_no_real_day_is_left_out(text: str) -> None:
    """An impossible or incomplete date is not guessed at."""
    assert list(find_dates(text)) == []


def test_dates_come_in_the_order_of_the_text_with_their_places() -> None:
    """Each date is found where it stands, whatever pattern found it."""
    text = "from 2026-04-01 to 31 March 2029"

    assert [text[found.start : found.end] for found in find_dates(text)] == ["2026-04-01", "31 March 2029"]
