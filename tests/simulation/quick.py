"""``dataclasses.replace`` for a tenth of its price: a run makes some forty copies, and a row has forty fields.

A frozen class with slots sets each field by a call that looks the field up; here the copy is made as an instance of a
*twin*, a plain class with the same slots, and becomes one of the frozen class when all its fields are there. What comes
out is the same (``test_quick.py`` compares every class of the domain); whatever is not such a class goes the old way.
"""

from __future__ import annotations

import dataclasses
from collections.abc import Callable
from typing import Any

type Copy = Callable[[Any], Any]

_slowly: Callable[..., Any] = dataclasses._replace  # type: ignore[attr-defined]
_copies: dict[type, tuple[Copy, frozenset[str]] | None] = {}


def _copy_of(cls: type) -> tuple[Copy, frozenset[str]] | None:
    """How an instance of this class is copied into one of its twin; ``None``: not in this way."""
    fields = dataclasses.fields(cls)
    names = tuple(one.name for one in fields)
    is_plain = all(one.init for one in fields) and not hasattr(cls, "__post_init__")
    if not is_plain or cls.__dict__.get("__slots__") != names or cls.__bases__ != (object,):
        return None
    twin = type("Twin", (), {"__slots__": names})
    lines = "".join(f"    made.{name} = old.{name}\n" for name in names)
    scope: dict[str, Any] = {"new": object.__new__, "twin": twin}
    exec(f"def copy(old):\n    made = new(twin)\n{lines}    return made\n", scope)
    return scope["copy"], frozenset(names)


def replace(old: Any, /, **changes: Any) -> Any:
    """A copy with these fields changed."""
    cls = old.__class__
    try:
        known = _copies[cls]
    except KeyError:
        known = _copies[cls] = _copy_of(cls)
    if known is None or not known[1].issuperset(changes):
        return _slowly(old, **changes)
    made = known[0](old)
    for name, value in changes.items():
        setattr(made, name, value)
    made.__class__ = cls
    return made


def install() -> None:
    """Let ``dataclasses.replace`` go this way in this process."""
    dataclasses._replace = replace  # type: ignore[attr-defined]
