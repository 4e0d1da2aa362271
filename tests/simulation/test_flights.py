"""Flights on the real code: what their stories come to without faults. ``test_singles`` and ``test_pairs`` have faults.

Equal requests under different keys are what coalesces.
"""

from __future__ import annotations

from collections import Counter
from dataclasses import replace

import pytest

from tests.simulation.catalogue import story_of
from tests.simulation.model import Script
from tests.simulation.stories_flights import STORIES, TWO
from tests.simulation.story import Run, play

FLOWN = story_of("shared")
A_MINUTE = 60.0  # between two passes of the sweeper


def ends_of(run: Run) -> Counter[tuple[str, int]]:
    """How many jobs ended how, flights included: state and attempts."""
    return Counter(run.ends)


def asked(run: Run) -> int:
    """How many requests reached the provider."""
    return sum(1 for boundary in run.trace if boundary.name == "provider.generate")


@pytest.mark.invariant(13)
@pytest.mark.parametrize("name", [story.name for story in STORIES])
def test_a_run_without_faults_ends_as_its_story_says(name: str) -> None:
    """Quick, for each story: what every single fault is compared with."""
    run = play(story_of(name))

    assert run.violations == ()
    assert {state for state, _ in run.ends} <= {"succeeded", "failed", "cancelled", "needs_review"}


def test_equal_questions_are_asked_once() -> None:
    """Three jobs and their flight succeed in one attempt each, by one request."""
    run = play(FLOWN)

    assert ends_of(run) == {("succeeded", 1): 4}
    assert asked(run) == 1


def test_another_question_has_another_flight() -> None:
    """Two texts are two requests, whoever asks."""
    assert asked(play(story_of("shared-other-question"))) == 2


@pytest.mark.parametrize("seed", range(1, 6))
def test_a_failed_flight_is_shared_and_its_participants_coalesce_again(seed: int) -> None:
    """One busy answer costs each participant an attempt and all of them together one more request, before a sweep."""
    run = play(story_of("shared-busy-once"), seed=seed)

    assert run.violations == ()
    assert ends_of(run) == {("succeeded", 2): 2, ("failed", 1): 1, ("succeeded", 1): 1}
    assert asked(run) == 2
    assert run.ended_at < A_MINUTE


def test_a_flight_in_review_takes_its_participants_with_it() -> None:
    """One maybe is one entry: three rows in review, and a letter of the flight alone."""
    run = play(story_of("shared-reset"))

    assert run.violations == ()
    assert ends_of(run) == {("needs_review", 1): 3}


@pytest.mark.invariant(13)
def test_whoever_stays_is_served_when_the_others_leave() -> None:
    """The one who started the flight is cancelled; the flight and the other end as if nothing had been."""
    assert ends_of(play(story_of("shared-first-leaves"))) == {("cancelled", 1): 1, ("succeeded", 1): 2}


def test_a_full_flight_leaves_the_next_one_on_its_own() -> None:
    """Two share one request, the third makes its own."""
    assert asked(play(story_of("shared-full"))) == 2


def test_a_participant_s_deadline_is_its_own() -> None:
    """It ends without the answer that the others wait for."""
    assert ends_of(play(story_of("shared-hasty"))) == {("succeeded", 1): 2, ("failed", 1): 1}


def test_a_flight_s_deadline_ends_nobody_else() -> None:
    """Whoever waits for it has time of its own, and shares the next one."""
    run = play(replace(story_of("shared-flight-late"), script=(Script.ANSWER,), requests=TWO))

    assert ends_of(run)["succeeded", 2] == 2


@pytest.mark.parametrize("name", [story.name for story in STORIES if story.new_from])
def test_what_is_no_story_of_its_own_yet_is_the_story_of_the_review(name: str) -> None:
    """Up to where it begins to be one, ``shared-reset`` meets the single faults in its place."""
    story = story_of(name)
    old = [str(boundary) for boundary in play(story).trace if boundary.at < story.new_from]

    assert old == [str(boundary) for boundary in play(story_of("shared-reset")).trace]
