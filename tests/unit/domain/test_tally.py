"""Windows begin where everybody's clock says so, and a limit of 0 is none."""

from __future__ import annotations

from datetime import UTC, datetime, timedelta

import pytest

from onceward.domain.tally import Counted, Limit, Limits, tally_at
from tests.support.builders import TENANT

MINUTE, DAY = timedelta(minutes=1), timedelta(days=1)


@pytest.mark.parametrize(
    ("window", "begins", "ends", "name"),
    [
        (
            MINUTE,
            datetime(2026, 3, 1, 23, 59, tzinfo=UTC),
            datetime(2026, 3, 2, tzinfo=UTC),
            "creates#2026-03-01T23:59Z",
        ),
        (DAY, datetime(2026, 3, 1, tzinfo=UTC), datetime(2026, 3, 2, tzinfo=UTC), "creates#2026-03-01T00:00Z"),
    ],
)
def test_window_is_a_minute_of_the_clock_or_a_day_in_utc(
    window: timedelta, begins: datetime, ends: datetime, name: str
) -> None:
    """Every process that counts in a window counts in the same one."""
    tally = tally_at(Limit(Counted.CREATES, 5, window), TENANT, datetime(2026, 3, 1, 23, 59, 59, 999_000, tzinfo=UTC))

    assert (tally.begins_at, tally.ends_at, tally.name, tally.most) == (begins, ends, name, 5)
    assert tally.expires_at == ends + timedelta(days=1)


def test_first_instant_of_a_window_is_its_own() -> None:
    """At the stroke of the minute counting begins anew."""
    at = datetime(2026, 3, 1, 12, 1, tzinfo=UTC)

    assert tally_at(Limit(Counted.CREATES, 5, MINUTE), TENANT, at).begins_at == at


def test_limit_of_zero_is_none() -> None:
    """What is not configured is not counted."""
    limits = Limits.of(creates_per_minute=0, documents_per_day=7)

    assert limits.creates is None
    assert limits.documents == Limit(Counted.DOCUMENTS, 7, DAY)
