"""The quick copies of the simulation are the ones that ``dataclasses`` makes."""

from __future__ import annotations

import dataclasses
import gc
from typing import Any

import pytest

from onceward.domain.job import Job
from onceward.domain.ledger import Account
from tests.simulation import quick

CLASSES = sorted(
    (
        one
        for one in gc.get_objects()
        if isinstance(one, type)
        and dataclasses.is_dataclass(one)
        and one.__module__.startswith("onceward.")
        and quick._copy_of(one) is not None
    ),
    key=lambda one: (one.__module__, one.__qualname__),
)


def blank(cls: type) -> Any:
    """An instance whose fields hold objects of their own."""
    made: Any = object.__new__(cls)
    for one in dataclasses.fields(cls):
        object.__setattr__(made, one.name, object())
    return made


@pytest.mark.parametrize("cls", CLASSES, ids=lambda one: one.__qualname__)
def test_a_quick_copy_is_the_slow_one(cls: type) -> None:
    """Every class that goes the quick way: the same type, the very same values, one of them changed."""
    old = blank(cls)
    for one in dataclasses.fields(cls):
        new = object()
        quickly, slowly = quick.replace(old, **{one.name: new}), quick._slowly(old, **{one.name: new})
        values = [[getattr(copy, each.name) for each in dataclasses.fields(cls)] for copy in (quickly, slowly)]

        assert type(quickly) is type(slowly) is cls
        assert all(mine is theirs for mine, theirs in zip(*values, strict=True))


def test_the_largest_and_the_money_go_the_quick_way() -> None:
    """Else nothing is gained, and the comparison above compares nothing."""
    assert None not in (quick._copy_of(Job), quick._copy_of(Account))


def test_what_is_no_field_is_refused_and_a_copy_stays_frozen() -> None:
    """As ever."""
    old = blank(Account)
    with pytest.raises(TypeError):
        quick.replace(old, nothing=1)
    with pytest.raises(dataclasses.FrozenInstanceError):
        quick.replace(old, granted=1).granted = 2
