"""A tenant's limits: how many jobs in a minute, how many documents in a day; none unless the stage has some."""

from __future__ import annotations

from dataclasses import replace
from datetime import UTC, datetime, timedelta
from typing import Any, cast

import pytest

from onceward.adapters.memory.store import MemoryStore
from onceward.domain.job import Job
from onceward.domain.ledger import Account
from onceward.domain.names import Identity, TenantId
from onceward.domain.tally import Limits
from onceward.usecases.ports import Store
from tests.support.api_world import ApiWorld, SteppingClock, an_event, ask, claims_of, create
from tests.support.builders import TENANT

UPLOAD = '{"content_type": "application/pdf", "size": 4, "sha256": "' + "a" * 64 + '"}'
AT = datetime(2026, 3, 1, 18, 0, 12, 300_000, tzinfo=UTC)
OTHER_BODY = '{"kind": "text.generate", "input": {"prompt": "another"}}'
UNKNOWN_DOCUMENT = '{"kind": "text.generate", "input": {"prompt": "hello", "documents": ["none"]}}'


class LateRow:
    """A store whose first look at a row comes too early to see it."""

    def __init__(self, store: MemoryStore) -> None:
        self._store = store
        self._is_early = True

    def __getattr__(self, name: str) -> Any:
        return getattr(self._store, name)

    async def get_job(self, tenant_id: TenantId, identity: Identity) -> Job | None:
        """Nothing the first time."""
        if self._is_early:
            self._is_early = False
            return None
        return await self._store.get_job(tenant_id, identity)


def a_world() -> ApiWorld:
    """Two jobs a minute, one document a day."""
    return ApiWorld(clock=SteppingClock(AT), limits=Limits.of(creates_per_minute=2, documents_per_day=1))


def upload(world: ApiWorld, tenant: str = "acme") -> tuple[int, dict[str, str], dict[str, str]]:
    """Ask for a form."""
    reply = ask(world.api(), an_event("POST", "/api/ai/documents", body=UPLOAD, claims=claims_of(tenant)))
    return reply.status, reply.json, dict(reply.headers)


@pytest.mark.failure_mode("F62")
def test_create_beyond_the_tenants_rate_is_429_until_the_minute_ends() -> None:
    """A problem with its own code and the seconds to the next minute; nothing is stored, and then it goes on."""
    world = a_world()
    api = world.api()
    assert [create(api, f"key-{number}").status for number in range(2)] == [202, 202]
    refused = create(api, "key-2")

    assert (refused.status, refused.json["code"]) == (429, "rate_limited")
    assert refused.headers["retry-after"] == "48"
    assert refused.headers["content-type"] == "application/problem+json"
    assert len(world.store.rows) == 2
    assert create(api, "key-2", tenant="globex").status == 202

    world.clock.move(timedelta(seconds=47.7))
    assert create(api, "key-2").status == 202


def test_replays_mismatches_and_invalid_inputs_use_up_nothing() -> None:
    """Only what would become a job is counted, so a client that retries is never kept out by its own retries."""
    world = a_world()
    api = world.api()
    for _ in range(5):
        assert create(api).status == 202
        assert create(api, body=OTHER_BODY).status == 409
        assert create(api, "key-2", body='{"kind": "text.generate", "input": {}}').status == 422

    assert create(api, "key-2").status == 202
    assert create(api, "key-3").status == 429
    assert create(api).headers["idempotent-replayed"] == "true"


def test_absent_documents_and_an_empty_account_use_up_nothing() -> None:
    """422 and 402 are found before the counting write; once granted, the tenant has its whole minute."""
    world = a_world()
    api = world.api()
    account = Account(tenant_id=TENANT, granted=1, available=1, reserved=0, captured=0)
    world.store.accounts[TENANT] = account
    for _ in range(5):
        assert create(api, "key-1", body=UNKNOWN_DOCUMENT).json["code"] == "unknown_document"
        assert create(api, "key-2").json["code"] == "budget_exceeded"

    world.store.accounts[TENANT] = replace(account, available=1_000_000)
    assert [create(api, f"key-{number}").status for number in range(3)] == [202, 202, 429]


def test_create_that_loses_the_race_for_its_key_has_counted() -> None:
    """The page says so: only the write of the job could tell, and it comes after the counting one."""
    world = a_world()
    api = world.api()
    create(api)
    world.wrap_store = lambda store: cast("Store", LateRow(store))
    assert create(api).headers["idempotent-replayed"] == "true"
    assert create(api, "key-2").status == 429


def test_documents_are_limited_by_the_day() -> None:
    """By the day in UTC; the next day begins with a free hand."""
    world = a_world()
    assert upload(world)[0] == 201
    status, problem, headers = upload(world)

    assert (status, problem["code"]) == (429, "document_limit_reached")
    assert headers["retry-after"] == str(6 * 3600 - 12)
    assert upload(world, "globex")[0] == 201
    world.clock.move(timedelta(hours=6))
    assert upload(world)[0] == 201


@pytest.mark.parametrize("limits", [Limits(), Limits.of(creates_per_minute=0, documents_per_day=0)])
def test_without_a_limit_nothing_is_counted(limits: Limits) -> None:
    """No request more on the way of a create."""
    world = ApiWorld(limits=limits)
    api = world.api()
    for number in range(5):
        create(api, f"key-{number}")
        upload(world)

    assert world.store.tallies == {}
