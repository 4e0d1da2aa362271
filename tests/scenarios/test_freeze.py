"""A process that is frozen for longer than its lease, with jobs at all places: what it does late changes nothing.

SIGSTOP holds every thread, the heartbeat's too. When it goes on, its jobs are another run's or have ended: its writes
are refused and it sends nothing; the answer that a target still gives it is evidence, the one thing that it may keep.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, replace
from datetime import timedelta

import pytest

from onceward.domain.states import JobState
from tests.scenarios.crash_table import FIRST, Crash, Place
from tests.scenarios.lost_jobs import Evidence, LostJobs
from tests.scenarios.stack import until
from tests.scenarios.witness import Calls, Witness, assert_books_agree
from tests.scenarios.worker_processes import freeze, go_on, thaw
from tests.scenarios.worker_settings import fed
from tests.support.deployed.terms import PROMISES

pytestmark = [pytest.mark.thorough, pytest.mark.timeout(900)]  # many processes start, on however busy a machine

PROCESSES = 4  # two of them are frozen, of ten jobs each
DEDUPES_S = 3600.0
# A run that is frozen after its journal finds out at the guard; one that has passed the guard is the model's to see.
PLACES: tuple[Place, ...] = ("before_sent", "after_sent", "in_model", "before_item", "after_item", "after_settle")
LINES = [
    Crash(place=place, promise=promise, end=FIRST["before_socket" if place == "after_sent" else place][promise])
    for place in PLACES
    for promise in PROMISES
]
# While it is frozen it counts as lost. Where nobody could know what the model did, its late answer ends the review.
ANSWERED_LATE = [line for line in LINES if line.promise == "none" and line.place in ("in_model", "before_item")]
ONCE = FIRST["after_settle"]["none"]


@dataclass(frozen=True, slots=True)
class Frozen:
    """What was found while the processes stood still, and after they had gone on."""

    before: dict[Crash, Evidence]
    after: dict[Crash, Evidence]


@pytest.fixture(scope="module")
def frozen(witness: Witness) -> Iterator[Frozen]:
    """Freeze until others have taken all jobs over, let go on until the messages are back, look at reviews again."""
    stack = witness.stack
    stack.model.reset()
    stack.model.behave(text="frozen dedupes", dedupe_s=DEDUPES_S)
    with fed(stack, processes=PROCESSES):
        jobs = LostJobs(witness, LINES, "frozen")
        for pid in jobs.holders:
            freeze(pid)
        for job_id in jobs.ids.values():
            witness.at_rest(job_id)
        before = {line: jobs.evidence(line) for line in LINES}
        for job_id in jobs.ids.values():
            go_on(stack, job_id)
        stack.model.release()
        for pid in jobs.holders:
            thaw(pid)
        witness.quiet()
        for line in ANSWERED_LATE:
            _look_now(witness, jobs.ids[line])
        witness.quiet()
        yield Frozen(before, {line: jobs.evidence(line) for line in LINES})
        jobs.cancel_reviews()
    stack.model.reset()


def _look_now(witness: Witness, job_id: str) -> None:
    """Let the minute pass after which a review is looked at, and the sweeper come by."""
    row = witness.row(job_id)
    assert row.wake_at is not None
    past = row.wake_at - timedelta(minutes=1)
    witness.overwrite(replace(row, wake_at=past, due=past))
    until(lambda: witness.stack.sweep().get("wake"), "the review is woken")
    witness.when(job_id, lambda job: job.state is JobState.SUCCEEDED, "the late answer has ended the review")


@pytest.mark.parametrize("line", LINES, ids=lambda line: line.title)
def test_frozen_process_is_taken_for_lost(frozen: Frozen, line: Crash) -> None:
    """While it stands still, others do what they do after a crash."""
    assert_ends(frozen.before[line], line)


@pytest.mark.failure_mode("F20")
@pytest.mark.parametrize("line", LINES, ids=lambda line: line.title)
def test_frozen_process_that_goes_on_changes_nothing_and_sends_nothing(frozen: Frozen, line: Crash) -> None:
    """Its writes are refused; a late answer alone counts, and then it ends the job: one attempt, call and charge."""
    assert_ends(frozen.after[line], replace(line, end=ONCE) if line in ANSWERED_LATE else line)


def test_late_answer_makes_the_dead_letter_say_nothing(frozen: Frozen, witness: Witness) -> None:
    """One letter was sent for the review; the answer came, and moving the letter back changes nothing."""
    for line in ANSWERED_LATE:
        found = frozen.after[line]
        assert [letter["reason"] for letter in found.letters] == ["needs_review"]
        witness.redeliver(found.letters[0])
    witness.quiet()

    assert [witness.row(frozen.after[line].row.job_id) for line in ANSWERED_LATE] == [
        frozen.after[line].row for line in ANSWERED_LATE
    ]


def test_books_agree_after_a_freeze(frozen: Frozen, witness: Witness) -> None:
    """Nothing was charged or freed twice, although two runs ended the same jobs."""
    assert frozen.after
    assert_books_agree(witness.account)


def assert_ends(found: Evidence, line: Crash) -> None:
    """State, attempts, calls and the book's lines are as they should be."""
    assert found.row.state is line.end.state, found.shown
    assert found.outcomes == line.end.outcomes
    assert found.calls == Calls(requests=line.end.calls, computations=line.end.computed)
    assert found.verbs == line.end.verbs
