"""Turn a frozen dataclass into a map of plain values and back, by a table of its columns.

``None`` and what a column's ``encode`` calls absent are not stored; what is absent, or was not yet known when the item
was written, reads as the field's default. A *lenient* reading is for items of newer code: what cannot be understood
reads as if it were absent, and the caller sees from ``schema_version`` that it may not touch it.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import MISSING, dataclass, fields
from functools import partial
from typing import Any, Final

from onceward.adapters.dynamodb.values import Plain, from_typed

UNSAID: Final = object()  # None and dataclasses' own mark both have a meaning of their own here


def _same(value: Any) -> Any:
    """As it is."""
    return value


@dataclass(frozen=True, slots=True)
class Column:
    """One field: its stored name, its stored form (``None``: absent), and what is read if it is absent or unreadable.

    Without ``absent`` the field's own default counts; a field with neither must be there.
    """

    name: str
    encode: Callable[[Any], Plain | None] = _same
    decode: Callable[[Any], Any] = _same
    absent: object = UNSAID
    unreadable: object = UNSAID


class Shape[Whole]:
    """The columns of one dataclass, by field; a test asserts that no field of any shape is forgotten."""

    def __init__(self, whole: type[Whole], columns: Mapping[str, Column]) -> None:
        """Keep the table, and what each field reads as where it is absent."""
        self.whole = whole
        self.columns = columns
        self._defaults = _defaults(whole, columns)

    def to_plain(self, whole: Whole) -> dict[str, Plain]:
        """Every field that is not absent, under its stored name."""
        encoded = ((column.name, encode(column, getattr(whole, field))) for field, column in self.columns.items())
        return {name: value for name, value in encoded if value is not None}

    def from_plain(self, plain: Mapping[str, Plain]) -> Whole:
        """The dataclass of a nested map."""
        return self.whole(
            **{field: self._read(field, plain.get(column.name)) for field, column in self.columns.items()}
        )

    def from_item(self, item: Mapping[str, Mapping[str, Any]], *, is_lenient: bool, **from_key: object) -> Whole:
        """The dataclass of a whole item, some of it from its key; attributes that are not ours are left alone."""
        found: dict[str, Any] = dict(from_key)
        for field, column in self.columns.items():
            try:
                stored = item.get(column.name)
                found[field] = self._read(field, None if stored is None else from_typed(stored))
            except (ValueError, TypeError, KeyError, AttributeError):
                if not is_lenient:
                    raise
                found[field] = self._default(field) if column.unreadable is UNSAID else column.unreadable
        return self.whole(**found)

    def _read(self, field: str, stored: Plain | None) -> Any:
        """One field's value."""
        return self._default(field) if stored is None else self.columns[field].decode(stored)

    def _default(self, field: str) -> Any:
        """What an absent field reads as; ``KeyError`` if it must be there."""
        return self._defaults[field]()


def encode(column: Column, value: object) -> Plain | None:
    """The stored form of one field's value; ``None``: it is not stored."""
    return None if value is None else column.encode(value)


def _defaults(whole: type, columns: Mapping[str, Column]) -> dict[str, Callable[[], Any]]:
    """How each field that may be absent reads then."""
    defaults: dict[str, Callable[[], Any]] = {}
    for field in fields(whole):
        absent = columns[field.name].absent if field.name in columns else UNSAID
        constant = field.default if absent is UNSAID else absent
        if constant is not MISSING:
            defaults[field.name] = partial(_same, constant)
        elif field.default_factory is not MISSING:
            defaults[field.name] = field.default_factory
    return defaults
