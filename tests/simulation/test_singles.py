"""Every single fault at every boundary of every story finds nothing; a kept failure stays mended.

A failing run prints all that it takes to play it again, and is kept as a file in ``regressions/``.
"""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.simulation.catalogue import all_stories, story_of
from tests.simulation.explore import Explorer, Tally, explore
from tests.simulation.failures import KEPT, replay
from tests.simulation.scenario import Scenario
from tests.simulation.taking_turns import in_turn, name_of

TURNS = 8  # commits until each story had its turn in `make test` at more than one fault


@pytest.mark.failure_mode("F19", "F20", "F78")
@pytest.mark.parametrize("story", all_stories(), ids=name_of)
def test_every_single_fault_keeps_every_invariant(story: Scenario, tally: Tally) -> None:
    """Each letter of the fault alphabet at each boundary, all invariants checked after each effect."""
    report = explore(story)
    print(f"{story.name}: {report}")

    assert tally(report) == []


@pytest.mark.failure_mode("F33")
@pytest.mark.parametrize("seed", range(1, 4))
@pytest.mark.parametrize("name", ["batch-over-budget", "at-once-busy-retry"])
def test_other_interleavings_and_clocks_keep_every_invariant(name: str, seed: int, tally: Tally) -> None:
    """Another seed draws other clock skews and another order among tasks that are ready at once."""
    assert tally(explore(story_of(name), seed=seed)) == []


@pytest.mark.parametrize("story", in_turn(all_stories(), TURNS, name_of))
def test_drawn_runs_of_up_to_six_faults_keep_every_invariant(story: Scenario, tally: Tally) -> None:
    """Each further fault strikes where the run with the ones before it has got to, on a drawn interleaving."""
    assert tally(Explorer(scenario=story, seed=11).sample(depth=6, tries=3)) == []


@pytest.mark.parametrize("path", sorted(KEPT.glob("*.txt")), ids=lambda path: path.stem)
def test_a_kept_failure_stays_mended(path: Path) -> None:
    """What once broke an invariant, shrunk to the fewest faults, breaks none any more."""
    assert replay(path).violations == ()
