"""The token trigger: who gets which tenant and scopes."""

from __future__ import annotations

from typing import Any

import pytest
from aws_lambda_powertools import Logger

from onceward.errors import StoreUnavailable
from onceward.handlers.tenant_token import Entry, TenantToken
from tests.support.api_world import FakeContext
from tests.support.samples import EVENTS, sample

CLIENT = "3n4b5urk1ft4fl3mg5e62d9ado"
READ, WRITE, OPS = "onceward/jobs:read", "onceward/jobs:write", "onceward/ops"


def an_entry(tenant: str = "acme", *scopes: str) -> Entry:
    """A client's entry as it is stored."""
    return {"tenant_id": {"S": tenant}, "scopes": {"SS": list(scopes or ("jobs:read", "jobs:write"))}}


def trigger(event: dict[str, Any], entries: dict[str, Entry] | None = None) -> dict[str, Any]:
    """The access token's part of the answer."""
    find = (entries or {}).get
    answer = TenantToken(find, Logger(service="token-test"))(event, FakeContext())  # type: ignore[arg-type]
    assert {**answer, "response": None} == {**event, "response": None}
    details: dict[str, Any] = answer["response"]["claimsAndScopeOverrideDetails"]["accessTokenGeneration"]
    return details


def a_client(scopes: list[str]) -> dict[str, Any]:
    """A machine that asks for these scopes."""
    event = sample("tenant_token_client")
    event["request"]["scopes"] = scopes
    return event


def a_person(*groups: str) -> dict[str, Any]:
    """Somebody in these groups."""
    event = sample("tenant_token_user")
    event["request"]["groupConfiguration"]["groupsToOverride"] = list(groups)
    return event


def test_a_machine_gets_its_entrys_tenant_and_what_it_asked_for_of_its_scopes() -> None:
    """What the entry does not allow is taken out of the token; what was not asked for is not put in."""
    details = trigger(sample("tenant_token_client"), {CLIENT: an_entry()})

    assert details == {
        "claimsToAddOrOverride": {"tenant": "acme"},
        "scopesToAdd": [READ, WRITE],
        "scopesToSuppress": [OPS],
    }
    assert trigger(a_client([READ]), {CLIENT: an_entry()})["scopesToAdd"] == [READ]


def test_a_machine_that_asks_for_nothing_gets_all_of_its_entry() -> None:
    """As Cognito itself does with a client's scopes; scopes as a list are read too."""
    entry = {"tenant_id": {"S": "acme"}, "scopes": {"L": [{"S": READ}, {"S": "ops"}]}}

    assert trigger(a_client([]), {CLIENT: entry})["scopesToAdd"] == [READ, OPS]


@pytest.mark.parametrize(
    "entries", [{}, {"another": an_entry()}, {CLIENT: an_entry("a#b")}, {CLIENT: {"scopes": {"SS": ["ops"]}}}]
)
def test_a_machine_without_a_tenant_gets_no_scope_of_ours(entries: dict[str, Entry]) -> None:
    """No entry, or one that names no tenant: the token can do nothing here, other servers' scopes stay."""
    details = trigger(a_client([READ, OPS, "other/read"]), entries)

    assert details == {"claimsToSuppress": ["tenant"], "scopesToAdd": [], "scopesToSuppress": [READ, OPS]}


def test_actions_are_allowed_by_a_clients_entry_where_it_asks_for_actions() -> None:
    """Cognito knows one scope for all actions; which ones, the entry says, and asking for less gives less."""
    entries = {CLIENT: an_entry("acme", "jobs:read", "actions", "actions:create_task", "actions:Not-One")}
    granted = "onceward/actions:create_task"

    assert trigger(a_client([READ, "onceward/actions"]), entries)["scopesToAdd"] == ["onceward/actions", granted, READ]
    assert trigger(a_client([]), entries)["scopesToAdd"] == ["onceward/actions", granted, READ]
    assert trigger(a_client([READ]), entries)["scopesToAdd"] == [READ]
    assert granted in trigger(a_person("tenant:acme", "actions:create_task"))["scopesToAdd"]


def test_a_store_that_does_not_answer_fails_the_sign_in() -> None:
    """Better no token than one that can do nothing for an hour."""

    def find(client_id: str) -> Entry | None:
        raise StoreUnavailable("no answer")

    with pytest.raises(StoreUnavailable):
        TenantToken(find, Logger(service="token-test"))(sample("tenant_token_client"), FakeContext())  # type: ignore[arg-type]


def test_a_person_acts_for_the_tenant_of_its_group() -> None:
    """Reads and writes; the operators' group adds their scope, and every other group is somebody else's."""
    assert trigger(sample("tenant_token_user")) == {
        "claimsToAddOrOverride": {"tenant": "acme"},
        "scopesToAdd": [READ, WRITE, OPS],
        "scopesToSuppress": [],
    }
    assert trigger(a_person("staff", "tenant:acme"))["scopesToAdd"] == [READ, WRITE]


@pytest.mark.parametrize("groups", [(), ("ops",), ("tenant:",), ("tenant:a b",), ("tenant:acme", "tenant:globex")])
def test_a_person_without_exactly_one_tenant_has_none(groups: tuple[str, ...]) -> None:
    """Two tenants are none: a token acts for one, and guessing would show one tenant's jobs to the other's."""
    assert trigger(a_person(*groups)) == {
        "claimsToSuppress": ["tenant"],
        "scopesToAdd": [],
        "scopesToSuppress": [],
    }


def test_every_sample_is_used() -> None:
    """The folder's files for this handler are the two above."""
    assert {path.stem for path in EVENTS.glob("tenant_token_*.json")} == {"tenant_token_client", "tenant_token_user"}
