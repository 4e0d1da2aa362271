"""The OpenAPI document: what each operation tells about itself, and what is true of the whole API.

It is made from the code, so it cannot say what the code does not do; ``docs/openapi.json`` is the committed copy, and
a test holds the two together.
"""

from __future__ import annotations

import json
from collections.abc import Mapping
from functools import cache
from typing import Any

from aws_lambda_powertools.event_handler import APIGatewayHttpResolver
from aws_lambda_powertools.event_handler.openapi.models import HTTPBearer, SecurityScheme
from pydantic import BaseModel

from onceward.handlers.problems import INTERNAL, STATUS
from onceward.handlers.routes import ApiRoute
from onceward.wire.problem import MEDIA_TYPE, GatewayMessage, Problem

TITLE = "Onceward"
VERSION = "1"  # of the API, not of the package: it grows when a client has to change
SUMMARY = "Durable AI jobs: stored before the answer, run on any worker, accepted once, billed once."
BEARER = "bearer"
JSON = "application/json"
DESCRIBED = {200: "As asked.", 201: "Made.", 202: "Stored; it goes on by itself.", 204: "Done."}
EMPTY = "204"
THROTTLED = 429
# The gateway answers these too, in its own shape: it checks the token, the size and the rate before our code runs.
GATEWAYS = frozenset({401, 403, 413, THROTTLED, 500, 503})
# Powertools describes its own error bodies, which this API never answers.
UNUSED = ("HTTPValidationError", "ValidationError", "ResponseValidationError")


def operation(
    operation_id: str, summary: str, answers: Mapping[int, type[BaseModel] | None], route: ApiRoute
) -> dict[str, Any]:
    """What a route's registration says of it: its answers, the problems it may answer, its scope."""
    responses: dict[int, dict[str, Any]] = {
        status: {"description": DESCRIBED[status], **({} if model is None else {"content": {JSON: {"model": model}}})}
        for status, model in answers.items()
    }
    for status in _problems_of(route):
        responses[status] = _problem(status)
    security = [{BEARER: [str(scope)]} for scope in route.scopes]  # one of them is enough
    return {"operation_id": operation_id, "summary": summary, "responses": responses, "security": security}


def document_of(app: APIGatewayHttpResolver) -> str:
    """The document as JSON text."""
    schemes: dict[str, SecurityScheme] = {BEARER: HTTPBearer(bearerFormat="JWT")}
    schema = app.get_openapi_schema(title=TITLE, version=VERSION, description=SUMMARY, security_schemes=schemes)
    made: dict[str, Any] = json.loads(schema.model_dump_json(by_alias=True, exclude_none=True))
    for name in UNUSED:
        made["components"]["schemas"].pop(name, None)
    for operations in made["paths"].values():
        for described in operations.values():
            described["responses"] = {
                status: response for status, response in described["responses"].items() if not _is_unused(response)
            }
            described["responses"].get(EMPTY, {}).pop("content", None)  # Powertools describes a body for every status
    return json.dumps(made, indent=2, sort_keys=True) + "\n"


def _is_unused(response: object) -> bool:
    """Whether a response is one that Powertools adds for itself."""
    return any(f'/{name}"' in json.dumps(response) for name in UNUSED)


def _problem(status: int) -> dict[str, Any]:
    """One status with the codes that it may carry."""
    codes = sorted({error.code for error, answered in STATUS.items() if answered == status})
    content: dict[str, Any] = {}
    if codes or status == INTERNAL:
        content[MEDIA_TYPE] = {"model": Problem}
    if status in GATEWAYS:
        content[JSON] = {"model": GatewayMessage}
    described = ", ".join(f"`{code}`" for code in codes) or "Nothing that the request can change."
    return {"description": described, "content": content}


@cache
def _problems_of(route: ApiRoute) -> tuple[int, ...]:
    """The statuses of problems that a route may answer."""
    found = {INTERNAL, THROTTLED, 503}
    if route.scope is not None:
        found |= {401, 403}
    if route.has_body:
        found |= {400, 413, 415, 422}
    if route.has_query:
        found |= {422}
    if "<" in route.path:
        found |= {404}
    if route.needs_key:
        found |= {402, 409}
    if route.method == "DELETE" or route.may_conflict:
        found |= {409}
    if route.may_conflict:
        found |= {402}
    return tuple(sorted(found))
