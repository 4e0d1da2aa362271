"""Write one ``curl`` line for each route of the running API."""

import hashlib
import json
import os
from collections.abc import Callable, Iterator, Mapping
from pathlib import Path
from urllib.parse import quote

from onceward.handlers import routes
from onceward.handlers.routes import JOB_ID, OPERATION_ID, ROUTES, ApiRoute
from onceward.local.places import ROOT
from onceward.wire.scopes import Scope

JOB = {"kind": "text.generate", "input": {"prompt": "Say hello."}}
OPERATION, RUN = "ticket-481:create-task:v1", "run-1"  # as README and docs/actions.md ask for it: one task for all
ACTION = {
    "operation_id": OPERATION,
    "run_id": RUN,
    "attempt": 1,
    "action": "create_task",
    "arguments": {"source_ticket": "481", "title": "Check the invoice"},
}
APPROVAL = {"fingerprint": "0" * 64, "why": "tried from the list"}
RESET = {"epoch": 1, "why": "tried from the list"}
VERDICT = {"verdict": "fail", "epoch": 1, "why": "tried from the list"}


def curl_lines(api_url: str, header_of: Callable[[str], Path], job_id: str, sample: Path) -> Iterator[str]:
    """Yield the lines, the one that erases the job last; ``header_of``: the file with somebody's token.

    So they stay short and hold no secret. A route with a body has its example here.
    """
    bodies: dict[ApiRoute, Mapping[str, object]] = {
        routes.UPLOAD: described(sample),
        routes.CREATE_JOB: JOB,
        routes.RESOLVE_REVIEW: VERDICT,
        routes.PERFORM_ACTION: ACTION,
        routes.APPROVE_ACTION: APPROVAL,
        routes.RESET_ACTION: RESET,
    }
    for route in sorted(ROUTES, key=lambda route: route.method == "DELETE"):
        path = route.path.replace(JOB_ID, job_id).replace(OPERATION_ID, quote(OPERATION, safe=""))
        path += f"?run_id={RUN}" if route is routes.LIST_ACTIONS else ""
        yield " ".join(["curl", *options(route, header_of, bodies), f"'{api_url}{path}'"])


def options(
    route: ApiRoute, header_of: Callable[[str], Path], bodies: Mapping[ApiRoute, Mapping[str, object]]
) -> Iterator[str]:
    """Yield what a route needs beside its address: a token, a key, a body, a method that curl would not choose."""
    if route.scope is not None:
        whose = header_of("operator" if route.scope is Scope.OPS else "acme")
        yield f"-H @{os.path.relpath(whose, ROOT)}"
    if route.needs_key:
        yield "-H 'idempotency-key: hello-1'"
    if route.has_body:
        yield f"-H 'content-type: application/json' -d '{json.dumps(bodies.get(route, {}))}'"
    elif route.method != "GET":
        yield f"-X {route.method}"


def described(sample: Path) -> dict[str, object]:
    """Describe a file as its upload form wants it."""
    content = sample.read_bytes()
    return {"content_type": "application/pdf", "size": len(content), "sha256": hashlib.sha256(content).hexdigest()}
