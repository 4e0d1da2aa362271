"""What is asked of a request before any route sees it, in the order of the design: who, key, body.

The bytes are read here, before Powertools parses them: it would take NaN and members of one name, and answer broken
JSON as if it broke a model. What leaves here is a request whose text can be trusted to mean one thing.
"""

from __future__ import annotations

import base64
import binascii
import re
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any
from urllib.parse import unquote

from onceward.domain.names import is_job_id
from onceward.domain.tracing import read_traceparent
from onceward.errors import MalformedJson, OncewardError, UnsupportedMedia
from onceward.handlers.identity import Principal, read_principal
from onceward.handlers.routes import JOB_ID, OPERATION_ID, ApiRoute, find_route
from onceward.handlers.settings import ApiSettings
from onceward.wire.idempotency_key import HEADER, read_key
from onceward.wire.ijson import read_json
from onceward.wire.requests import OPERATION_ID as OPERATION_PATTERN

JSON = "application/json"
NO_JOB = "none"  # stands for any id that can be none: no job has it, and the resolver takes it
ADMITTED = "admitted"  # where the resolver's context holds the request that was let in


@dataclass(frozen=True, slots=True, kw_only=True)
class Admitted:
    """A request that may go on: ``caller`` on tenants' routes, ``key`` where one is needed.

    ``notes`` are what the route adds to the request's log line: ids and flags only.
    """

    route: ApiRoute
    event: Mapping[str, Any]
    caller: Principal | None
    key: str | None
    traceparent: str | None
    operation_id: str | None = None
    notes: dict[str, str | bool] = field(default_factory=dict)

    @property
    def principal(self) -> Principal:
        """The caller; only a tenant's route asks."""
        if self.caller is None:
            raise OncewardError("an open route asked who is calling")
        return self.caller


def method_of(event: Mapping[str, Any]) -> str:
    """The request's method."""
    return str(event["requestContext"]["http"]["method"]).upper()


def path_of(event: Mapping[str, Any]) -> str:
    """The request's path, without the stage's name."""
    stage = event["requestContext"].get("stage", "$default")
    path = str(event.get("rawPath", ""))
    return path if stage == "$default" else path.removeprefix(f"/{stage}")


def request_id_of(event: Mapping[str, Any]) -> str:
    """The gateway's id of the request: in its access log and in the client's ``apigw-requestid`` too."""
    return str(event["requestContext"].get("requestId", ""))


def admit(event: Mapping[str, Any], settings: ApiSettings) -> Admitted:
    """Check a request in the design's order; raises the first error."""
    route = find_route(method_of(event), path_of(event))
    headers = {str(name).lower(): str(value) for name, value in (event.get("headers") or {}).items()}
    caller = None
    if route.scopes:
        caller = read_principal(
            event, tenant_claim=settings.tenant_claim, scope_claim=settings.scope_claim, needed=route.scopes
        )
    key = read_key(headers.get(HEADER)) if route.needs_key else None
    return Admitted(
        route=route,
        event=_readable(event, headers, route),
        caller=caller,
        key=key,
        traceparent=read_traceparent(headers.get("traceparent")),
        operation_id=_operation_id(event, route),
    )


def _readable(event: Mapping[str, Any], headers: dict[str, str], route: ApiRoute) -> dict[str, Any]:
    """The event as the resolver shall see it: HEAD as GET, and a body that was read as I-JSON, as text."""
    http = {**event["requestContext"]["http"], "method": route.method}
    plain = {**event, "headers": headers, "requestContext": {**event["requestContext"], "http": http}}
    plain |= {"rawPath": _plain_path(event, route)}
    if not route.has_body:
        return {**plain, "body": None, "isBase64Encoded": False}
    if headers.setdefault("content-type", JSON).partition(";")[0].strip().lower() != JSON:
        raise UnsupportedMedia("send application/json")
    headers["content-type"] = JSON
    raw = _raw_body(event)
    read_json(raw)
    return {**plain, "body": raw.decode(), "isBase64Encoded": False}


def _plain_path(event: Mapping[str, Any], route: ApiRoute) -> str:
    """The path as the resolver shall see it.

    Its patterns lack some characters and ignore a line's end: an id of those would be no route, or the job before it.
    """
    asked = route.job_id_of(path_of(event))
    path = str(event["rawPath"])
    if OPERATION_ID in route.path:
        return route.path.replace(OPERATION_ID, NO_JOB)  # the route reads it from ``Admitted``
    return path if asked is None or is_job_id(asked) else route.path.replace(JOB_ID, NO_JOB)


def _operation_id(event: Mapping[str, Any], route: ApiRoute) -> str | None:
    """The operation that a path names; ``None``: it names none that can be. The gateway may have decoded it already."""
    asked = route.operation_id_of(path_of(event))
    told = None if asked is None else unquote(asked)
    return told if told is not None and re.fullmatch(OPERATION_PATTERN, told) else None


def _raw_body(event: Mapping[str, Any]) -> bytes:
    """The body's bytes; half a surrogate pair, which no UTF-8 spells, stays visible to the reader."""
    body = event.get("body") or ""
    if not event.get("isBase64Encoded"):
        return str(body).encode("utf-8", "surrogatepass")
    try:
        return base64.b64decode(body, validate=True)
    except (binascii.Error, ValueError):
        raise MalformedJson("the body cannot be read") from None
