"""The judge sees a violation of each invariant, done to tables and logs themselves, and none where there is none."""

from __future__ import annotations

import asyncio
import re
from dataclasses import replace

import pytest

from tests.simulation.invariants import Checker
from tests.simulation.scenario import Scenario
from tests.simulation.story import Run, play
from tests.simulation.vandal import VIOLATIONS, WHEN_IT_IS_OVER, Violation, row_with
from tests.simulation.world import World


@pytest.mark.parametrize(
    "violation",
    [
        pytest.param(one, id=f"{one.invariant}: {one.name}", marks=pytest.mark.invariant(one.invariant))
        for one in VIOLATIONS
    ],
)
def test_a_violation_is_seen_and_named(violation: Violation) -> None:
    """Whoever breaks a sentence of the design is blamed by that sentence's number."""
    run = play(replace(violation.story, name=violation.name, also=violation.also))

    assert violation.invariant in blamed_in(run), run.violations


def test_nothing_is_seen_where_nothing_is_wrong() -> None:
    """The same story without the deed breaks nothing."""
    assert play(Scenario(name="innocent")).violations == ()


@pytest.mark.parametrize(
    "violation", [one for one in VIOLATIONS if "negative" not in one.name], ids=lambda one: one.name
)
def test_to_look_after_writes_is_to_look_after_everything(
    violation: Violation, monkeypatch: pytest.MonkeyPatch
) -> None:
    """What is found by comparing after writes and at the end is what is found by comparing after every effect."""
    story = replace(violation.story, name=violation.name, also=violation.also)
    quick = blamed_in(play(story))
    monkeypatch.setattr(Checker, "looks_after_reads", True)

    assert quick == blamed_in(play(story))


def test_what_changed_unseen_is_found_at_the_end() -> None:
    """A change that no effect followed any more."""

    async def change(world: World) -> None:
        await asyncio.sleep(WHEN_IT_IS_OVER)
        row_with(charge_micro_usd=1)(world)

    assert 2 in blamed_in(play(Scenario(name="unseen", also=change)))


def blamed_in(run: Run) -> set[int]:
    """The numbers of the invariants that a run is said to have broken."""
    return {int(found[1]) for text in run.violations if (found := re.match(r"invariant (\d+):", text))}
