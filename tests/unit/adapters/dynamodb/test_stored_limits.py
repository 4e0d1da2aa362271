"""A deploy goes on counting, stopping and letting through where older code left off.

``tests/support/stored_limits/`` holds what the code of its time wrote, by running: two creates, an upload and two
actions of one tenant were counted, a model and an action switched off, one breaker opened and another counting.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace
from datetime import UTC, datetime, timedelta
from typing import Any, cast

import pytest

from onceward.adapters.dynamodb.store import DynamoStore
from onceward.adapters.system import SystemClock, SystemIds, ThreadRunner
from onceward.domain.breaking import Breaker, BreakerRule, Sign, after_call, may_try
from onceward.domain.names import TenantId
from onceward.domain.tally import Counted, Limit, Limits, tally_at
from tests.support.emulators import dynamodb_at, make_tables
from tests.support.stored_items import LIMITS, stored_limits

pytestmark = [pytest.mark.anyio, pytest.mark.invariant(18)]

THEN = datetime(2026, 3, 14, 15, 9, 26, tzinfo=UTC)  # when older code stored it
ACME = TenantId("acme")
OPEN, COUNTING = "model gpt-x", "openai mini"
LIMITS_OF_STAGE = Limits.of(creates_per_minute=3, documents_per_day=2)
RULE = BreakerRule(failures=2)


@pytest.fixture(params=sorted(path.name for path in LIMITS.iterdir()))
def store(moto_aws: None, request: pytest.FixtureRequest) -> Iterator[DynamoStore]:
    """Today's store over what older code left."""
    client = dynamodb_at()
    tables = make_tables(client)
    for item in stored_limits(request.param):
        client.put_item(TableName=tables.accounts, Item=cast("Any", item))
    with ThreadRunner(1) as threads:
        yield DynamoStore(client, tables, threads, SystemClock(), SystemIds())


@pytest.mark.parametrize(
    ("limit", "left"),
    [
        (LIMITS_OF_STAGE.creates, 1),
        (LIMITS_OF_STAGE.documents, 1),
        (Limit(Counted.ACTIONS, 2, timedelta(minutes=1), of="create_task"), 0),
        (Limit(Counted.ACTIONS, 2, timedelta(minutes=1), of="close_task"), 2),
    ],
)
async def test_what_was_counted_counts(store: DynamoStore, limit: Limit, left: int) -> None:
    """In the same window so many more are let through as were left, and in the next one all."""
    now, later = tally_at(limit, ACME, THEN), tally_at(limit, ACME, THEN + limit.window)
    counted = [await store.count(now) for _ in range(left + 1)]

    assert counted == [True] * left + [False]
    assert all([await store.count(later) for _ in range(limit.most)])


async def test_what_was_switched_off_is_off_until_it_is_switched_on(store: DynamoStore) -> None:
    """Each by itself."""
    before = await store.switched_off()
    after = await store.switch("action create_task", is_on=True)

    assert before == {"model gpt-x", "action create_task"}
    assert after == await store.switched_off() == {"model gpt-x"}


async def test_an_open_breaker_stops_and_closes_by_probes(store: DynamoStore) -> None:
    """Its pause is the one that was stored; probes that go well close it, written in place of what was seen."""
    seen = await store.get_breaker(OPEN)
    assert seen is not None
    assert not may_try(seen, THEN + timedelta(seconds=10))
    now = THEN + timedelta(minutes=1)
    assert may_try(seen, now)
    for number in range(RULE.successes):
        probed = after_call(seen, Sign.WELL, RULE, token=f"TOKEN-{number}", sent_at=now, now=now)
        assert probed is not None
        assert await store.put_breaker(probed, seen.token)
        seen = probed

    assert not seen.is_open
    assert await store.list_breakers() == (seen, await store.get_breaker(COUNTING))


async def test_a_streak_goes_on(store: DynamoStore) -> None:
    """The next failure opens what counted one; who saw an older write is refused."""
    seen = await store.get_breaker(COUNTING)
    now = THEN + timedelta(seconds=30)
    opened = after_call(cast("Breaker", seen), Sign.ILL, RULE, token="TOKEN", sent_at=now, now=now)
    assert (seen, opened) != (None, None)

    assert opened is not None
    assert opened.is_open
    assert not await store.put_breaker(replace(opened, token="OTHER"), "of an older write")
    assert await store.put_breaker(opened, cast("Breaker", seen).token)
