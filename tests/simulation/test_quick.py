"""The quick copies and births of the simulation are the ones that ``dataclasses`` makes."""

from __future__ import annotations

import dataclasses
import gc
from typing import Any

import pytest

from onceward.domain.job import Job
from onceward.domain.ledger import Account
from onceward.domain.money import Cost
from tests.simulation import quick

DOMAIN = sorted(
    {
        one
        for one in gc.get_objects()
        if isinstance(one, type) and dataclasses.is_dataclass(one) and one.__module__.startswith("onceward.")
    },
    key=lambda one: (one.__module__, one.__qualname__),
)
COPIED = [one for one in DOMAIN if quick._copy_of(one) is not None]
BORN = [one for one in DOMAIN if quick._birth_of(one) is not None and not hasattr(one, "__post_init__")]


def blank(cls: type) -> Any:
    """An instance whose fields hold objects of their own."""
    made: Any = object.__new__(cls)
    for one in dataclasses.fields(cls):
        object.__setattr__(made, one.name, object())
    return made


@pytest.mark.parametrize("cls", COPIED, ids=lambda one: one.__qualname__)
def test_a_quick_copy_is_the_slow_one(cls: type) -> None:
    """Every class that goes the quick way: the same type, the very same values, one of them changed."""
    old = blank(cls)
    for one in dataclasses.fields(cls):
        new = object()
        quickly, slowly = quick.replace(old, **{one.name: new}), quick._slowly(old, **{one.name: new})
        values = [[getattr(copy, each.name) for each in dataclasses.fields(cls)] for copy in (quickly, slowly)]

        assert type(quickly) is type(slowly) is cls
        assert all(mine is theirs for mine, theirs in zip(*values, strict=True))


def declared_again(cls: type) -> Any:
    """A class with the same fields, as ``dataclasses`` makes it."""
    fields: list[tuple[str, Any, Any]] = []
    for one in dataclasses.fields(cls):
        rule = {"default": one.default, "default_factory": one.default_factory, "kw_only": one.kw_only}
        given: dict[str, Any] = {name: value for name, value in rule.items() if value is not dataclasses.MISSING}
        fields.append((one.name, object, dataclasses.field(**given)))
    return dataclasses.make_dataclass(cls.__name__, fields, frozen=True, slots=True)


def born(cls: type, *places: Any, **names: Any) -> Any:
    """An instance that went the quick way."""
    made: Any = object.__new__(cls)
    birth = quick._birth_of(cls)
    assert birth is not None
    birth(made, *places, **names)
    return made


@pytest.mark.parametrize("cls", BORN, ids=lambda one: one.__qualname__)
def test_a_quick_birth_is_the_slow_one(cls: type) -> None:
    """The same arguments by place and by name, the same defaults; a factory's value is made anew each time."""
    fields, again = dataclasses.fields(cls), declared_again(cls)
    every = {one.name: object() for one in fields}
    in_order = [every[one.name] for one in fields if not one.kw_only]
    by_name = {one.name: every[one.name] for one in fields if one.kw_only}
    made = {one.name for one in fields if one.default_factory is not dataclasses.MISSING}
    needed = {one.name: object() for one in fields if one.default is dataclasses.MISSING and one.name not in made}

    for places, names in (((), every), (in_order, by_name), ((), needed)):
        quickly, slowly = born(cls, *places, **names), again(*places, **names)
        assert type(quickly) is cls
        for one in fields:
            mine, told = getattr(quickly, one.name), getattr(slowly, one.name)
            assert mine is told or (one.name in made and type(mine) is type(told)), one.name


@pytest.mark.parametrize("cls", BORN, ids=lambda one: one.__qualname__)
def test_a_quick_birth_refuses_what_the_slow_one_refuses(cls: type) -> None:
    """A name that is no field, a place too many, and a value that is missing."""
    every = {one.name: object() for one in dataclasses.fields(cls)}
    again = declared_again(cls)
    missing = dict(list(every.items())[1:])
    for make in (lambda *places, **names: born(cls, *places, **names), again):
        with pytest.raises(TypeError):
            make(**every, nothing=1)
        with pytest.raises(TypeError):
            make(*every, None, **every)
        if dataclasses.fields(cls)[0].default is dataclasses.MISSING:
            with pytest.raises(TypeError):
                make(**missing)


def test_the_largest_and_the_money_go_the_quick_way() -> None:
    """Else nothing is gained, and the comparison above compares nothing."""
    assert None not in (quick._copy_of(Job), quick._copy_of(Account), quick._birth_of(Job), quick._birth_of(Cost))


def test_what_is_no_field_is_refused_and_a_copy_stays_frozen() -> None:
    """As ever."""
    old = blank(Account)
    with pytest.raises(TypeError):
        quick.replace(old, nothing=1)
    with pytest.raises(dataclasses.FrozenInstanceError):
        quick.replace(old, granted=1).granted = 2


def test_what_is_born_is_checked_and_stays_frozen() -> None:
    """As ever: the rules of ``__post_init__`` hold for what is made quickly."""
    with pytest.raises(ValueError, match="bounds"):
        Cost(low=2, high=1)
    with pytest.raises(dataclasses.FrozenInstanceError):
        Cost(low=1, high=2).low = 2  # type: ignore[misc]


def test_one_of_a_subclass_is_born_as_declared() -> None:
    """With the fields of its base, and as what it is."""

    class Sum(Cost):
        """A cost."""

    made = Sum(low=1, high=2)

    assert (type(made), made.low, made.high, made.unpriced) == (Sum, 1, 2, False)
