"""A kind with five steps of every sort, whatever dies between any two of them; and one whose code changes."""

from __future__ import annotations

import pytest

from tests.simulation.explore import Explorer
from tests.simulation.faults import Boundary, Fault
from tests.simulation.scenario import Scenario
from tests.simulation.stories_steps import STORIES
from tests.simulation.story import play

BY_NAME = {story.name: story for story in STORIES}
DEADLY = frozenset({Fault.CRASH_BEFORE, Fault.CRASH_AFTER})


def test_five_steps_take_one_attempt_and_three_calls() -> None:
    """Without a fault; the judge counts the calls and looks at which step is whose."""
    run = play(BY_NAME["steps"])

    assert (run.violations, run.ends) == ((), (("succeeded", 1),))


@pytest.mark.parametrize("name", ["steps", "steps-dedupe"])
def test_five_steps_killed_between_any_two_of_them_buy_and_make_nothing_again(name: str) -> None:
    """A crash between any two port calls: what was accepted is neither bought nor made a second time."""

    def is_deadly(boundary: Boundary, fault: Fault) -> bool:
        return fault in DEADLY

    report = Explorer(scenario=BY_NAME[name], only=is_deadly).run()

    assert report.failed == []
    assert report.scenarios > 25


@pytest.mark.parametrize("name", ["steps-changed-given", "steps-changed-prompt", "steps-changed-sort"])
def test_step_that_a_deploy_changed_ends_its_job_for_good(name: str) -> None:
    """The judge knows of the deploy: no way to succeed after it, and none is another step's answer."""
    story: Scenario = BY_NAME[name]
    run = play(story)

    assert (run.violations, run.ends) == ((), (("failed", 2),))
