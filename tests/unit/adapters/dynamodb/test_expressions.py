"""How writes are spelled: every condition, no bracket too many, the same text for the same write."""

from __future__ import annotations

import re

import pytest

from onceward.adapters.dynamodb.changes import update_arguments
from onceward.adapters.dynamodb.conditions import SPELLINGS, RowTerms, all_hold
from onceward.domain.change import Counts, Fields, RowChange
from onceward.domain.conditions import ALL_CONDITIONS, NoCancel
from onceward.domain.states import JobState
from tests.contract.job_store.condition_cases import CASES, Case
from tests.support.builders import JOB_ID, NOW, TENANT

MOST_BYTES = 4096  # DynamoDB's limit of one expression


def test_every_condition_has_its_spelling() -> None:
    """No condition can reach a store that cannot say it."""
    assert set(ALL_CONDITIONS) == set(SPELLINGS)


def redundant_brackets(expression: str) -> bool:
    """Whether a pair of brackets holds nothing but another pair; AWS refuses that, the emulators do not."""
    opened: list[int] = []
    pairs: set[tuple[int, int]] = set()
    for place, character in enumerate(expression):
        if character == "(":
            opened.append(place)
        elif character == ")":
            pairs.add((opened.pop(), place))
    return any((start + 1, end - 1) in pairs for start, end in pairs)


@pytest.mark.parametrize("case", CASES, ids=lambda case: case.name)
def test_no_bracket_is_redundant(case: Case) -> None:
    """AWS alone says of those: the expression has redundant parentheses."""
    expression = all_hold((case.condition, NoCancel()), RowTerms())

    assert not redundant_brackets(expression)


def test_redundant_bracket_would_be_found() -> None:
    """The judge above is not blind."""
    assert redundant_brackets("a AND ((b OR c))")
    assert not redundant_brackets("a AND ((b OR c) AND (d))")


@pytest.mark.parametrize("case", CASES, ids=lambda case: case.name)
def test_all_that_is_spelled_is_used_and_given(case: Case) -> None:
    """A placeholder too many, or one that is missing, is an error on AWS."""
    terms = RowTerms()
    expression = all_hold((case.condition,), terms)
    used = set(re.findall(r"[#:]\w+", expression))

    assert used == set(terms.names) | set(terms.values)
    assert len(expression.encode()) < MOST_BYTES


@pytest.mark.failure_mode("F8")
def test_same_change_is_spelled_alike() -> None:
    """A repeated transaction is known by its token only if its contents are equal."""
    change = RowChange(when=(NoCancel(),), set=Fields(state=JobState.WAITING, wake_at=NOW, due=NOW), add=Counts(seq=1))

    assert update_arguments(TENANT, JOB_ID, change) == update_arguments(TENANT, JOB_ID, change)


def test_change_without_effect_on_an_attribute_names_it_once() -> None:
    """Set, removed and counted attributes never overlap in one expression."""
    change = RowChange(when=(), set=Fields(attempts=3, lost=0, due=None), add=Counts(attempts=1))

    assert update_arguments(TENANT, JOB_ID, change)["UpdateExpression"] == "SET #l = :0 REMOVE #due ADD #a :1"
