"""Rows' parts of transactions, each refused by the very sentence that guards it: verdicts, re-openings and flights."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import pytest

from onceward.domain.approving import Approval, approve_ops
from onceward.domain.change import RowChange
from onceward.domain.coalescing import OnEmpty
from onceward.domain.ending import journal_change
from onceward.domain.flights import copy_ops, follow_change, is_own_join, join_change, join_ops, only_if_wanted
from onceward.domain.flights import wake_change as wake
from onceward.domain.job import Job, PresentAttempt
from onceward.domain.records import Participant, Result
from onceward.domain.reopening import Reopening, reopen_ops
from onceward.domain.resolving import Resolving, Wish, hasten_change, resolve_ops
from onceward.domain.states import JobState, Resolution, WaitingFor
from onceward.domain.timing import Timing
from onceward.domain.transaction import UpdateRow
from tests.support.builders import JOB_ID, NOW, OTHER_TOKEN, TENANT, TOKEN, a_job, a_policy, a_running_job, seconds
from tests.support.refusals import CANCELLED, EXPIRED, FLIGHT, FOREIGN, OTHER_LIFE, Refusal, assert_refused, part_of

MOVED: dict[str, Any] = {"seq": 9}
OTHER_FLIGHT: dict[str, Any] = {"flight": OTHER_LIFE["job_id"]}
MOST = 3
TIMING = Timing()
ATTEMPT = PresentAttempt(started_at=NOW - seconds(60))
RUNNING = a_running_job()
FLYING = a_running_job(job_id=FLIGHT, participants=1)
ABOARD = a_job(state=JobState.WAITING, waiting_for=WaitingFor.FLIGHT, flight=FLIGHT, attempts=1, attempt=ATTEMPT)
AWAITING = a_job(state=JobState.WAITING, waiting_for=WaitingFor.APPROVAL)
EXHAUSTED = a_job(state=JobState.FAILED, error_code="attempts_exhausted", attempts=3, attempt=ATTEMPT)
REVIEW = a_job(state=JobState.NEEDS_REVIEW, attempts=1, attempt=ATTEMPT, wake_at=NOW + seconds(60))


def _approve() -> RowChange:
    approval = Approval(by="op-1", why="seen", fingerprint="f" * 64, now=NOW, timing=TIMING)
    return part_of(approve_ops(AWAITING, approval), JOB_ID)


def _reopen() -> RowChange:
    who = Reopening(token=OTHER_TOKEN, now=NOW, timing=TIMING)
    return part_of(reopen_ops(EXHAUSTED, a_policy(), None, who), JOB_ID)


def _resolve() -> RowChange:
    wish = Wish(resolution=Resolution.FAIL, epoch=1, by="op-1", why="seen")
    how = Resolving(token=OTHER_TOKEN, now=NOW, timing=TIMING, policy=a_policy())
    return part_of(resolve_ops(REVIEW, wish, None, how).ops, JOB_ID)


def _hasten() -> RowChange:
    change = hasten_change(REVIEW, NOW)
    assert change is not None
    return change


def _board() -> RowChange:
    return join_change(RUNNING, TOKEN, FLIGHT, NOW, TIMING)


def _take_aboard() -> RowChange:
    participant = Participant(tenant_id=TENANT, job_id=FLIGHT, participant=JOB_ID, joined_at=NOW)
    ops = join_ops(UpdateRow(TENANT, JOB_ID, _board()), participant, MOST, NOW, RUNNING.expires_at)
    return part_of(ops, FLIGHT)


def _follow() -> RowChange:
    return follow_change(RUNNING, TOKEN, NOW, TIMING)


def _send_for_somebody() -> RowChange:
    journal = journal_change(FLYING, TOKEN, NOW + seconds(90))
    return only_if_wanted(journal, FLYING, OnEmpty.CANCEL_UNSENT, has_sent=False)


def _copy() -> RowChange:
    result = Result(tenant_id=TENANT, job_id=JOB_ID, epoch=1, attempt=1, body="{}")
    change, ops = copy_ops(ABOARD, FLIGHT, result, 5_000, NOW)
    assert part_of(ops, JOB_ID) == change
    return change


def _wake() -> RowChange:
    return wake(FLIGHT, NOW, Timing())


REFUSALS = (
    Refusal("an approval of another life", _approve, AWAITING, OTHER_LIFE),
    Refusal("an approval of an expired job", _approve, AWAITING, EXPIRED),
    Refusal("an approval past the deadline", _approve, AWAITING, {"deadline_at": NOW}),
    Refusal("an approval past a cancel", _approve, AWAITING, CANCELLED),
    Refusal("an approval of what has moved on", _approve, AWAITING, MOVED),
    Refusal("a re-opening of another life", _reopen, EXHAUSTED, OTHER_LIFE),
    Refusal("a verdict on another life", _resolve, REVIEW, OTHER_LIFE),
    Refusal("a verdict on an expired job", _resolve, REVIEW, EXPIRED),
    Refusal("a verdict on what has moved on", _resolve, REVIEW, MOVED),
    Refusal("a hastened look of another life", _hasten, REVIEW, OTHER_LIFE),
    Refusal("a hastened look at what has moved on", _hasten, REVIEW, MOVED),
    Refusal("a join of another run", _board, RUNNING, FOREIGN),
    Refusal("a join past a cancel", _board, RUNNING, CANCELLED),
    Refusal("a join of another life's flight", _take_aboard, FLYING, OTHER_LIFE),
    Refusal("a join of an expired flight", _take_aboard, FLYING, EXPIRED),
    Refusal("a join of a full flight", _take_aboard, FLYING, {"participants": MOST}),
    Refusal("a join of a cancelled flight", _take_aboard, FLYING, CANCELLED),
    Refusal("waiting on past a cancel", _follow, RUNNING, CANCELLED),
    Refusal("a send for nobody", _send_for_somebody, FLYING, {"participants": 0}),
    Refusal("a copy for another flight's participant", _copy, ABOARD, OTHER_FLIGHT),
    Refusal("a copy past a cancel", _copy, ABOARD, CANCELLED),
    Refusal("a copy for what has moved on", _copy, ABOARD, MOVED),
    Refusal("a wake-up of another flight's participant", _wake, ABOARD, OTHER_FLIGHT),
)


@pytest.mark.parametrize("refusal", REFUSALS, ids=lambda refusal: refusal.name)
def test_a_transaction_is_refused_by_its_own_guard(refusal: Refusal) -> None:
    """Its row's part may be applied to the row it was made for, and not to one that differs in this alone."""
    assert_refused(refusal)


@pytest.mark.parametrize(
    ("row", "is_own"),
    [
        (replace(ABOARD, run_token=TOKEN), True),
        (replace(ABOARD, run_token=OTHER_TOKEN), False),
        (RUNNING, False),
        (replace(ABOARD, run_token=TOKEN, waiting_for=WaitingFor.LOOKUP), False),
    ],
)
def test_own_join_is_known_by_its_token(row: Job, is_own: bool) -> None:
    """The SDK repeats a join that had been applied: the row waits for a flight, under our token."""
    assert is_own_join(row, TOKEN) is is_own
