"""The adapters with the real boto3 and its repeats: every fault under every request, and drawn pairs of them."""

from __future__ import annotations

from collections.abc import Callable, Iterator

import pytest

from tests.simulation.catalogue import story_of
from tests.simulation.explore import Explorer, Tally
from tests.simulation.faults import UNDER_SDK, Boundary, Fault
from tests.simulation.scheduler import VirtualLoop
from tests.simulation.sdk import real_sdk
from tests.simulation.story import play
from tests.simulation.tables import SimStore

type Tables = Callable[[VirtualLoop], SimStore]


@pytest.fixture(scope="module")
def tables() -> Iterator[Tables]:
    """Tables behind the real SDK."""
    with real_sdk() as made:
        yield made


def test_the_same_story_ends_alike_on_both_stores(tables: Tables) -> None:
    """Without faults the real adapters come to the same end, and make requests at the same places."""
    real, memory = play(story_of("one-call"), tables=tables), play(story_of("one-call"))

    assert (real.violations, real.ends) == ((), memory.ends)
    assert {at.name for at in real.trace} >= {"sdk.transact_write_items", "sdk.update_item", "sdk.put_item"}


@pytest.mark.parametrize("fault", UNDER_SDK)
@pytest.mark.parametrize(
    "name", ["one-call", *(pytest.param(name, marks=pytest.mark.thorough) for name in ("cancel-queued", "busy-once"))]
)
def test_every_single_fault_under_the_sdk_keeps_every_invariant(
    name: str, fault: Fault, tables: Tables, tally: Tally
) -> None:
    """An answer lost once or for good, a reset, a throttle: the SDK repeats, and the code knows its own writes."""
    report = Explorer(scenario=story_of(name), tables=tables, only=lambda _, tried: tried is fault).run()
    print(f"{name}, {fault}: {report}")

    assert tally(report) == []


@pytest.mark.thorough
@pytest.mark.parametrize("name", ["one-call", "exhausted"])
def test_drawn_pairs_under_the_sdk_keep_every_invariant(name: str, tables: Tables, tally: Tally) -> None:
    """A second request suffers too."""
    assert tally(Explorer(scenario=story_of(name), tables=tables, only=_is_under_sdk).sample(depth=2, tries=12)) == []


def _is_under_sdk(boundary: Boundary, fault: Fault) -> bool:
    return boundary.name.startswith("sdk.")
