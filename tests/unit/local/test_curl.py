"""The lines that ``make run`` ends with: one for each route, and each asks what it says."""

from __future__ import annotations

import shlex
from itertools import pairwise
from urllib.parse import quote

from onceward.handlers import routes
from onceward.handlers.routes import ROUTES, ApiRoute
from onceward.local.curl import OPERATION, curl_lines
from onceward.local.places import SAMPLE
from onceward.local.stack_file import header_file
from onceward.wire.requests import ApproveAction, CreateJob, CreateUpload, PerformAction, RequestBody, ResetAction
from onceward.wire.reviews import ResolveReview
from onceward.wire.scopes import Scope

API = "http://127.0.0.1:4566/_aws/execute-api/abc/$default"
JOB_ID = "A" * 26 + "-" + "B" * 8
BODIES: dict[ApiRoute, type[RequestBody]] = {
    routes.UPLOAD: CreateUpload,
    routes.CREATE_JOB: CreateJob,
    routes.RESOLVE_REVIEW: ResolveReview,
    routes.PERFORM_ACTION: PerformAction,
    routes.APPROVE_ACTION: ApproveAction,
    routes.RESET_ACTION: ResetAction,
}
LINES = list(curl_lines(API, header_file, JOB_ID, SAMPLE))


def asked(line: str) -> tuple[str, str, str | None]:
    """Method, template and body of a line, as a shell and curl would read it."""
    words = shlex.split(line)
    method, body = "GET", None
    for option, value in pairwise(words):
        if option == "-X":
            method = value
        if option == "-d":
            method, body = "POST", value
    path = words[-1].removeprefix(API).partition("?")[0]
    return method, path.replace(JOB_ID, "<job_id>").replace(quote(OPERATION, safe=""), "<operation_id>"), body


def test_there_is_one_line_for_each_route() -> None:
    """A route that nobody is shown would be a route that nobody tries."""
    assert sorted(asked(line)[:2] for line in LINES) == sorted((route.method, route.path) for route in ROUTES)
    assert all(line.startswith("curl ") for line in LINES)


def test_a_line_holds_what_its_route_needs_and_no_token() -> None:
    """The file of a token that opens it, a body that it takes, a key where one is needed."""
    for line in LINES:
        method, path, body = asked(line)
        (route,) = (one for one in ROUTES if (one.method, one.path) == (method, path))
        whose = None if route.scope is None else "operator" if route.scope is Scope.OPS else "acme"
        assert [name for name in ("acme", "operator") if f"-H @.local/{name}.header " in line] == (
            [whose] * bool(whose)
        )
        assert ("-H 'content-type: application/json'" in line) == (body is not None) == route.has_body
        assert ("-H 'idempotency-key: " in line) == route.needs_key
        if body is not None:
            BODIES[route].model_validate_json(body)


def test_the_job_is_erased_last() -> None:
    """Whoever pastes the lines in their order has seen the job before."""
    assert "-X DELETE" in LINES[-1]
