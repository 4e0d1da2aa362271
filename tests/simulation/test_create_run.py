"""What every run of the simulation rests on: it replays exactly, counts its boundaries, and its faults strike."""

from __future__ import annotations

from tests.simulation.catalogue import story_of
from tests.simulation.faults import Fault, Plan, faults_at
from tests.simulation.story import play


def test_a_run_replays_exactly() -> None:
    """The same story, plan and seed cross the same boundaries at the same virtual instants."""
    plan = Plan.parse("8:freeze_after,20:crash_before")

    assert play(story_of("slow-lookup"), plan, seed=7) == play(story_of("slow-lookup"), plan, seed=7)


def test_boundaries_are_counted_from_the_code() -> None:
    """A story that makes one more paid call has more boundaries; nobody wrote their number down."""
    one, two = play(story_of("one-call-lookup")), play(story_of("two-calls-lookup"))

    asked = [sum(1 for boundary in run.trace if boundary.name == "provider.generate") for run in (one, two)]
    assert asked == [1, 2]
    assert len(two.trace) > len(one.trace)


def test_every_planned_fault_strikes() -> None:
    """A plan whose fault never happens would prove nothing."""
    story = story_of("one-call")
    for boundary in play(story).trace:
        for fault in boundary.faults:
            run = play(story, Plan(((boundary.index, fault),)))
            assert [(at.name, what) for at, what in run.struck] == [(boundary.name, fault)]


def test_a_run_without_faults_costs_one_attempt_and_one_request() -> None:
    """What the judge would blame otherwise (invariants 4 and 10)."""
    run = play(story_of("one-call"))

    assert run.violations == ()
    assert run.ended_at < 5.0
    assert not run.struck
    assert Fault.FREEZE_AFTER in faults_at("store.update_job")
