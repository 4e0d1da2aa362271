"""GET /api/ai/account: one's own account and nobody else's; and creates that it refuses."""

from __future__ import annotations

import asyncio
from datetime import timedelta

import pytest

from onceward.domain.granting import grant_entry
from onceward.domain.names import TenantId
from onceward.wire.responses import AccountView
from tests.support.api_world import ApiWorld, Reply, an_event, ask, claims_of, create
from tests.support.builders import NOW

TARIFF = 5_000  # of the builders' kind


def a_world(granted: int = 50_000, most: int | None = None) -> ApiWorld:
    """An API whose tenant acme has an account."""
    world = ApiWorld()
    acme = TenantId("acme")
    asyncio.run(world.store.grant(acme, granted, grant_entry(acme, "first", granted, NOW)))
    asyncio.run(world.store.limit_account(acme, most))
    return world


def account(world: ApiWorld, tenant: str = "acme") -> Reply:
    """What a tenant is told of its account."""
    return ask(world.api(), an_event("GET", "/api/ai/account", claims=claims_of(tenant, scope="onceward/jobs:read")))


def test_account_tells_what_is_left_held_and_in_flight() -> None:
    """All amounts add up, and the answer is never cached."""
    world = a_world(most=3)
    create(world.api())
    reply = account(world)

    assert (reply.status, reply.headers["cache-control"]) == (200, "no-store")
    assert AccountView.model_validate(reply.json) == AccountView(
        is_limited=True,
        granted_micro_usd=50_000,
        available_micro_usd=50_000 - TARIFF,
        reserved_micro_usd=TARIFF,
        captured_micro_usd=0,
        in_flight=1,
        most_in_flight=3,
    )


def test_tenant_without_an_account_learns_that_it_is_unlimited() -> None:
    """Absence is said, not shown as zeros; and another tenant's account is nowhere in it (invariant 9)."""
    reply = account(a_world(), tenant="globex")

    assert reply.json == AccountView(is_limited=False).model_dump()
    assert "50000" not in reply.text


@pytest.mark.failure_mode("F62")
def test_create_beyond_the_limit_is_refused_and_leaves_nothing() -> None:
    """429 with its own code and a Retry-After; a replay of what is in flight is no create and passes."""
    world = a_world(most=1)
    api = world.api()
    first = create(api, "key-1")
    second = create(api, "key-2")

    assert (first.status, create(api, "key-1").status) == (202, 202)
    assert (second.status, second.json["code"]) == (429, "in_flight_limit_reached")
    assert int(second.headers["retry-after"]) > 0
    assert len(world.store.rows) == 1
    ask(api, an_event("POST", f"/api/ai/jobs/{first.json['job_id']}/cancel", claims=claims_of()))
    assert create(api, "key-2").status == 202


def test_too_little_money_is_told_before_too_many_jobs() -> None:
    """Waiting would not help: 402, not 429."""
    world = a_world(granted=TARIFF, most=1)
    create(world.api(), "key-1")
    world.clock.move(timedelta(minutes=1))

    assert create(world.api(), "key-2").json["code"] == "budget_exceeded"
