"""What a due row needs."""

from __future__ import annotations

from datetime import timedelta

import pytest

from onceward.domain.job import Job
from onceward.domain.states import JobState, WaitingFor
from onceward.domain.sweep import Rescue, Rescued, decide_rescue, is_dead, next_look
from onceward.domain.timing import Timing
from tests.support.builders import NOW, a_job, a_running_job, seconds

TIMING = Timing()
LIMIT = NOW + timedelta(days=30)
MINUTE, HOUR, DAY = timedelta(minutes=1), timedelta(hours=1), timedelta(days=1)


def waiting(wake_in: timedelta) -> Job:
    """A job that waits for a retry."""
    return a_job(state=JobState.WAITING, waiting_for=WaitingFor.RETRY, wake_at=NOW + wake_in)


def in_review(**fields: object) -> Job:
    """A job that waits for a person."""
    return a_job(state=JobState.NEEDS_REVIEW, review_until=LIMIT, **fields)


CASES: list[tuple[str, Job, Rescued]] = [
    ("lost message", a_job(), Rescued(due=NOW + MINUTE, rescue=Rescue.WAKE)),
    ("lost message, long ago", a_job(created_at=NOW - 3 * MINUTE), Rescued(due=NOW + 3 * MINUTE, rescue=Rescue.WAKE)),
    ("lost message, very long ago", a_job(created_at=NOW - HOUR), Rescued(due=NOW + 10 * MINUTE, rescue=Rescue.WAKE)),
    ("lease live", a_running_job(), Rescued(due=NOW + seconds(64), rescue=Rescue.NOTHING)),
    (
        "lease over",
        a_running_job(lease_until=NOW - seconds(3)),
        Rescued(due=NOW + MINUTE, rescue=Rescue.WAKE),
    ),
    ("retry awake", waiting(-seconds(30)), Rescued(due=NOW + MINUTE, rescue=Rescue.WAKE)),
    ("retry asleep", waiting(HOUR), Rescued(due=NOW + HOUR, rescue=Rescue.NOTHING)),
    (
        "review without its letter",
        in_review(),
        Rescued(due=NOW + MINUTE, rescue=Rescue.DEAD_LETTER, wake_at=NOW + MINUTE),
    ),
    ("review awake", in_review(wake_at=NOW), Rescued(due=NOW + MINUTE, rescue=Rescue.WAKE)),
    ("review asleep", in_review(wake_at=NOW + DAY), Rescued(due=NOW + DAY, rescue=Rescue.NOTHING)),
    (
        "exhausted without its letter",
        a_job(state=JobState.FAILED, error_code="attempts_exhausted"),
        Rescued(due=None, rescue=Rescue.DEAD_LETTER),
    ),
    ("succeeded", a_job(state=JobState.SUCCEEDED), Rescued(due=None, rescue=Rescue.NOTHING)),
]


@pytest.mark.parametrize(("job", "expected"), [case[1:] for case in CASES], ids=[case[0] for case in CASES])
def test_due_row_is_rescued(job: Job, expected: Rescued) -> None:
    """The base row decides; steps double from one to ten minutes."""
    assert expected == decide_rescue(job, NOW, TIMING)


@pytest.mark.parametrize(
    ("age", "expected"),
    [(timedelta(0), MINUTE), (MINUTE, 10 * MINUTE), (10 * MINUTE, HOUR), (HOUR, DAY), (3 * DAY, DAY)],
)
def test_looks_are_soon_at_first_then_daily(age: timedelta, expected: timedelta) -> None:
    """1 min, 10 min, 1 h, then daily."""
    assert NOW + expected == next_look(NOW - age, NOW, LIMIT)


def test_last_look_is_at_the_limit() -> None:
    """A review ends on time, not a day late."""
    assert next_look(NOW - 9 * DAY, NOW, NOW + HOUR) == NOW + HOUR


@pytest.mark.parametrize(
    ("job", "expected"),
    [
        (a_job(state=JobState.FAILED, error_code="attempts_exhausted"), True),
        (a_job(state=JobState.FAILED, error_code="no_text"), False),
        (in_review(), True),
        (a_job(), False),
        (a_job(state=JobState.SUCCEEDED), False),
    ],
)
def test_letters_belong_to_exhausted_jobs_and_reviews(job: Job, expected: bool) -> None:
    """Nothing else becomes a dead letter."""
    assert expected is is_dead(job)
