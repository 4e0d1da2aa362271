"""One suite for clock and identities: the machine's, and the ones that tests set by hand.

Threads and children are the machine's alone: tests/unit/adapters/system.
"""

from __future__ import annotations

import asyncio
from datetime import timedelta

import pytest

from onceward.adapters.system import SystemClock, SystemIds
from onceward.domain.names import CreateToken, Identity, is_job_id, job_id_of
from onceward.usecases.ports import Clock, Ids
from tests.support.builders import IDENTITY
from tests.support.fakes import FakeClock, FakeIds

A_LITTLE = timedelta(milliseconds=125)  # an eighth of a second is exact as a float too


@pytest.mark.parametrize("clock", [SystemClock(), FakeClock()])
class TestClocks:
    """What every clock promises."""

    def test_now_is_stored_as_it_is(self, clock: Clock) -> None:
        """Aware, UTC and of whole milliseconds: equal after it was stored and read again."""
        now = clock.now()

        assert now.utcoffset() == timedelta(0)
        assert now.microsecond % 1000 == 0

    def test_sleep_lets_both_clocks_pass(self, clock: Clock) -> None:
        """After a wait no clock says that it is earlier, and at least that much has passed."""
        now, monotonic = clock.now(), clock.monotonic()

        asyncio.run(clock.sleep(A_LITTLE))

        assert clock.monotonic() - monotonic >= A_LITTLE.total_seconds()
        assert clock.now() - now >= A_LITTLE - timedelta(milliseconds=1)


@pytest.mark.parametrize("ids", [SystemIds(), FakeIds()])
class TestIds:
    """What every source of identities promises."""

    def test_token_makes_a_job_id(self, ids: Ids) -> None:
        """Its characters are those of job ids."""
        assert is_job_id(job_id_of(Identity(IDENTITY), CreateToken(ids.token())))

    def test_tokens_differ(self, ids: Ids) -> None:
        """No two runs, and no two lives of a key, have one token."""
        assert len({ids.token() for _draw in range(100)}) == 100

    def test_jitter_is_a_part_of_one(self, ids: Ids) -> None:
        """A wait is never longer than its bound."""
        assert all(0 <= ids.jitter() < 1 for _draw in range(100))
