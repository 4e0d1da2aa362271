"""What a run's writes say: fenced, idempotent where repeated, and right about money."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import pytest

from onceward.domain.change import RowChange
from onceward.domain.ending import (
    AttemptEnd,
    Verdict,
    beat_change,
    ended_attempt,
    give_back_change,
    is_own_end,
    is_own_journal,
    is_own_next_attempt,
    journal_change,
    look_later_change,
    next_attempt_change,
    review_change,
    settle_ops,
    wait_change,
)
from onceward.domain.job import Job, ResultRef
from onceward.domain.ledger import AccountChange, Verb
from onceward.domain.money import Cost
from onceward.domain.states import AttemptOutcome, JobState, WaitingFor
from onceward.domain.timing import Timing
from onceward.domain.transaction import AddEntry, ChangeAccount, UpdateRow
from tests.support.builders import NOW, OTHER_TOKEN, TOKEN, a_job, a_running_job, an_open_call, seconds

TIMING = Timing()
LATER = NOW + seconds(90)
RESULT = ResultRef(epoch=1, attempt=1)
SUCCESS = Verdict(state=JobState.SUCCEEDED, result=RESULT, charge_micro_usd=5_000)


def settle(job: Job, verdict: Verdict) -> RowChange:
    """The row's part of a settle."""
    first = settle_ops(job, TOKEN, verdict, NOW)[0]
    if not isinstance(first, UpdateRow):
        raise TypeError
    return first.change


JOB = a_running_job(open=(an_open_call(),))
WRITES: dict[str, RowChange] = {
    "journal": journal_change(JOB, TOKEN, LATER),
    "beat": beat_change(TOKEN, LATER),
    "next attempt": next_attempt_change(JOB, TOKEN, NOW),
    "retry": wait_change(JOB, TOKEN, LATER, WaitingFor.RETRY, TIMING),
    "lookup": wait_change(JOB, TOKEN, LATER, WaitingFor.LOOKUP, TIMING),
    "review": review_change(JOB, TOKEN, NOW, TIMING),
    "look later": look_later_change(JOB, TOKEN, LATER),
    "give back": give_back_change(JOB, TOKEN, JobState.QUEUED, None, LATER, TIMING),
    "success": settle(JOB, SUCCESS),
    "failure": settle(JOB, Verdict(state=JobState.FAILED, error_code="no_text")),
    "cancelled": settle(JOB, Verdict(state=JobState.CANCELLED, error_code="cancelled")),
}
BLIND_TO_CANCEL = {"beat", "lookup", "review", "look later", "give back", "cancelled"}


@pytest.mark.parametrize("name", WRITES)
def test_only_the_lease_holder_may_write(name: str) -> None:
    """Invariant 3: another token, or a row that runs no more, refuses every write of a run."""
    change = WRITES[name]

    assert change.holds(JOB)
    assert not change.holds(replace(JOB, run_token=OTHER_TOKEN))
    assert not change.holds(replace(JOB, state=JobState.WAITING))


@pytest.mark.failure_mode("F64")
@pytest.mark.parametrize("name", WRITES)
def test_cancel_is_obeyed_where_it_must_win(name: str) -> None:
    """No send, no next attempt, no retry and no result after a recorded cancel."""
    assert (name in BLIND_TO_CANCEL) is WRITES[name].holds(replace(JOB, cancel_requested_at=NOW))


def test_beat_may_be_applied_twice() -> None:
    """An SDK's retry of an applied beat changes nothing."""
    once = WRITES["beat"].apply(JOB)

    assert WRITES["beat"].apply(once) == once


def test_journal_is_applied_once_and_known_as_one_s_own() -> None:
    """An SDK's retry of an applied journal is refused, however late it comes; its writer knows it by the count."""
    journal = WRITES["journal"]
    once = journal.apply(JOB)
    newer = replace(once, journals=once.journals + 1)

    assert not journal.holds(once)
    assert not journal.holds(newer)
    assert is_own_journal(once, TOKEN, journal, JOB)
    assert not is_own_journal(once, OTHER_TOKEN, journal, JOB)
    assert not is_own_journal(newer, TOKEN, journal, JOB)


@pytest.mark.failure_mode("F5")
@pytest.mark.parametrize("name", [name for name in WRITES if name not in {"journal", "beat", "next attempt"}])
def test_end_of_a_run_is_known_by_its_token(name: str) -> None:
    """The token stays, so that a retried, applied end is known as one's own; lease and losses are gone."""
    after = WRITES[name].apply(replace(JOB, lost=2))

    assert is_own_end(after, TOKEN)
    assert not is_own_end(after, OTHER_TOKEN)
    assert (after.lease_until, after.lost) == (None, 0)


def test_waiting_row_is_due_after_its_wake_up() -> None:
    """The message wakes it; the sweeper only if that fails."""
    after = WRITES["retry"].apply(JOB)

    assert (after.state, after.waiting_for, after.wake_at) == (JobState.WAITING, WaitingFor.RETRY, LATER)
    assert after.due == LATER + TIMING.due_grace


def test_review_is_due_at_once_for_its_letter() -> None:
    """Until the letter has been sent there is no wake-up, and the limit is set once."""
    after = WRITES["review"].apply(JOB)

    assert (after.due, after.wake_at, after.review_until) == (NOW, None, NOW + TIMING.review_limit)
    assert review_change(after, TOKEN, LATER, TIMING).apply(after).review_until == after.review_until


def test_review_ends_before_the_row_may_vanish() -> None:
    """The limit is cut to seven days before the item's expiry."""
    job = a_running_job(expires_at=NOW + 10 * seconds(86_400))

    assert review_change(job, TOKEN, NOW, TIMING).apply(job).review_until == NOW + 3 * seconds(86_400)


def test_settled_row_is_not_due_unless_it_is_dead() -> None:
    """An exhausted job keeps its due until its letter has been sent."""
    dead = Verdict(state=JobState.FAILED, error_code="attempts_exhausted", is_dead=True)

    assert WRITES["success"].apply(JOB).due is None
    assert settle(JOB, dead).apply(JOB).due == NOW


def test_open_calls_of_an_ended_job_stay_in_its_books() -> None:
    """What may have been spent is spent, as far as anyone can say."""
    job = replace(JOB, spent=Cost.exact(10))
    after = settle(job, Verdict(state=JobState.CANCELLED)).apply(job)

    assert (after.spent, after.open, after.cancelled_at) == (Cost(low=10, high=1_010), (), NOW)


@pytest.mark.parametrize(
    ("reserved", "verdict", "moved", "verb"),
    [
        (None, SUCCESS, None, Verb.CAPTURE),
        (None, Verdict(state=JobState.FAILED), None, None),
        (5_000, SUCCESS, (0, -5_000, 5_000), Verb.CAPTURE),
        (7_000, SUCCESS, (2_000, -7_000, 5_000), Verb.CAPTURE),
        (5_000, Verdict(state=JobState.FAILED), (5_000, -5_000, 0), Verb.RELEASE),
        (5_000, Verdict(state=JobState.CANCELLED), (5_000, -5_000, 0), Verb.RELEASE),
    ],
)
def test_account_follows_what_the_row_reserved(
    reserved: int | None, verdict: Verdict, moved: tuple[int, int, int] | None, verb: Verb | None
) -> None:
    """Captured exactly on success, released otherwise; without a reservation only a capture's entry is written."""
    ops = settle_ops(a_running_job(reserved_micro_usd=reserved), TOKEN, verdict, NOW)
    accounts = [op.change for op in ops if isinstance(op, ChangeAccount)]
    entries = [op.entry.verb for op in ops if isinstance(op, AddEntry)]
    expected: list[Any] = []
    if moved is not None:
        available, held, captured = moved
        expected = [AccountChange(tenant_id=JOB.tenant_id, available=available, reserved=held, captured=captured)]

    assert expected == accounts
    assert entries == ([] if verb is None else [verb])


def test_ended_attempt_keeps_its_beginning() -> None:
    """An ending adds to the attempt; a job without one has nothing to end."""
    end = AttemptEnd(outcome=AttemptOutcome.FAILED, error_class="transient", error_code="kind_error")
    ended = ended_attempt(JOB, end, NOW)

    assert ended is not None
    assert (ended.started_at, ended.ended_at, ended.outcome) == (NOW - seconds(5), NOW, AttemptOutcome.FAILED)
    assert ended_attempt(a_job(), end, NOW) is None


def test_next_attempt_is_begun_once() -> None:
    """It names the row that it moves: a repeat is refused by its own effect, and known as one's own."""
    change = WRITES["next attempt"]
    begun = change.apply(JOB)

    assert not change.holds(begun)
    assert is_own_next_attempt(begun, TOKEN, change, JOB)
    assert not is_own_next_attempt(begun, OTHER_TOKEN, change, JOB)
    assert not is_own_next_attempt(JOB, TOKEN, change, JOB)


def test_beat_never_shortens_a_lease() -> None:
    """A beat that arrives late comes after longer ones."""
    assert not beat_change(TOKEN, NOW + seconds(60)).holds(JOB)


@pytest.mark.failure_mode("F30")
@pytest.mark.parametrize(("tariff", "expected"), [(4_000, 4_000), (5_000, 5_000), (9_000, 5_000)])
def test_charge_is_never_more_than_was_held(tariff: int, expected: int) -> None:
    """A deploy that raises the tariff of a running job can neither overcharge it nor make its settle impossible."""
    verdict = Verdict(state=JobState.SUCCEEDED, result=RESULT, charge_micro_usd=tariff)
    ops = settle_ops(a_running_job(reserved_micro_usd=5_000), TOKEN, verdict, NOW)
    charged = [op.change.captured for op in ops if isinstance(op, ChangeAccount)]

    assert charged == [expected]
    assert settle(a_running_job(reserved_micro_usd=5_000), verdict).set["charge_micro_usd"] == expected
