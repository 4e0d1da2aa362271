"""The routes as a table, the problems as a table, and the document that describes both."""

from __future__ import annotations

import inspect
import json
from pathlib import Path

import pytest

from onceward import errors
from onceward.handlers.problems import STATUS, problem_response, status_of, to_error
from onceward.handlers.routes import ROUTES
from onceward.wire.problem import Problem
from tests.support.api_world import ApiWorld, an_event, ask, claims_of

ROOT = Path(__file__).parents[2]
ERRORS = [one for _, one in inspect.getmembers(errors, inspect.isclass) if issubclass(one, errors.OncewardError)]
TOLD = [one for one in ERRORS if issubclass(one, errors.RequestError | errors.InfrastructureError)]


@pytest.mark.parametrize("error", ERRORS, ids=lambda one: one.__name__)
def test_each_error_has_a_code_and_a_docstring(error: type[errors.OncewardError]) -> None:
    """The error tree documents itself, and its codes tell its classes apart."""
    assert error.__doc__
    assert [one for one in ERRORS if one.code == error.code] == [error]


@pytest.mark.parametrize("error", TOLD, ids=lambda one: one.__name__)
def test_each_error_that_a_client_can_meet_has_its_status(error: type[errors.OncewardError]) -> None:
    """A row of its own, not its base class's; and the answer is a problem document of that status."""
    made = error("a sentence")
    response = problem_response(made, "request-1")
    problem = Problem.model_validate_json(response.body or "")

    assert error in STATUS
    assert response.status_code == status_of(made) == problem.status == STATUS[error]
    assert (problem.code, problem.request_id) == (error.code, "request-1")
    has_time = issubclass(error, errors.InfrastructureError | errors.RateLimited | errors.OperationInProgress)
    assert ("Retry-After" in response.headers) == has_time


def test_what_is_not_ours_says_nothing() -> None:
    """The text of an unknown exception stays inside, and attempts' errors are no client's fault."""
    assert to_error(ValueError("SECRET")).detail == "the request could not be handled"
    assert status_of(errors.LeaseLost("")) == 500


def test_the_resolver_knows_exactly_the_routes_of_the_table() -> None:
    """A route without a row would have no scope; a row without a route would be a promise."""
    app = ApiWorld().api().app
    registered = {(route.method, route.path) for route in (*app._static_routes, *app._dynamic_routes)}

    assert registered == {(route.method, route.path) for route in ROUTES}


@pytest.mark.parametrize(
    ("method", "path", "allow"),
    [
        ("PUT", "/api/ai/jobs", "POST, GET, OPTIONS"),
        ("PATCH", "/api/ai/jobs/x", "GET, DELETE, OPTIONS"),
        ("HEAD", "/api/ai/jobs/x", "GET, DELETE, OPTIONS"),
        ("GET", "/api/ai/jobs/x/cancel", "POST, OPTIONS"),
        ("DELETE", "/health", "GET, HEAD, OPTIONS"),
        ("GET", "/api/ai/documents", "POST, OPTIONS"),
    ],
)
def test_a_wrong_method_is_405_with_the_right_ones(method: str, path: str, allow: str) -> None:
    """The gateway sends these to ``$default`` without an identity: no store is asked."""
    reply = ask(ApiWorld().api(), an_event(method, path))

    assert (reply.status, reply.headers["allow"]) == (405, allow)
    assert method == "HEAD" or reply.json["code"] == "method_not_allowed"


@pytest.mark.parametrize("path", ["/", "/api", "/api/ai/job", "/api/ai/jobs/a/b", "/openapi.yaml", "/docs"])
def test_an_unknown_path_is_404(path: str) -> None:
    """Also for OPTIONS, and for the Swagger page, which is off."""
    api = ApiWorld().api()

    assert ask(api, an_event("GET", path)).json["code"] == "not_found"
    assert ask(api, an_event("OPTIONS", path)).status == 404


@pytest.mark.parametrize("path", ["/health", "/openapi.json"])
def test_open_routes_answer_head_as_get_without_a_body(path: str) -> None:
    """As the ecosystem's probes expect."""
    api = ApiWorld().api()
    get, head = ask(api, an_event("GET", path)), ask(api, an_event("HEAD", path))

    assert get.status == head.status == 200
    assert (head.text, head.headers) == ("", get.headers)


def test_options_names_the_methods() -> None:
    """Where the gateway does not answer a preflight itself, the path's methods are told."""
    reply = ask(ApiWorld().api(), an_event("OPTIONS", "/api/ai/jobs"))

    assert (reply.status, reply.headers["allow"], reply.text) == (204, "POST, GET, OPTIONS", "")


def test_the_committed_document_is_the_apis() -> None:
    """``docs/openapi.json`` is what the API answers; write it anew from GET /openapi.json when this fails."""
    reply = ask(ApiWorld().api(), an_event("GET", "/openapi.json"))

    assert reply.text == (ROOT / "docs" / "openapi.json").read_text()


def test_the_document_describes_every_route_with_its_scope_and_problems() -> None:
    """OpenAPI 3.1; each operation has an id, each tenant's route its scope, and every reference resolves."""
    document = ask(ApiWorld().api(), an_event("GET", "/openapi.json")).json
    described = {
        (method.upper(), path.replace("{", "<").replace("}", ">")): operation
        for path, operations in document["paths"].items()
        for method, operation in operations.items()
    }

    assert document["openapi"].startswith("3.1")
    assert set(described) == {(one.method, one.path) for one in ROUTES if one.path != "/openapi.json"}
    for route in ROUTES:
        if route.scope is not None:
            operation = described[route.method, route.path]
            assert operation["security"] == [{"bearer": [str(scope)]} for scope in route.scopes]
            assert {"401", "403", "429", "503"} <= set(operation["responses"])
    for reference in _references(document):
        assert reference.removeprefix("#/components/schemas/") in document["components"]["schemas"]


def test_a_path_behind_a_named_stage_is_the_same_path() -> None:
    """With another stage than ``$default`` its name precedes the path."""
    event = an_event("GET", "/v1/health")
    event["requestContext"]["stage"] = "v1"

    assert ask(ApiWorld().api(), event).status == 200


def test_every_answer_with_a_claim_is_kept_out_of_caches() -> None:
    """Answers of tenants, problems too, are stored nowhere on the way."""
    api = ApiWorld().api()
    for path in ("/api/ai/jobs/x", "/nothing"):
        assert ask(api, an_event("GET", path, claims=claims_of())).headers["cache-control"] == "no-store"


def _references(node: object) -> list[str]:
    """All references in a document."""
    if isinstance(node, dict):
        own = [str(node["$ref"])] if "$ref" in node else []
        return own + [one for value in node.values() for one in _references(value)]
    return [one for value in node for one in _references(value)] if isinstance(node, list) else []


def test_problem_documents_say_where_a_body_is_wrong() -> None:
    """A pointer into the body, and what is expected there, without a value or a name that the client chose."""
    event = an_event(
        "POST",
        "/api/ai/jobs",
        body=json.dumps({"kind": "text.generate", "input": {"prompt": "x", "CANARY/x": "CANARY"}}),
        headers={"idempotency-key": "k"},
        claims=claims_of(),
    )
    reply = ask(ApiWorld().api(), event)

    assert reply.json["errors"] == [
        {"pointer": "/input/?", "detail": "Extra inputs are not permitted"},
    ]
    assert "CANARY" not in reply.text
