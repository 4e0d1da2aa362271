"""Frozen dataclasses for a fraction of their price: a run makes a thousand of them, and copies some hundreds.

A frozen class sets each field by a call that looks the field up. Here an instance is for a moment one of a *twin*, a
plain class with the same slots: its fields are simply assigned, and then it becomes one of the frozen class. What comes
out is the same (``test_quick.py`` compares every class of the domain); whatever is not such a class goes the old way.
"""

from __future__ import annotations

import dataclasses
import gc
from collections.abc import Callable
from functools import cache
from typing import Any

type Copy = Callable[[Any], Any]

_slowly: Callable[..., Any] = dataclasses._replace  # type: ignore[attr-defined]
FEW = 3  # fields, with fewer of which two changes of class cost more than they save


@cache
def _twin_of(cls: type) -> type | None:
    """The plain class with the slots of this one; ``None``: it is not made so."""
    names = tuple(one.name for one in dataclasses.fields(cls))
    is_plain = all(one.init for one in dataclasses.fields(cls)) and cls.__bases__ == (object,)
    return type("Twin", (), {"__slots__": names}) if is_plain and cls.__dict__.get("__slots__") == names else None


@cache
def _copy_of(cls: type) -> tuple[Copy, frozenset[str]] | None:
    """How an instance of this class is copied into one of its twin; ``None``: not in this way."""
    twin = _twin_of(cls)
    if twin is None or hasattr(cls, "__post_init__"):
        return None
    names = [one.name for one in dataclasses.fields(cls)]
    lines = "".join(f"    made.{name} = old.{name}\n" for name in names)
    scope: dict[str, Any] = {"new": object.__new__, "twin": twin}
    exec(f"def copy(old):\n    made = new(twin)\n{lines}    return made\n", scope)
    return scope["copy"], frozenset(names)


@cache
def _birth_of(cls: type) -> Callable[..., None] | None:
    """How an instance gets its fields, by the same arguments as ever; ``None``: not in this way.

    One of a subclass gets them as it was declared.
    """
    twin, fields = _twin_of(cls), dataclasses.fields(cls)
    params = cls.__dataclass_params__  # type: ignore[attr-defined]
    if twin is None or len(fields) < FEW or not (params.frozen and params.init):
        return None
    scope: dict[str, Any] = {"_declared": cls.__init__, "_become": object.__setattr__, "_twin": twin, "_cls": cls}  # type: ignore[misc]
    scope["_missing"] = dataclasses.MISSING
    for one in fields:
        scope |= {f"_default_{one.name}": one.default, f"_make_{one.name}": one.default_factory}
    anywhere = [_argument(one) for one in fields if not one.kw_only]
    by_name = [_argument(one) for one in fields if one.kw_only]
    arguments = ", ".join(["self", *anywhere, *["*"][: len(by_name)], *by_name])
    lines = [f"self.{one.name} = {_value(one)}" for one in fields]
    after = ["self.__post_init__()"] if hasattr(cls, "__post_init__") else []
    told = ", ".join(["self", *(f"{one.name}={_value(one)}" for one in fields)])
    first = [f"if self.__class__ is not _cls: return _declared({told})", "_become(self, '__class__', _twin)"]
    body = "\n    ".join([*first, *lines, "self.__class__ = _cls", *after])
    exec(f"def born({arguments}):\n    {body}\n", scope)
    return scope["born"]  # type: ignore[no-any-return]


def _argument(field: dataclasses.Field[Any]) -> str:
    """A field's argument: what has a default or a factory need not be given."""
    is_needed = field.default is dataclasses.MISSING and field.default_factory is dataclasses.MISSING
    return field.name if is_needed else f"{field.name}=_default_{field.name}"


def _value(field: dataclasses.Field[Any]) -> str:
    """What a field is set to: what was given, or what its factory makes."""
    name = field.name
    return name if field.default_factory is dataclasses.MISSING else f"_make_{name}() if {name} is _missing else {name}"


def replace(old: Any, /, **changes: Any) -> Any:
    """A copy with these fields changed."""
    cls = old.__class__
    known = _copy_of(cls)
    if known is None or not known[1].issuperset(changes):
        return _slowly(old, **changes)
    made = known[0](old)
    for name, value in changes.items():
        setattr(made, name, value)
    made.__class__ = cls
    return made


def install() -> None:
    """Let all frozen dataclasses of the code under test go this way in this process, as far as they are known yet."""
    dataclasses._replace = replace  # type: ignore[attr-defined]
    for one in gc.get_objects():
        if isinstance(one, type) and dataclasses.is_dataclass(one) and one.__module__.startswith("onceward."):
            birth = _birth_of(one)
            if birth is not None:
                one.__init__ = birth  # type: ignore[method-assign]
