"""What every model has, however it is reached: a name, a promise, and prices."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Protocol

from onceward.domain.policy import Capability
from onceward.domain.records import Usage
from onceward.providers.prices import PRICES, Price, most_of, price_of
from onceward.usecases.ports import ModelRequest


class ModelTarget(Protocol):
    """Which model, by the provider's name for it; the target's own short name, and what it promises about repeats."""

    @property
    def name(self) -> str:
        """Short, for books and metrics."""

    @property
    def model(self) -> str:
        """As the provider calls it."""

    @property
    def capability(self) -> Capability:
        """Only what its provider documents."""


class PricedModel[Target: ModelTarget]:
    """The part of the ``Provider`` port that asks nobody."""

    def __init__(self, target: Target, prices: Mapping[str, Price] = PRICES) -> None:
        """``prices`` by model."""
        self._target = target
        self._prices = prices

    @property
    def name(self) -> str:
        """The target's short name."""
        return self._target.name

    @property
    def model(self) -> str:
        """The model, by the provider's name for it."""
        return self._target.model

    @property
    def capability(self) -> Capability:
        """What the target promises about repeats."""
        return self._target.capability

    def price(self, model: str, usage: Usage | None) -> int | None:
        """Micro-USD of a usage; ``None``: no price is known."""
        return price_of(model, usage, self._prices)

    def most(self, request: ModelRequest) -> int | None:
        """Micro-USD that one call can cost at most; ``None``: no price is known."""
        return most_of(self._target.model, request, self._prices)
