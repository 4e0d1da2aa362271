"""The message table: what becomes of a message once its job has been looked at."""

from __future__ import annotations

from datetime import timedelta

import pytest

from onceward.domain.deliveries import (
    Acknowledge,
    DeadLetterUnreadable,
    Disposition,
    LeaveUntouched,
    PutBack,
    after_infrastructure_error,
    decide_delivery,
    lease_visibility,
    wait_for_all,
    wait_for_wake,
)
from onceward.domain.timing import Timing
from tests.support.builders import NOW, seconds

TIMING = Timing()


@pytest.mark.parametrize(
    ("wake_in", "expected"),
    [
        (timedelta(seconds=-5), PutBack(seconds(3))),
        (timedelta(milliseconds=1), PutBack(seconds(4))),
        (timedelta(seconds=7), PutBack(seconds(10))),
        (timedelta(minutes=10), PutBack(seconds(603))),
        (timedelta(minutes=10, milliseconds=1), Acknowledge()),
    ],
)
def test_short_wait_stays_in_the_message(wake_in: timedelta, expected: Disposition) -> None:
    """Up to ten minutes the message waits: rounded up, the skew allowance and a second on top; longer is the row's."""
    assert expected == wait_for_wake(NOW + wake_in, NOW, TIMING)


@pytest.mark.parametrize(
    ("others", "expected"),
    [
        ((), 2),
        ((1, 2, None), 2),
        ((9, 5), 9),
        ((17,), 17),
        ((18, 4), 4),
        ((3_600,), 2),
    ],
    ids=["alone", "earlier", "later", "just in time", "one too late", "a long wait"],
)
def test_one_message_comes_when_all_are_awake_that_wait_little_longer(
    others: tuple[int | None, ...], expected: int
) -> None:
    """Its own job waits 2 s; up to 15 s more is waited for the others, and nobody is held up by a longer wait."""
    wakes = [None if one is None else NOW + seconds(one) for one in others]

    assert wait_for_all(NOW + seconds(2), wakes, NOW, TIMING) == PutBack(seconds(expected + 3))


def test_wait_without_an_instant_is_the_row_s() -> None:
    """A job that waits for a person has no time to come back at."""
    assert Acknowledge() == wait_for_wake(None, NOW, TIMING)


@pytest.mark.parametrize(
    ("receives", "expected"), [(0, 30), (1, 30), (2, 60), (3, 120), (4, 240), (5, 300), (6, 300), (1_000, 300)]
)
def test_infrastructure_errors_come_back_later_each_time(receives: int, expected: int) -> None:
    """30 to 300 seconds, growing with the receives."""
    assert PutBack(seconds(expected)) == after_infrastructure_error(receives, TIMING)


@pytest.mark.parametrize("wish", [PutBack(seconds(5)), LeaveUntouched(), Acknowledge()])
def test_message_near_its_last_receive_is_acknowledged(wish: Disposition) -> None:
    """The row is due, so the sweeper sends a fresh message; SQS must not move this one to the dead letters."""
    assert wish == decide_delivery(wish, 46, 50)
    assert Acknowledge() == decide_delivery(wish, 47, 50)


def test_unreadable_message_is_kept_whatever_its_count() -> None:
    """Nothing is lost of a body that names no job."""
    wish = DeadLetterUnreadable("not JSON")

    assert wish == decide_delivery(wish, 50, 50)


@pytest.mark.failure_mode("F52")
@pytest.mark.parametrize(("left", "expected"), [(60, 65), (0, 5), (-3, 5)])
def test_visibility_follows_the_lease(left: int, expected: int) -> None:
    """The lease's remainder, twice the skew allowance, and a second."""
    assert seconds(expected) == lease_visibility(seconds(left), TIMING)
