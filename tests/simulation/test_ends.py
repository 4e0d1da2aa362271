"""How jobs end although their code changes, dies or is gone; ``test_singles.py`` has every fault of these stories."""

from __future__ import annotations

import pytest

from tests.simulation.scenario import Scenario
from tests.simulation.stories_ends import STORIES
from tests.simulation.story import play

ENDS = {
    "fewer-attempts": ("failed", 1),  # the deploy allows no second one
    "review-expires": ("failed", 1),
    "deadly-code": ("needs_review", 3),  # an answer was paid for that no code may read: a person decides
    "unknown-kind": ("succeeded", 1),  # waiting for newer code takes no attempt
    "orphan": ("failed", 0),
}


@pytest.mark.parametrize("story", STORIES, ids=lambda story: story.name)
def test_a_job_ends_whatever_becomes_of_its_code(story: Scenario) -> None:
    """Without a fault each ends in its one way, and nothing is paid twice."""
    run = play(story)

    assert (run.violations, run.struck) == ((), ())
    assert run.ends == (ENDS[story.name],)
