"""Which letter may re-open which row, and what the one write then says."""

from __future__ import annotations

from datetime import timedelta
from typing import Any

import pytest

from onceward.domain.change import RowChange
from onceward.domain.conditions import KindLimit
from onceward.domain.job import AnswerRef, Job, PresentAttempt
from onceward.domain.ledger import Account, Verb
from onceward.domain.money import Cost
from onceward.domain.reopening import Redrive, Reopening, decide_redrive, is_own_reopening, reopen_ops
from onceward.domain.states import JobState, is_legal
from onceward.domain.timing import EXPIRY_MARGIN, Timing
from onceward.domain.transaction import AddEntry, ChangeAccount, UpdateRow
from tests.support.builders import JOB_ID, KIND, NOW, OTHER_TOKEN, STEP, TENANT, TOKEN, a_job, a_policy, seconds

LIMITS = (KindLimit(KIND, 1, 3),)
POLICY = a_policy(deadline=timedelta(days=1))
ACCOUNT = Account(tenant_id=TENANT, granted=9_000, available=9_000, reserved=0, captured=0)
EXHAUSTED: dict[str, Any] = {
    "state": JobState.FAILED,
    "error_code": "attempts_exhausted",
    "attempts": 3,
    "run_token": TOKEN,
    "attempt": PresentAttempt(started_at=NOW - seconds(60)),
    "finished_at": NOW - seconds(50),
    "due": None,
    "seq": 8,
}
WHO = Reopening(token=OTHER_TOKEN, now=NOW, timing=Timing())


def exhausted(**fields: Any) -> Job:
    """A job that ended because no attempt was left."""
    return a_job(**{**EXHAUSTED, **fields})


def change_of(job: Job, account: Account | None = None) -> RowChange:
    """The row's part of a re-opening."""
    first = reopen_ops(job, POLICY, account, WHO)[0]
    assert isinstance(first, UpdateRow)
    return first.change


@pytest.mark.failure_mode("F58")
@pytest.mark.parametrize(
    ("seen", "epoch", "expected"),
    [
        (exhausted(), 1, Redrive.REOPENED),
        (exhausted(epoch=2), 2, Redrive.REOPENED),
        (exhausted(due=NOW), 1, Redrive.REOPENED),
        (None, 1, Redrive.CHANGED_NOTHING),
        (exhausted(job_id=JOB_ID[:-1] + "Z"), 1, Redrive.CHANGED_NOTHING),
        (exhausted(epoch=2), 1, Redrive.CHANGED_NOTHING),
        (exhausted(), 2, Redrive.CHANGED_NOTHING),
        (exhausted(error_code="no_text"), 1, Redrive.CHANGED_NOTHING),
        (exhausted(erased_at=NOW), 1, Redrive.CHANGED_NOTHING),
        (exhausted(expires_at=NOW), 1, Redrive.CHANGED_NOTHING),
        (exhausted(expires_at=NOW + EXPIRY_MARGIN), 1, Redrive.CHANGED_NOTHING),
        (exhausted(kind_version=2), 1, Redrive.UNKNOWN_CODE),
        (exhausted(kind="image.draw"), 1, Redrive.UNKNOWN_CODE),
        (exhausted(schema_version=2), 1, Redrive.UNKNOWN_CODE),
        *((a_job(state=state), 1, Redrive.CHANGED_NOTHING) for state in JobState),
    ],
)
def test_only_an_exhausted_row_in_the_letter_s_own_epoch_is_opened(
    seen: Job | None, epoch: int, expected: Redrive
) -> None:
    """Everything else is a plain wake-up; what newer code alone may touch waits for it."""
    assert decide_redrive(seen, JOB_ID, epoch, LIMITS, NOW) is expected


def test_new_epoch_begins_anew_and_keeps_what_was_paid_for() -> None:
    """Attempts, losses, deadline and errors are new; accepted steps and what was spent are not."""
    paid = exhausted(accepted={STEP: AnswerRef(epoch=1, attempt=2)}, spent=Cost.exact(250), lost=3)
    job = change_of(paid).apply(paid)

    assert is_legal(paid.state, job.state)
    assert (job.state, job.epoch, job.attempts, job.lost, job.seq) == (JobState.QUEUED, 2, 0, 0, 9)
    assert (job.due, job.deadline_at, job.attempt) == (NOW + seconds(30), NOW + timedelta(days=1), None)
    assert (job.error_code, job.finished_at, job.run_token) == (None, None, OTHER_TOKEN)
    assert (job.accepted, job.spent) == (paid.accepted, paid.spent)


def test_deadline_is_cut_before_the_row_may_vanish() -> None:
    """The new deadline leaves the same margin as the first one did."""
    old = exhausted(expires_at=NOW + EXPIRY_MARGIN + seconds(9))

    assert change_of(old).apply(old).deadline_at == NOW + seconds(9)


def test_account_reserves_for_the_new_epoch_once() -> None:
    """The tariff of today, under an entry that names the new epoch; without an account nothing is reserved."""
    job = exhausted(reserved_micro_usd=1)
    row, moved, entry = reopen_ops(job, POLICY, ACCOUNT, WHO)

    assert isinstance(row, UpdateRow)
    assert isinstance(moved, ChangeAccount)
    assert isinstance(entry, AddEntry)
    assert row.change.apply(job).reserved_micro_usd == 5_000
    assert (moved.change.available, moved.change.reserved) == (-5_000, 5_000)
    assert (entry.entry.verb, entry.entry.name) == (Verb.RESERVE, f"{JOB_ID}#2#reserve")
    assert len(reopen_ops(job, POLICY, None, WHO)) == 1
    assert change_of(job).apply(job).reserved_micro_usd is None


@pytest.mark.parametrize("moved", [{"seq": 9}, {"epoch": 2}, {"state": JobState.QUEUED}, {"expires_at": NOW}])
def test_row_that_moved_meanwhile_refuses(moved: dict[str, Any]) -> None:
    """Invariant 15: an erasure, a re-opening or the row's end in between wins."""
    change = change_of(exhausted())

    assert change.holds(exhausted())
    assert not change.holds(exhausted(**moved))


def test_second_copy_of_a_letter_finds_another_epoch() -> None:
    """The write itself makes the letter's epoch a past one."""
    job = exhausted()
    opened = change_of(job).apply(job)

    assert not change_of(job).holds(opened)
    assert decide_redrive(opened, JOB_ID, 1, LIMITS, NOW) is Redrive.CHANGED_NOTHING
    assert is_own_reopening(opened, 1, OTHER_TOKEN)
    assert not is_own_reopening(opened, 1, TOKEN)
