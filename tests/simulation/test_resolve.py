"""Reviews resolved on the real code; ``test_singles.py`` has every fault of them."""

from __future__ import annotations

import pytest

from onceward.domain.policy import OnUnknown
from tests.simulation.model import Script
from tests.simulation.scenario import Scenario
from tests.simulation.stories_resolve import STORIES
from tests.simulation.story import play


@pytest.mark.parametrize("story", STORIES, ids=lambda story: story.name)
def test_a_verdict_without_faults_breaks_nothing(story: Scenario) -> None:
    """What a plan's faults would be blamed for otherwise."""
    run = play(story)

    assert (run.violations, run.struck) == ((), ())


ENDS = {"accept": "succeeded", "fail": "failed", "retry": "succeeded"}


@pytest.mark.parametrize("story", STORIES[:3], ids=lambda story: story.name)
def test_a_verdict_ends_the_review(story: Scenario) -> None:
    """The story is about what it says: without a fault the review comes, and the verdict decides."""
    assert [state for state, _ in play(story).ends] == [ENDS[story.name]]


def test_policy_retry_needs_no_person() -> None:
    """The counterpart: where policy accepts a second purchase, there is nothing to resolve."""
    run = play(
        Scenario(name="no-review", script=(Script.RESET,), on_unknown=OnUnknown.RETRY, verdicts=((("fail", 5.0),),))
    )

    assert (run.violations, [state for state, _ in run.ends]) == ((), ["succeeded"])
