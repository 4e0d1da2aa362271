"""Pairs of faults: all of create, run and settle, and of create and cancel; of others a part, another with each commit.

``make prove ALL=1`` runs every pair of every story.
"""

from __future__ import annotations

import pytest

from tests.simulation.catalogue import CANCELLED, ONE_CALL, PARTLY, TARGETS, WHOLE, all_stories, story_of
from tests.simulation.explore import Explorer, Share, Tally, share_of_commit
from tests.simulation.scenario import Scenario
from tests.simulation.taking_turns import in_turn, name_of

PARTS = 24  # of each story, so that two processes share the work evenly
SHARE = 400  # of the other pairs; more would not fit into the minutes that a test run may take

PARTS_OF_A_TARGET = 96  # a part of all four in each `make test`: smaller ones, so that it stays within minutes
PARTS_OF_TRIPLES, TURNS_OF_TRIPLES = 64, 16  # four parts in each `make test`, so that two processes share them
TURNS = 24  # commits until each part had its turn in `make test`: all of them at once take a quarter of an hour


@pytest.mark.failure_mode("F21")
@pytest.mark.parametrize("part", range(PARTS))
def test_every_pair_of_create_run_and_settle_keeps_every_invariant(part: int, tally: Tally) -> None:
    """A second fault at every boundary that the run with the first one comes by."""
    assert tally(Explorer(scenario=story_of(ONE_CALL)).pairs(part=Share(part, PARTS))) == []


def test_every_pair_of_create_and_cancel_keeps_every_invariant(tally: Tally) -> None:
    """The wish comes before any worker does."""
    assert tally(Explorer(scenario=story_of(CANCELLED)).pairs()) == []


@pytest.mark.parametrize("part", in_turn(range(PARTS_OF_TRIPLES), TURNS_OF_TRIPLES, str))
def test_every_triple_of_create_and_cancel_keeps_every_invariant(part: int, tally: Tally) -> None:
    """A third fault behind every pair, of the shortest story; some parts of them with each commit."""
    assert tally(Explorer(scenario=story_of(CANCELLED)).exactly(3, Share(part, PARTS_OF_TRIPLES))) == []


@pytest.mark.parametrize("part", in_turn(range(PARTS), 6, str))
@pytest.mark.parametrize("name", PARTLY)
def test_every_pair_of_a_race_and_of_a_loss_keeps_every_invariant(name: str, part: int, tally: Tally) -> None:
    """One part in six with each commit: three clients of one key, another body under it; an answer that is lost."""
    assert tally(Explorer(scenario=story_of(name)).pairs(part=Share(part, PARTS))) == []


@pytest.mark.parametrize("part", in_turn(range(PARTS_OF_A_TARGET), PARTS_OF_A_TARGET, str))
@pytest.mark.parametrize("name", TARGETS)
def test_every_pair_of_an_action_keeps_every_invariant(name: str, part: int, tally: Tally) -> None:
    """For each kind of target: no effect twice, none lost where the target can tell, whatever two faults come."""
    assert tally(Explorer(scenario=story_of(name)).pairs(part=Share(part, PARTS_OF_A_TARGET))) == []


OTHERS = [one for one in all_stories() if one.name not in WHOLE + PARTLY + TARGETS]


@pytest.mark.parametrize("story", in_turn(OTHERS, TURNS, name_of))
def test_a_share_of_the_other_pairs_keeps_every_invariant(story: Scenario, tally: Tally) -> None:
    """Which share is chosen by the commit, so that every commit tries others; ``make prove ALL=1`` tries all.

    Of a long story it is a smaller one: pairs grow with the square of its length.
    """
    assert tally(Explorer(scenario=story).drawn_pairs(share_of_commit(SHARE))) == []
