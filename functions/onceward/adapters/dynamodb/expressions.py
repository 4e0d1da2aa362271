"""Collect the names and values of one request's expressions, so that no literal is ever spliced into its text."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

from onceward.adapters.dynamodb.values import Item, Plain, to_typed


@dataclass(slots=True)
class Placeholders:
    """The ``#names`` and ``:values`` of one request; the same request always gets the same ones.

    That matters: a repeated transaction is known by its token only if its contents are equal, too.
    """

    names: dict[str, str] = field(default_factory=dict)
    values: Item = field(default_factory=dict)

    def name(self, attribute: str) -> str:
        """Stand for an attribute, so that no reserved word can break an expression."""
        self.names[f"#{attribute}"] = attribute
        return f"#{attribute}"

    def value(self, plain: Plain) -> str:
        """Stand for a value; equal values share one placeholder, since long expressions have a limit."""
        typed = to_typed(plain)
        for placeholder, known in self.values.items():
            if known == typed:
                return placeholder
        placeholder = f":{len(self.values)}"
        self.values[placeholder] = typed
        return placeholder

    def arguments(self) -> dict[str, Mapping[str, Any]]:
        """As arguments of a request; an empty collection may not be sent."""
        names = {"ExpressionAttributeNames": self.names} if self.names else {}
        values = {"ExpressionAttributeValues": self.values} if self.values else {}
        return {**names, **values}
