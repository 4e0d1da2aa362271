"""Every guard of the code is registered by name, and each, switched off, is missed by something that runs here.

The list of guards comes from the syntax tree (``guards.py``); ``guards.tsv`` says for each what misses it: the cases
of the conditions, a unit test, or a story with a fault. A new guard has to be registered: add its line, for which
``python -m tests.simulation.without '<name>'`` looks for a test.
"""

from __future__ import annotations

import subprocess
import sys

import pytest

from tests.contract.job_store.condition_cases import CASES, Case
from tests.simulation.catalogue import story_of
from tests.simulation.explore import Explorer
from tests.simulation.faults import Plan
from tests.simulation.guards import Guard, all_guards, switched_off
from tests.simulation.story import play
from tests.simulation.without import ROOT, registry

GUARDS = all_guards()
HELD = registry()


def held_by(kind: str) -> list[Guard]:
    """The guards that something of this kind holds."""
    return [guard for guard in GUARDS if HELD.get(guard.name, "").partition(" ")[0] == kind]


def test_every_guard_of_the_code_is_registered() -> None:
    """Neither a guard without a line, nor a line without a guard."""
    assert [guard.name for guard in GUARDS if guard.name not in HELD] == []
    assert sorted(HELD.keys() - {guard.name for guard in GUARDS}) == []


def test_no_guard_waits_for_a_test() -> None:
    """A guard that nothing misses is found something that does, or goes."""
    assert sorted(held_by("pending"), key=lambda guard: guard.name) == []
    assert {line.partition(" ")[0] for line in HELD.values()} == {"cases", "story", "test"}


@pytest.mark.parametrize("guard", held_by("cases"), ids=lambda guard: guard.name)
def test_a_clause_is_missed_by_the_conditions_cases(guard: Guard) -> None:
    """Without it a condition is true of a row that its cases, told to every store, say it is not true of."""
    with switched_off(guard):
        assert not all(map(_is_as_told, CASES))


@pytest.mark.parametrize("guard", held_by("story"), ids=lambda guard: guard.name)
def test_a_guard_is_missed_by_its_story(guard: Guard) -> None:
    """The recorded fault finds it; if the code has moved on, one of the story's single faults does."""
    _, name, plan = HELD[guard.name].split(" ")
    with switched_off(guard):
        run = play(story_of(name), Plan.parse(plan))
        assert run.violations or Explorer(scenario=story_of(name), stop_at=1).run().failed


@pytest.mark.thorough
def test_guards_are_missed_by_their_unit_tests() -> None:
    """In a process of its own: there each test runs with its guard switched off, and must fail."""
    done = subprocess.run(
        [sys.executable, "-m", "tests.simulation.without"],
        cwd=ROOT,
        env={"PYTHONPATH": f"{ROOT}/functions:{ROOT}", "PATH": "/usr/bin:/bin"},
        capture_output=True,
        text=True,
        check=False,
    )

    assert done.returncode == 0, done.stdout + done.stderr


def _is_as_told(case: Case) -> bool:
    try:
        return case.condition.holds(case.job) == case.holds
    except (TypeError, AttributeError):
        return False
