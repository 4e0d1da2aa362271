"""Which part of the proofs this commit tries in ``make test``: every commit another one, ``make prove`` all the others.

All of them at once take hours on two cores, and ``make test`` is to be over in minutes.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence

import pytest
from _pytest.mark import ParameterSet

from tests.simulation.explore import share_of_commit
from tests.simulation.scenario import Scenario


def name_of(story: Scenario) -> str:
    """What a story is called among the tests."""
    return story.name


def in_turn[T](cases: Sequence[T], turns: int, name: Callable[[T], str]) -> list[ParameterSet]:
    """All cases; those whose turn it is not are marked ``thorough``, each of ``turns`` commits having its own."""
    turn = share_of_commit(turns).number
    return [
        pytest.param(case, id=name(case), marks=() if place % turns == turn else pytest.mark.thorough)
        for place, case in enumerate(cases)
    ]
