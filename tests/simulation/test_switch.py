"""The kill switch on the real code: nothing is sent while it is off, no attempt is burnt by it, and all ends well."""

from __future__ import annotations

import pytest

from tests.simulation.scenario import Scenario
from tests.simulation.stories_switch import STORIES
from tests.simulation.story import play


@pytest.mark.parametrize("story", STORIES, ids=lambda story: story.name)
def test_switched_off_for_a_while_costs_no_attempt(story: Scenario) -> None:
    """One attempt and one request for each step, as if nobody had touched the switch; only time has passed."""
    run = play(story)

    assert (run.violations, run.ends) == ((), (("succeeded", 1),))
