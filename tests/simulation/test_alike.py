"""What is not tried since it is alike to something else comes to the same: both are played, and compared."""

from __future__ import annotations

import pytest

from tests.simulation.alike import AFTER, UNFELT
from tests.simulation.catalogue import story_of
from tests.simulation.faults import Boundary, Fault, Plan, faults_at
from tests.simulation.scenario import Scenario
from tests.simulation.story import Run, play

type Came = tuple[tuple[tuple[str, int], ...], tuple[str, ...], list[tuple[str, str]]]
type Pair = tuple[Boundary, Boundary]

STORIES = ("one-call", "two-calls", "busy-once", "accept", "shared", "later-cancel")
SET = (Fault.CLOCK_AHEAD, Fault.CLOCK_BEHIND)
ASLEEP = {Fault.FREEZE_BEFORE: Fault.FREEZE_AFTER, Fault.PAUSE_BEFORE: Fault.PAUSE_AFTER}


def later_calls(run: Run) -> list[Pair]:
    """Each call of a process that had made one before, with that one."""
    last: dict[str, Boundary] = {}
    found: list[Pair] = []
    for at in run.trace:
        if at.process in last and at.process != "sqs":
            found.append((last[at.process], at))
        last[at.process] = at
    return found


def came_to(story: Scenario, at: Boundary, fault: Fault, *, without: Boundary) -> Came:
    """Ends, violations and calls of a run with one fault, but for one call that only the other run makes."""
    run = play(story, Plan().plus(at.index, fault))
    calls = [(one.process, one.name) for one in run.trace]
    missing = (without.process, without.name)
    if missing in calls[without.index :]:
        del calls[calls.index(missing, without.index)]
    return run.ends, run.violations, calls


@pytest.mark.parametrize("name", STORIES)
def test_a_clock_that_nobody_has_looked_at_might_as_well_have_been_set_before(name: str) -> None:
    """The very same run, to the last call and its time."""
    story = story_of(name)
    pairs = [(before, at) for before, at in later_calls(play(story)) if at.alike.issuperset(SET)]
    for before, at in pairs:
        for fault in SET:
            now, then = (play(story, Plan().plus(one.index, fault)) for one in (at, before))

            assert list(map(str, now.trace)) == list(map(str, then.trace)), (at, fault)
            assert (now.ends, now.violations) == (then.ends, then.violations)
    assert pairs


@pytest.mark.parametrize("name", STORIES)
def test_who_dies_before_a_call_has_died_after_the_last_one(name: str) -> None:
    """Where nothing has happened since: a moment later the same calls follow, and the same ends."""
    story = story_of(name)
    pairs = [(before, at) for before, at in later_calls(play(story)) if Fault.CRASH_BEFORE in at.alike]
    for before, at in pairs:
        dead = Fault.CRASH_AFTER if Fault.CRASH_AFTER in faults_at(before.name) else Fault.CRASH_BEFORE
        now, then = came_to(story, at, Fault.CRASH_BEFORE, without=at), came_to(story, before, dead, without=at)

        assert now == then, (before, at)
    assert pairs


@pytest.mark.parametrize("name", [name for name in STORIES if name != "shared"])  # whose creates are under way at once
def test_who_falls_asleep_before_a_call_has_fallen_asleep_after_the_last_one(name: str) -> None:
    """Alone, and without a look at the clock between the two: the same calls follow, and the same ends."""
    story = story_of(name)
    pairs = [(before, at) for before, at in later_calls(play(story)) if at.alike.issuperset(ASLEEP)]
    for before, at in pairs:
        for now, then in ASLEEP.items():
            assert came_to(story, at, now, without=at) == came_to(story, before, then, without=at), (before, at)
    assert pairs


@pytest.mark.parametrize(("name", "at"), [("one-call", 1), ("one-call", 9), ("busy-once", 10), ("cancel-queued", 2)])
def test_a_call_that_is_refused_anyhow_suffers_nothing_from_what_comes_after_it(name: str, at: int) -> None:
    """In a burst of throttling, at each call that it refuses: the run is the one of the burst alone."""
    story, burst = story_of(name), Plan().plus(at, Fault.THROTTLE)
    throttled = play(story, burst)
    refused = [one for one in throttled.trace[at + 1 :] if one.alike.issuperset(UNFELT)]
    for one in refused:
        for fault in UNFELT.intersection(faults_at(one.name)):
            run = play(story, burst.plus(one.index, fault))

            assert list(map(str, run.trace)) == list(map(str, throttled.trace)), (one, fault)
            assert (run.ends, run.violations) == (throttled.ends, throttled.violations)
    assert refused


@pytest.mark.parametrize("name", STORIES)
def test_a_read_before_a_sleep_is_one_after_it_if_both_are_told_the_same(name: str) -> None:
    """The very same run, to the last call and its time; some sleeps do come between a write and its reader."""
    story = story_of(name)
    slept = [(at, fault) for at in play(story).trace for fault in AFTER if fault in at.faults]
    stands = 0
    for at, fault in slept:
        run = play(story, Plan().plus(at.index, fault))
        if run.stands_for is not None:
            other = play(story, Plan().plus(at.index, run.stands_for))
            stands += 1

            assert list(map(str, run.trace)) == list(map(str, other.trace)), (at, fault)
            assert (run.ends, run.violations) == (other.ends, other.violations)
    assert 0 < stands < len(slept)


def test_who_dies_at_a_call_that_is_refused_is_dead() -> None:
    """A burst keeps nobody from dying, or from falling asleep, before the call is made."""
    story, burst = story_of("one-call"), Plan().plus(1, Fault.THROTTLE)
    refused = next(one for one in play(story, burst).trace[2:] if Fault.CRASH_AFTER in one.alike)
    run = play(story, burst.plus(refused.index, Fault.CRASH_BEFORE))

    assert [one.index for one in run.trace if one.process == refused.process][-1] == refused.index
    assert run.violations == ()


def test_what_a_fault_is_alike_to_has_not_struck_already() -> None:
    """Behind a call that was struck, nothing is left out for being like what might have struck there."""
    story = story_of("one-call")
    first = next(at for before, at in later_calls(play(story)) if Fault.CRASH_BEFORE in at.alike)
    run = play(story, Plan().plus(first.index - 1, Fault.CLOCK_AHEAD))

    assert run.trace[first.index].name == first.name
    assert Fault.CRASH_BEFORE not in run.trace[first.index].alike
