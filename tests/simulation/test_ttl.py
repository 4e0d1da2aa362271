"""TTL in the simulation: nothing is deleted before its time, then anything may be, and the time is really over."""

from __future__ import annotations

from dataclasses import replace

import pytest

from tests.simulation.catalogue import story_of
from tests.simulation.faults import TTL, Boundary, Fault, Plan
from tests.simulation.invariants import Checker
from tests.simulation.stories_ttl import LIFE
from tests.simulation.story import play

DAY = 86_400.0
AGAIN = story_of("ttl-again")


def is_ttl(boundary: Boundary) -> bool:
    """Whether TTL may strike there."""
    return not set(TTL).isdisjoint(boundary.faults)


@pytest.mark.failure_mode("F70")
def test_ttl_strikes_at_every_call_of_the_tables_once_the_time_is_over() -> None:
    """And at none before: a job that is kept is not deleted. A switch never is."""
    trace = [one for one in play(AGAIN).trace if one.name.startswith("store.") and one.name != "store.switched_off"]
    late = [one for one in trace if one.at >= LIFE]

    assert late, "nothing happens after the time is over"
    assert [one for one in trace if is_ttl(one)] == late


def test_ttl_takes_rows_or_what_lies_beside_them() -> None:
    """Each apart, so that they come in any order; what a later life holds is not touched."""
    first = next(one for one in play(AGAIN).trace if is_ttl(one))
    left: dict[Fault, tuple[int, int]] = {}

    def count(letter: Fault) -> None:
        def note(checker: Checker) -> None:
            store = checker.world.store
            (old,) = {row.job_id for row in store.gone}
            lives = {job_id for _, job_id in store.items}
            left[letter] = (sum(row.job_id != old for row in store.rows.values()), len(lives - {old}))
            assert (old in lives) is (letter is Fault.TTL_ROWS)

        assert play(replace(AGAIN, judge=note), Plan().plus(first.index, letter)).violations == ()

    for letter in TTL:
        count(letter)

    assert left == dict.fromkeys(TTL, (1, 1))


def test_a_review_that_waits_keeps_the_story_from_its_end() -> None:
    """What is due has not come to its end: its time does not pass unseen."""
    crash = next(one for one in play(AGAIN).trace if one.name == "provider.generate")
    parked = replace(AGAIN, capability=story_of("one-call").capability)
    run = play(parked, Plan().plus(crash.index, Fault.CRASH_AFTER))

    assert (run.violations, run.ends) == ((), (("needs_review", 1),))
    assert run.ended_at < DAY
