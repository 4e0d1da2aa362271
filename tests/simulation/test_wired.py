"""The deployed wiring under faults: handlers, settings, adapters and the model's own adapter, over simulated wires."""

from __future__ import annotations

from collections.abc import Callable, Iterator

import pytest

from tests.simulation.explore import Explorer, Report
from tests.simulation.faults import Boundary, Fault
from tests.simulation.scenario import Scenario
from tests.simulation.scheduler import VirtualLoop
from tests.simulation.sdk import real_sdk
from tests.simulation.story import play
from tests.simulation.tables import SimStore
from tests.simulation.taking_turns import name_of
from tests.simulation.wired import STORIES, WiredWorld

type Tables = Callable[[VirtualLoop], SimStore]
type Tally = Callable[[Report], None]


@pytest.fixture(scope="module")
def tables() -> Iterator[Tables]:
    """Tables behind the real SDK."""
    with real_sdk() as made:
        yield made


def is_of_model(boundary: Boundary, _: Fault) -> bool:
    """Whether it strikes between the worker and the model."""
    return boundary.name == "provider.generate"


@pytest.mark.parametrize("story", STORIES, ids=name_of)
def test_a_story_ends_alike_however_its_functions_are_wired(story: Scenario, tables: Tables) -> None:
    """By the functions' own code over the real adapters, or by the simulation over those in memory."""
    real, memory = play(story, tables=tables, deployment=WiredWorld), play(story)

    assert (real.violations, real.ends) == ((), memory.ends)


def test_what_the_network_does_to_a_model_s_request_keeps_every_invariant(tables: Tables, tally: Tally) -> None:
    """Not reached, answered and unheard, refused, frozen: the adapter says of each what recovery needs to know."""
    explorer = Explorer(scenario=STORIES[0], tables=tables, deployment=WiredWorld, only=is_of_model)
    report = explorer.run()

    assert report.scenarios > len(Fault) / 3
    tally(report)


@pytest.mark.thorough
@pytest.mark.parametrize("story", STORIES, ids=name_of)
def test_every_single_fault_under_the_deployed_wiring_keeps_every_invariant(
    story: Scenario, tables: Tables, tally: Tally
) -> None:
    """Under every request of the SDK and of the model's client."""
    tally(Explorer(scenario=story, tables=tables, deployment=WiredWorld).run())
