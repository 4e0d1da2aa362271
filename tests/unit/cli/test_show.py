"""How a cost is told: exactly, by its bounds, and never as nothing where a price is missing."""

from __future__ import annotations

import pytest

from onceward.cli.show import cost
from onceward.wire.responses import CostView


@pytest.mark.parametrize(
    ("exact", "low", "high", "unpriced", "expected"),
    [
        (21_298, 21_298, 21_298, False, "$0.021298"),
        (0, 0, 0, False, "$0.000000"),
        (None, 10, 910, False, "$0.000010 to $0.000910"),
        (None, 0, 900, True, "$0.000000 to $0.000900 (a price is missing)"),
        (None, 0, 1, True, "$0.000000 to $0.000001 (a price is missing)"),
    ],
)
def test_cost_is_told_as_far_as_it_is_known(
    exact: int | None, low: int, high: int, unpriced: bool, expected: str
) -> None:
    """A bound is said to be one."""
    view = CostView(exact_micro_usd=exact, low_micro_usd=low, high_micro_usd=high, unpriced=unpriced)

    assert cost(view) == expected
