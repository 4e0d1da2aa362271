"""Cancels on the real code against the writes they race with, in many interleavings.

One winner: a cancel that is recorded before acceptance ends the job, one that comes later changes nothing. The judge
holds books, calls and rows to it after every write.
"""

from __future__ import annotations

from collections import Counter
from dataclasses import replace

import pytest

from tests.simulation.model import Script
from tests.simulation.scenario import Scenario
from tests.simulation.story import Run, play

pytestmark = pytest.mark.thorough

INTERLEAVINGS = 200

BUSY_ONCE = Scenario(name="cancel-retry", script=(Script.BUSY,))
# Seconds after the 202 between which a cancel meets the rival write, some ten port calls on either side of it; and how
# the job ends when the cancel came first, and when the rival did: state and attempts.
RIVALS = {
    "claim": (Scenario(name="cancel-claim"), (0.0, 0.08), {("cancelled", 0), ("cancelled", 1)}),
    "settle": (Scenario(name="cancel-settle"), (4.0, 4.12), {("cancelled", 1), ("succeeded", 1)}),
    "retry": (BUSY_ONCE, (0.0, 0.12), {("cancelled", 0), ("cancelled", 1)}),
    "start of the retry": (BUSY_ONCE, (3.0, 4.6), {("cancelled", 1), ("cancelled", 2)}),
}


def interleaved(story: Scenario, first: float, last: float) -> list[Run]:
    """The story so often, each with another instant of the cancel and another order among what is ready at once."""
    step = (last - first) / INTERLEAVINGS
    times = [first + number * step for number in range(INTERLEAVINGS)]
    return [play(replace(story, cancel_at=at), seed=number) for number, at in enumerate(times, 1)]


@pytest.mark.failure_mode("F63", "F64")
@pytest.mark.parametrize("rival", RIVALS)
def test_cancel_against_a_rival_write_has_one_winner(rival: str) -> None:
    """200 interleavings each: no invariant breaks, and both sides win some of them, so that the race is real."""
    story, (first, last), expected = RIVALS[rival]
    runs = interleaved(story, first, last)
    ends = Counter(end for run in runs for end in run.ends)
    print(f"cancel against {rival}: {dict(ends)}")

    assert [run.violations for run in runs if run.violations] == []
    assert set(ends) == expected
