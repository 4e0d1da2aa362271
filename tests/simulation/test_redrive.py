"""Redrives on the real code; ``test_singles.py`` has every fault of them."""

from __future__ import annotations

import pytest

from tests.simulation.scenario import Scenario
from tests.simulation.stories_redrive import STORIES
from tests.simulation.story import play


@pytest.mark.parametrize("story", STORIES, ids=lambda story: story.name)
def test_a_redrive_without_faults_breaks_nothing(story: Scenario) -> None:
    """What a plan's faults would be blamed for otherwise."""
    run = play(story)

    assert (run.violations, run.struck) == ((), ())
