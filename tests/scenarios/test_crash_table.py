"""Whatever dies, and wherever: the crash table on the deployed stack, by SIGKILL of the worker's processes.

The jobs stand at all places at once when their processes are killed, and come back by their messages' visibility
alone: the sweeper does not run.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from datetime import UTC, datetime

import pytest

from onceward.domain.states import JobState
from tests.scenarios.conftest import TIMES
from tests.scenarios.crash_table import Crash, crashes
from tests.scenarios.lost_jobs import Evidence, LostJobs
from tests.scenarios.witness import Calls, Witness, assert_books_agree
from tests.scenarios.worker_processes import kill
from tests.scenarios.worker_settings import fed
from tests.support.deployed.terms import MAX_ATTEMPTS, TARIFF

pytestmark = [pytest.mark.thorough, pytest.mark.timeout(900)]  # many processes start, on however busy a machine

CASES = list(crashes())
DEDUPES_S = 3600.0
PROCESSES = 4  # of ten jobs each
LEASE, SKEW = float(TIMES["lease_seconds"]), float(TIMES["skew_allowance_seconds"])
HIDDEN = LEASE + 2 * SKEW + 1  # seconds that a message stays hidden after its job's last heartbeat
LOCAL = 60.0  # seconds that a local cloud on a busy machine may need to start another process


@dataclass(frozen=True, slots=True)
class Lost:
    """What became of all lines, what the tenant's account held for them then, and when they were lost."""

    found: dict[Crash, Evidence]
    reserved: int
    at: datetime
    after_cancel: dict[Crash, Evidence]


@pytest.fixture(scope="module")
def lost(witness: Witness) -> Iterator[Lost]:
    """All jobs created, brought to their places, killed, come to rest; then those in review cancelled."""
    model = witness.stack.model
    model.reset()
    model.behave(text="killed dedupes", dedupe_s=DEDUPES_S)
    held = witness.account.reserved
    with fed(witness.stack, processes=PROCESSES):
        jobs = LostJobs(witness, CASES, "killed")
        at = datetime.now(UTC)
        for pid in jobs.holders:
            kill(pid)
        found, reserved = jobs.at_rest(), witness.account.reserved - held
        jobs.cancel_reviews()
        yield Lost(found, reserved, at, {crash: jobs.evidence(crash) for crash in CASES})
    model.reset()


@pytest.mark.failure_mode("F19", "F38")
@pytest.mark.parametrize("crash", CASES, ids=lambda crash: crash.title)
def test_process_lost_at_any_place_ends_as_the_table_says(lost: Lost, crash: Crash) -> None:
    """One line: state, attempts, what the model saw, the reservation, and the dead letter where there is one."""
    found, end = lost.found[crash], crash.end
    earlier = ("failed",) * (MAX_ATTEMPTS - 1) if crash.is_last else ()

    assert found.row.state is end.state, found.shown
    assert found.outcomes == earlier + end.outcomes
    assert found.calls == Calls(requests=end.calls + len(earlier), computations=end.computed)
    assert found.verbs == end.verbs
    assert found.row.error_code == end.error_code
    assert len(found.letters) == int(end.has_letter)


def test_money_is_held_for_reviews_and_for_nothing_else(lost: Lost, witness: Witness) -> None:
    """Invariant 7, over all lines: what was granted is free, held or charged, and only reviews hold."""
    reviews = sum(found.row.state is JobState.NEEDS_REVIEW for found in lost.found.values())

    assert_books_agree(witness.account)
    assert lost.reserved == reviews * TARIFF


def test_cancel_in_review_ends_it(lost: Lost) -> None:
    """Nothing outside can have changed, so a cancel is enough: ended, released, no further call, no further letter."""
    for crash, before in lost.found.items():
        after = lost.after_cancel[crash]
        if before.row.state is JobState.NEEDS_REVIEW:
            assert (after.row.state, after.verbs) == (JobState.CANCELLED, ["release", "reserve"])
            assert (after.calls, after.letters) == (before.calls, before.letters)
        else:
            assert after.row == before.row


def test_recovery_by_visibility_alone_is_bounded(lost: Lost, capsys: pytest.CaptureFixture[str]) -> None:
    """No sweeper ran: messages came back one lease after the last heartbeat, and the next attempts began."""
    again = [found for crash, found in lost.found.items() if crash.title == "none-before_sent"]
    took = (datetime.fromisoformat(again[0].shown["attempts"][1]["started_at"]) - lost.at).total_seconds()
    with capsys.disabled():
        print(f"\n  recovery by visibility alone: {took:.1f} s (lease {LEASE:.0f} s; hidden for {HIDDEN:.0f} s)")

    assert LEASE - 1 <= took <= HIDDEN + LOCAL
