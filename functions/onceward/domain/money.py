"""Money: integer micro-USD, and what a provider's cost is known to be.

A cost is exact, or lies between bounds, or has no price. ``unpriced`` is never zero: its upper bound is what the
kind declares as its maximum. Costs add up bound by bound.
"""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True, slots=True, kw_only=True)
class Cost:
    """What was, or may have been, spent at providers: ``low <= truth <= high``, in micro-USD."""

    low: int
    high: int
    unpriced: bool = False

    def __post_init__(self) -> None:
        """Refuse bounds that no truth fits between."""
        if not 0 <= self.low <= self.high:
            raise ValueError(f"cost bounds must satisfy 0 <= low <= high, got {self.low}..{self.high}")

    @classmethod
    def nothing(cls) -> Cost:
        """Nothing was sent, so nothing was spent."""
        return _NOTHING

    @classmethod
    def exact(cls, micro_usd: int) -> Cost:
        """A cost computed from the provider's own usage figures and a known price."""
        return cls(low=micro_usd, high=micro_usd)

    @classmethod
    def maybe(cls, at_most: int) -> Cost:
        """A call whose outcome is unknown: nothing, or anything up to ``at_most``."""
        return cls(low=0, high=at_most)

    @property
    def is_exact(self) -> bool:
        """Whether one number says it all."""
        return self.low == self.high and not self.unpriced

    def __add__(self, other: Cost) -> Cost:
        """Both were spent: bounds add up, and one missing price makes the sum unpriced."""
        return Cost(low=self.low + other.low, high=self.high + other.high, unpriced=self.unpriced or other.unpriced)

    def without(self, never_spent: Cost) -> Cost:
        """The cost less an amount that was booked before and did not come to be."""
        return Cost(low=self.low - never_spent.low, high=self.high - never_spent.high, unpriced=self.unpriced)

    def turned_out(self, bound: int, truth: Cost) -> Cost:
        """The cost, of which a maybe of at most ``bound`` turned out to be ``truth``.

        Never below what the truth alone says: a bound may have been told too low.
        """
        high = max(self.high - bound, 0) + truth.high
        low = self.low + truth.low
        return Cost(low=low, high=max(low, high), unpriced=self.unpriced or truth.unpriced)


_NOTHING = Cost(low=0, high=0)
