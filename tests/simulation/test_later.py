"""Answers that come later, on the real code: one attempt, one purchase of each step, however long it takes."""

from __future__ import annotations

import pytest

from tests.simulation.scenario import Scenario
from tests.simulation.stories_later import HOURS, LONG_WAIT, STORIES
from tests.simulation.story import play

WITHOUT_A_FAULT = [story for story in STORIES if not story.script and story.cancel_at is None]


@pytest.mark.parametrize("story", WITHOUT_A_FAULT, ids=lambda story: story.name)
def test_without_a_fault_one_attempt_does_it(story: Scenario) -> None:
    """Polls are no attempts, and none of the steps is bought twice."""
    run = play(story)

    assert (run.violations, run.ends) == ((), (("succeeded", 1),))


@pytest.mark.parametrize("name", ["later-gone", "later-unlisted"])
def test_reference_that_nobody_keeps_is_left_to_a_person(name: str) -> None:
    """It is a maybe: nothing is sent again, also where a list without it would say that nothing was bought."""
    run = play(next(one for one in STORIES if one.name == name))

    assert (run.violations, run.ends) == ((), (("needs_review", 1),))


@pytest.mark.parametrize(("name", "attempts"), [("later-found", 1), ("later-found-at-once", 2)])
def test_submission_whose_answer_was_lost_is_found_and_bought_once(name: str, attempts: int) -> None:
    """It is polled from then on; beside a step that was answered meanwhile, the code goes on in a new attempt."""
    run = play(next(one for one in STORIES if one.name == name))

    assert (run.violations, run.ends) == ((), (("succeeded", attempts),))


@pytest.mark.failure_mode("F53")
def test_thirteen_hours_of_waiting_cost_one_attempt() -> None:
    """By virtual time: longer than any Lambda and than a message can wait; the sweeper wakes the polls."""
    run = play(LONG_WAIT)

    assert (run.violations, run.ends) == ((), (("succeeded", 1),))
    assert run.ended_at > HOURS


def test_cancel_while_the_provider_works_ends_the_job_at_once() -> None:
    """Nobody waits for the work any more."""
    story = next(one for one in STORIES if one.cancel_at is not None)
    run = play(story)

    assert (run.violations, run.ends) == ((), (("cancelled", 1),))
