"""Who may do what: claims, scopes and tenants, over every route."""

from __future__ import annotations

import itertools
import json
import re
from collections.abc import Mapping
from typing import Any

import pytest

from onceward.handlers import routes
from onceward.handlers.api_app import Api
from onceward.handlers.routes import ROUTES, ApiRoute
from tests.support.api_world import WRITER, ApiWorld, Reply, an_event, ask, claims_of, create

TENANTS_ROUTES = [route for route in ROUTES if route.scope is not None]
UPLOAD = '{"content_type": "application/pdf", "size": 4, "sha256": "' + "a" * 64 + '"}'
BODIES = {
    routes.UPLOAD: UPLOAD,
    routes.CREATE_JOB: '{"kind": "text.generate", "input": {"prompt": "x"}}',
    routes.PERFORM_ACTION: '{"operation_id": "o", "action": "create_task", "arguments": {}}',
    routes.APPROVE_ACTION: f'{{"fingerprint": "{"0" * 64}", "why": "x"}}',
    routes.RESET_ACTION: '{"epoch": 1, "why": "x"}',
    routes.RESOLVE_REVIEW: '{"verdict": "fail", "epoch": 1, "why": "x"}',
}
EVERY = f"{WRITER} onceward/ops"  # all scopes that there are


def use(api: Api, route: ApiRoute, claims: Mapping[str, Any] | None, job_id: str = "none") -> Reply:
    """Ask a route, rightly but for the claims."""
    event = an_event(
        route.method,
        route.path.replace("<job_id>", job_id),
        body=BODIES.get(route),
        headers={"idempotency-key": "k"},
        claims=claims,
    )
    return ask(api, event)


@pytest.mark.parametrize("route", TENANTS_ROUTES, ids=lambda route: route.name)
@pytest.mark.parametrize(
    ("claims", "status", "code"),
    [
        pytest.param(None, 401, "unauthorized", id="no authorizer"),
        pytest.param({}, 401, "unauthorized", id="no claims"),
        pytest.param(claims_of(token_use="id"), 403, "forbidden", id="an ID token"),
        pytest.param(claims_of(tenant=""), 403, "forbidden", id="no tenant"),
        pytest.param(claims_of(tenant="a#b"), 403, "forbidden", id="a tenant that is no name"),
        pytest.param(claims_of(tenant="x" * 65), 403, "forbidden", id="a tenant too long"),
        pytest.param(claims_of(tenant="."), 403, "forbidden", id="a tenant that is a step of a path"),
        pytest.param(claims_of(tenant=".."), 403, "forbidden", id="a tenant that is a step up"),
        pytest.param({**claims_of(), "tenant": None}, 403, "forbidden", id="a tenant of null"),
        pytest.param({**claims_of(), "tenant": True}, 403, "forbidden", id="a tenant of true"),
        pytest.param({**claims_of(), "tenant": 0}, 403, "forbidden", id="a tenant of zero"),
        pytest.param({**claims_of(), "tenant": ["acme"]}, 403, "forbidden", id="a list of tenants"),
        pytest.param(claims_of(sub=""), 403, "forbidden", id="no caller"),
        pytest.param({**claims_of(), "sub": True}, 403, "forbidden", id="a caller of true"),
        pytest.param(claims_of(scope=""), 403, "forbidden", id="no scope"),
        pytest.param(claims_of(scope="onceward/operator openid"), 403, "forbidden", id="another scope"),
        pytest.param(claims_of(scope="other/jobs:read other/jobs:write"), 403, "forbidden", id="another server's"),
    ],
)
def test_nobody_passes_without_tenant_and_scope(
    route: ApiRoute, claims: Mapping[str, Any] | None, status: int, code: str
) -> None:
    """Each route refuses before anything is read, written or sent, in one shape."""
    world = ApiWorld()
    reply = use(world.api(), route, claims)

    assert (reply.status, reply.json["code"]) == (status, code)
    assert not world.store.rows


@pytest.mark.parametrize("route", TENANTS_ROUTES, ids=lambda route: route.name)
def test_each_route_needs_exactly_its_scope(route: ApiRoute) -> None:
    """Bare or spelt by Cognito or as the gateway spells a list; without it, nothing else helps.

    Agents' operations are read by their own scope or an operator's, who approves or resets them.
    """
    needed = [str(scope) for scope in route.scopes]
    others = " ".join(scope for scope in ("jobs:read", "jobs:write", "ops") if scope not in needed)

    assert len(needed) == 1 or (route.method, needed) == ("GET", ["actions", "ops"])
    for one in needed:
        for spelling in (one, f"onceward/{one}", f"[{one} openid]"):
            assert use(ApiWorld().api(), route, claims_of(scope=spelling)).status not in {401, 403}
    assert use(ApiWorld().api(), route, claims_of(scope=others)).status == 403


def test_an_issuer_without_token_use_is_told_apart_by_scopes() -> None:
    """Any OIDC issuer: the claim is Cognito's own; where it is missing, the scope must still be there."""
    claims = {"tenant": "acme", "scope": WRITER, "sub": "auth0|42"}
    world = ApiWorld()

    assert use(world.api(), routes.CREATE_JOB, claims).status == 202
    (row,) = world.store.rows.values()
    assert row.created_by == "auth0|42"


def test_the_body_never_names_the_tenant() -> None:
    """A tenant in body, query or header changes nothing, or is refused."""
    world = ApiWorld()
    body = '{"kind": "text.generate", "input": {"prompt": "x"}, "tenant_id": "globex"}'
    assert create(world.api(), body=body).status == 422

    headers = {"idempotency-key": "k", "tenant": "globex", "x-tenant-id": "globex"}
    event = an_event(
        "POST",
        "/api/ai/jobs",
        body=BODIES[routes.CREATE_JOB],
        headers=headers,
        claims=claims_of(),
        query="tenant=globex",
    )
    assert ask(world.api(), event).status == 202
    assert {row.tenant_id for row in world.store.rows.values()} == {"acme"}


@pytest.mark.failure_mode("F81")
@pytest.mark.parametrize(
    "route", [route for route in TENANTS_ROUTES if "<job_id>" in route.path], ids=lambda route: route.name
)
def test_a_foreign_id_answers_exactly_as_an_absent_one(route: ApiRoute) -> None:
    """Invariant 9: the answers differ in nothing, and the job stays as it is."""
    world = ApiWorld()
    api = world.api()
    job_id = create(api).json["job_id"]
    before = dict(world.store.rows)

    foreign = use(api, route, claims_of("globex", EVERY), job_id)
    absent = use(api, route, claims_of("globex", EVERY), job_id[::-1])

    assert foreign == absent
    assert foreign.status == 404
    assert world.store.rows == before


ODD_IDS = ['"', "\\", "?", "#", "\n", "é", "\u2028", "a" * 5000, "{job_id}", "<job_id>", "..", "%00", "`", "^"]


@pytest.mark.parametrize("odd", ODD_IDS, ids=repr)
@pytest.mark.parametrize(
    "route", [route for route in TENANTS_ROUTES if "<job_id>" in route.path], ids=lambda route: route.name
)
def test_an_odd_id_answers_exactly_as_an_absent_one(route: ApiRoute, odd: str) -> None:
    """Whatever it is made of, also after the id of a job that is there: the job stays as it is."""
    world = ApiWorld()
    api = world.api()
    job_id = create(api).json["job_id"]
    before = dict(world.store.rows)
    absent = use(api, route, claims_of(scope=EVERY), job_id[::-1])

    assert (absent.status, absent.json["code"]) == (404, "job_not_found")
    assert [use(api, route, claims_of(scope=EVERY), given) for given in (odd, f"{job_id}{odd}")] == [absent, absent]
    assert world.store.rows == before


@pytest.mark.parametrize("subject", ["a\nb", "ä", "x" * 65, "a\nb" + "x" * 200])
def test_subjects_are_kept_short_and_plain(subject: str) -> None:
    """Whatever an issuer puts there, the row stays small and the log one line."""
    assert re.fullmatch(r"[A-Za-z0-9_.:@|-]+~[0-9a-f]{20}", created_by(subject))
    assert len(created_by(subject)) <= 64


@pytest.mark.parametrize(("one", "other"), [("müller", "möller"), ("x" * 64 + "1", "x" * 64 + "2"), ("a b", "a_b")])
def test_two_subjects_stay_two(one: str, other: str) -> None:
    """A kind that computes an equal question once for each creator gives one caller's answer to no other."""
    assert created_by(one) != created_by(other)


def test_a_machine_whose_token_has_no_subject_is_its_client() -> None:
    """Some issuers put nothing else into a client's token."""
    assert created_by("", client_id="client-7") == "client-7"


def created_by(subject: str, **more: str) -> str:
    """Who a row says that its creator is."""
    world = ApiWorld()
    use(world.api(), routes.CREATE_JOB, claims_of(sub=subject, **more))
    (row,) = world.store.rows.values()
    return row.created_by


def test_no_route_is_reachable_by_another_spelling_of_its_path() -> None:
    """A trailing slash, a doubled one, a dot or an escaped one is no route, so no check can be walked around."""
    api = ApiWorld().api()
    for path, method in itertools.product(
        ("/api/ai/jobs/", "//api/ai/jobs", "/api/ai/./jobs", "/api/ai%2Fjobs"), ("GET", "POST")
    ):
        reply = ask(api, an_event(method, path, claims=claims_of()))

        assert (reply.status, json.loads(reply.text)["code"]) == (404, "not_found")
