"""How a job ends when nothing more may be sent for it."""

from __future__ import annotations

from typing import Any

import pytest

from onceward.domain.closing import Close, decide_close, may_look_again
from onceward.domain.job import Job
from onceward.domain.states import CallState
from tests.support.builders import NOW, a_policy, a_running_job, an_open_call, seconds

MAYBE = {"open": (an_open_call(state=CallState.UNKNOWN),)}
WORK = {"open": (an_open_call(state=CallState.SUBMITTED),)}
CANCEL = {"cancel_requested_at": NOW}
REVIEW = {"review_until": NOW + seconds(9)}
OVER = {"review_until": NOW}
ACTION = {"has_outside_effect": True}

CASES: list[tuple[str, Job, dict[str, Any], dict[str, bool], Close]] = [
    ("exhausted", a_running_job(), {}, {}, Close.EXHAUSTED),
    ("deadline", a_running_job(deadline_at=NOW), {}, {}, Close.DEADLINE),
    ("failed by itself", a_running_job(deadline_at=NOW), {}, {"has_failed": True}, Close.FAILED),
    ("maybe", a_running_job(**MAYBE), {}, {}, Close.REVIEW),
    ("maybe past the deadline", a_running_job(**MAYBE, deadline_at=NOW), {}, {}, Close.REVIEW),
    ("maybe, failed", a_running_job(**MAYBE), {}, {"has_failed": True}, Close.REVIEW),
    ("answer that nobody may read", a_running_job(), {}, {"has_unread_answer": True}, Close.REVIEW),
    ("cancelled", a_running_job(**CANCEL), {}, {}, Close.CANCELLED),
    ("cancelled with a maybe", a_running_job(**MAYBE, **CANCEL), {}, {}, Close.CANCELLED),
    ("action cancelled with a maybe", a_running_job(**MAYBE, **CANCEL), ACTION, {}, Close.REVIEW),
    ("action cancelled", a_running_job(**CANCEL), ACTION, {}, Close.CANCELLED),
    ("still in review", a_running_job(**MAYBE, **REVIEW), {}, {}, Close.REVIEW),
    ("provider at work", a_running_job(**WORK), {}, {}, Close.REVIEW),
    ("provider at work past the deadline", a_running_job(**WORK, deadline_at=NOW), {}, {}, Close.DEADLINE),
    ("provider at work in review", a_running_job(**WORK, **REVIEW, deadline_at=NOW), {}, {}, Close.REVIEW),
    ("provider at work, failed", a_running_job(**WORK), {}, {"has_failed": True}, Close.FAILED),
    ("provider at work, cancelled", a_running_job(**WORK, **CANCEL), ACTION, {}, Close.CANCELLED),
    ("review without a call of ours", a_running_job(**REVIEW), {}, {"is_news": False}, Close.REVIEW),
    ("the same, with news", a_running_job(**REVIEW), {}, {}, Close.EXHAUSTED),
    ("the same, cancelled", a_running_job(**REVIEW, **CANCEL), {}, {"is_news": False}, Close.CANCELLED),
    ("the same, an action", a_running_job(**REVIEW, **CANCEL), ACTION, {"is_news": False}, Close.REVIEW),
    ("the same, at its limit", a_running_job(**OVER), {}, {"is_news": False}, Close.REVIEW_EXPIRED),
    ("review over", a_running_job(**MAYBE, **OVER), {}, {}, Close.REVIEW_EXPIRED),
    ("review over, cancelled", a_running_job(**MAYBE, **OVER, **CANCEL), ACTION, {}, Close.CANCELLED),
]


@pytest.mark.parametrize(
    ("job", "policy", "facts", "expected"), [case[1:] for case in CASES], ids=[case[0] for case in CASES]
)
def test_closing_rule(job: Job, policy: dict[str, Any], facts: dict[str, bool], expected: Close) -> None:
    """Cancel first, then the maybe, then the code's own failure, then time, then attempts."""
    known = {"has_failed": False, "has_unread_answer": False, **facts}

    assert expected == decide_close(job, a_policy(**policy), NOW, **known)


PATIENT: list[tuple[str, Job, float, bool]] = [
    ("before the deadline", a_running_job(), 60, True),
    ("soon after the deadline", a_running_job(deadline_at=NOW), 3_600, True),
    ("long after the deadline", a_running_job(deadline_at=NOW), 3_601, False),
    ("cancelled", a_running_job(**CANCEL), 60, False),
    ("in review", a_running_job(**REVIEW, deadline_at=NOW), 90_000, True),
    ("in review past its limit", a_running_job(**OVER), 60, False),
]


@pytest.mark.parametrize(("job", "wait", "expected"), [case[1:] for case in PATIENT], ids=[case[0] for case in PATIENT])
def test_lookups_do_not_go_on_for_ever(job: Job, wait: float, expected: bool) -> None:
    """A target that nobody can reach does not keep a job from its end."""
    assert expected is may_look_again(job, NOW + seconds(wait), NOW)
