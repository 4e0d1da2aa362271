"""Random schedules of faults over twenty operations: no effect twice and none lost, by the target's own log.

``test_singles.py`` and ``test_pairs.py`` have every single fault and the pairs of these stories.
"""

from __future__ import annotations

import random
from collections import Counter
from dataclasses import replace

import pytest

from tests.simulation.faults import AT_CALLS, Fault, Plan
from tests.simulation.scenario import Scenario
from tests.simulation.stories_actions import TARGETS
from tests.simulation.story import play

OPERATIONS = 20
MOST_FAULTS = 6
FEW = 5  # schedules of each kind of target, whenever tests run
PARTS, MANY = 10, 25  # of each kind of target under `make prove`: 1,000 together


def twenty(story: Scenario) -> Scenario:
    """The same target, asked by twenty agents at once."""
    return replace(story, requests=tuple(f"operation-{number}" for number in range(OPERATIONS)), grant=None)


def schedules(story: Scenario, first: int, count: int) -> None:
    """Play drawn schedules; each is named by its seed."""
    crowd = twenty(story)
    boundaries = len(play(crowd).trace)
    for seed in range(first, first + count):
        draw = random.Random(f"{story.name}/{seed}")
        strikes = sorted(draw.sample(range(boundaries), draw.randint(1, MOST_FAULTS)))
        plan = Plan(tuple((at, draw.choice(AT_CALLS)) for at in strikes))
        run = play(crowd, plan, seed)

        assert run.violations == (), f"{story.name} seed={seed} plan={plan}"
        ends = Counter(state for state, _ in run.ends)
        told = ends["succeeded"] + ends["failed"] + ends["needs_review"]
        outages = sum(
            fault is Fault.THROTTLE for _, fault in run.struck
        )  # two outlast the clients' tries: none is let in
        assert told == len(run.ends), f"{story.name} seed={seed} ends={ends}"
        assert told == OPERATIONS or outages > 1, f"{story.name} seed={seed} ends={ends}"


@pytest.mark.parametrize("story", TARGETS, ids=lambda story: story.name)
def test_a_few_random_schedules_over_twenty_operations(story: Scenario) -> None:
    """Crashes, lost answers, freezes, pauses and starvation anywhere."""
    schedules(story, 1, FEW)


@pytest.mark.thorough
@pytest.mark.parametrize("part", range(PARTS))
@pytest.mark.parametrize("story", TARGETS, ids=lambda story: story.name)
def test_a_thousand_random_schedules_over_twenty_operations(story: Scenario, part: int) -> None:
    """0 duplicates, and 0 lost effects where the target can tell.

    What has succeeded has its effect, what has failed has none and says so, and what is parked could not be found out:
    of a target that can tell, only where it let nobody in until the last attempt (``stories_actions.witness``).
    """
    schedules(story, 1_000 + part * MANY, MANY)
