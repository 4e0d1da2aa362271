"""Each planted bug is found by single faults, is blamed on an invariant it breaks, and replays exactly."""

from __future__ import annotations

from dataclasses import replace
from datetime import timedelta

import pytest

from onceward.domain.conditions import HeldBy, IsStartable, SeenLease
from onceward.domain.policy import Capability
from onceward.domain.transaction import AddEntry, ChangeAccount
from tests.simulation import planted
from tests.simulation.bug import Bug
from tests.simulation.explore import Explorer, Report
from tests.simulation.faults import Boundary, Fault
from tests.simulation.model import DEDUPES, LOOKUP, Script
from tests.simulation.scenario import TIMING, Scenario
from tests.simulation.story import play

ONE = Scenario(name="one call")
SLOW = Scenario(name="a call longer than the lease", call_seconds=100.0)
VERY_SLOW = Scenario(name="a call of many leases", call_seconds=200.0)
LOOKED_UP = Scenario(name="reset, answers lookups", script=(Script.RESET,), capability=LOOKUP)
SLOW_LOOKED_UP = Scenario(name="slow, answers lookups", call_seconds=100.0, capability=LOOKUP)
EXHAUSTED = Scenario(name="exhausted", script=(Script.BUSY,) * 3)
EARLY = Capability(lookup_lag=timedelta(hours=-1))  # "not found" is conclusive before anything can be found

# The bug, where it shows, and the invariants of which at least one must be blamed.
BUGS: tuple[tuple[Bug, Scenario, set[int]], ...] = (
    (Bug(name="a stale run may write", store=planted.without(HeldBy)), ONE, {1, 2, 3, 4}),
    (Bug(name="a start claims whatever is there", store=planted.without(IsStartable)), ONE, {2, 3}),
    (Bug(name="a claim does not count", store=planted.not_counting("attempts")), ONE, {4}),
    (Bug(name="a transition is not counted", store=planted.not_counting("seq")), ONE, {2}),
    (Bug(name="nothing moves due", store=planted.not_setting("due")), EXHAUSTED, {1}),
    (Bug(name="waiting and not due", store=planted.never_due), EXHAUSTED, {14}),
    (Bug(name="a heartbeat does not prolong", store=planted.deaf_to_beats), VERY_SLOW, {4}),
    (Bug(name="nobody recognises an own write", store=planted.forgetting_whose), ONE, {1, 2, 4}),
    (Bug(name="a late answer overwrites", store=planted.overwriting), LOOKED_UP, {2}),
    (Bug(name="an intent is not durable", store=planted.losing_journals), ONE, {5}),
    (Bug(name="the account does not follow", store=planted.leaving_out(ChangeAccount)), ONE, {7}),
    (Bug(name="no entry is written", store=planted.leaving_out(AddEntry)), ONE, {7}),
    (Bug(name="dead letters are lost", queue=planted.losing_letters), EXHAUSTED, {14}),
    (Bug(name="wake-ups are lost", queue=planted.losing_wakeups), ONE, {1}),
    (Bug(name="no send window", timing=replace(TIMING, send_window=timedelta(hours=1))), ONE, {16}),
    (Bug(name="neither window nor margin", timing=planted.NoMargin(send_window=timedelta(hours=1))), ONE, {16}),
    (Bug(name="not found is believed at once", capability=EARLY), SLOW_LOOKED_UP, {6}),
    (Bug(name="a target that does not dedupe is trusted", capability=DEDUPES), ONE, {6}),
)


@pytest.mark.parametrize(("bug", "scenario", "invariants"), BUGS, ids=[bug.name for bug, _, _ in BUGS])
def test_a_planted_bug_is_found_and_replays(bug: Bug, scenario: Scenario, invariants: set[int]) -> None:
    """Single faults find it; the first failing run, played again, fails alike."""
    report = Explorer(scenario=scenario, bug=bug, stop_at=1).run()

    _judge(bug, scenario, report, invariants)


def test_a_takeover_that_forgets_the_lease_it_saw_is_found_by_two_freezes() -> None:
    """It takes two: the holder sleeps past its lease and wakes, while the thief sleeps between look and write."""
    bug = Bug(name="a live lease may be taken over", store=planted.without(SeenLease))
    report = Explorer(scenario=SLOW, bug=bug, only=_is_freeze_at_a_row, stop_at=1).run(depth=2)

    _judge(bug, SLOW, report, {2, 3})


def _is_freeze_at_a_row(boundary: Boundary, fault: Fault) -> bool:
    return boundary.name == "store.update_job" and fault in (Fault.FREEZE_BEFORE, Fault.FREEZE_AFTER)


def _judge(bug: Bug, scenario: Scenario, report: Report, invariants: set[int]) -> None:
    """It was found, by an invariant that it breaks, and the failing run fails alike when it is played again."""
    assert report.failed, f"{bug.name} was not found: {report}"
    found = report.failed[0]
    print(f"{bug.name}: found after {report.scenarios} scenarios\n{found}")
    blamed = {int(text.split(":")[0].removeprefix("invariant ")) for text in found.violations if text[0] == "i"}
    assert blamed & invariants, found.violations
    again = play(scenario, found.plan, found.seed, bug)
    assert found.violations == again.violations
