"""The routes as a table: what each needs before any of its code runs.

Kept apart from the code behind them, so that one look shows which scope opens what. A test compares it with what the
resolver has registered, another with what the stack deploys.
"""

from __future__ import annotations

import re
from dataclasses import dataclass
from functools import cache

from onceward.errors import MethodNotAllowed, NotFound
from onceward.wire.scopes import Scope

JOBS = "/api/ai/jobs"
JOB_ID = "<job_id>"
JOB = f"/api/ai/jobs/{JOB_ID}"
CANCEL = f"/api/ai/jobs/{JOB_ID}/cancel"
HISTORY = f"/api/ai/jobs/{JOB_ID}/attempts"
REVIEWS = "/api/ai/reviews"
REVIEW = f"/api/ai/reviews/{JOB_ID}"
RESOLVE = f"/api/ai/reviews/{JOB_ID}/resolve"
DOCUMENTS = "/api/ai/documents"
ACCOUNT = "/api/ai/account"
ACTIONS = "/agent-actions"
OPERATION_ID = "<operation_id>"
ACTION = f"/agent-actions/{OPERATION_ID}"
APPROVE = f"/agent-actions/{OPERATION_ID}/approve"
RESET = f"/agent-actions/{OPERATION_ID}/reset"
HEALTH = "/health"
OPENAPI = "/openapi.json"


@dataclass(frozen=True, slots=True, kw_only=True)
class ApiRoute:
    """One method of one path; without a ``scope`` it is open to everybody.

    ``or_ops``: an operator may use it too, who decides on what is read there.
    """

    method: str
    path: str
    scope: Scope | None = None
    needs_key: bool = False
    has_body: bool = False
    has_query: bool = False
    may_conflict: bool = False
    or_ops: bool = False

    @property
    def scopes(self) -> tuple[Scope, ...]:
        """Those of which a caller needs one; empty: it is open to everybody."""
        own = () if self.scope is None else (self.scope,)
        return (*own, Scope.OPS) if self.or_ops else own

    def matches(self, path: str) -> bool:
        """Whether a request's path is of this shape."""
        return self._match(path) is not None

    def job_id_of(self, path: str) -> str | None:
        """What stands where a job's id belongs, in a path of this shape; ``None``: the route has none."""
        match = self._match(path)
        return match["job_id"] if match is not None and "job_id" in match.groupdict() else None

    def operation_id_of(self, path: str) -> str | None:
        """What stands where an operation's id belongs, as it was sent; ``None``: the route has none."""
        match = self._match(path)
        return match["operation_id"] if match is not None and "operation_id" in match.groupdict() else None

    @property
    def name(self) -> str:
        """Method and template: the path as it may be logged and hashed."""
        return f"{self.method} {self.path}"

    def _match(self, path: str) -> re.Match[str] | None:
        """The path, if it is of this shape."""
        return _shape_of(self.path).fullmatch(path)


@cache
def _shape_of(template: str) -> re.Pattern[str]:
    """What a template's paths look like: made once, since each request is compared with most of the routes."""
    return re.compile(re.sub(r"<(\w+)>", r"(?P<\1>[^/]+)", re.escape(template)))


UPLOAD = ApiRoute(method="POST", path=DOCUMENTS, scope=Scope.JOBS_WRITE, has_body=True)
CREATE_JOB = ApiRoute(method="POST", path=JOBS, scope=Scope.JOBS_WRITE, needs_key=True, has_body=True)
LIST_JOBS = ApiRoute(method="GET", path=JOBS, scope=Scope.JOBS_READ, has_query=True)
READ_JOB = ApiRoute(method="GET", path=JOB, scope=Scope.JOBS_READ, has_query=True)
CANCEL_JOB = ApiRoute(method="POST", path=CANCEL, scope=Scope.JOBS_WRITE)
ERASE_JOB = ApiRoute(method="DELETE", path=JOB, scope=Scope.JOBS_WRITE)
READ_ACCOUNT = ApiRoute(method="GET", path=ACCOUNT, scope=Scope.JOBS_READ)
READ_HISTORY = ApiRoute(method="GET", path=HISTORY, scope=Scope.JOBS_READ)
LIST_REVIEWS = ApiRoute(method="GET", path=REVIEWS, scope=Scope.OPS, has_query=True)
READ_REVIEW = ApiRoute(method="GET", path=REVIEW, scope=Scope.OPS)
RESOLVE_REVIEW = ApiRoute(method="POST", path=RESOLVE, scope=Scope.OPS, has_body=True, may_conflict=True)
READ_HEALTH = ApiRoute(method="GET", path=HEALTH)
READ_OPENAPI = ApiRoute(method="GET", path=OPENAPI)
PERFORM_ACTION = ApiRoute(method="POST", path=ACTIONS, scope=Scope.ACTIONS, may_conflict=True, has_body=True)
LIST_ACTIONS = ApiRoute(method="GET", path=ACTIONS, scope=Scope.ACTIONS, has_query=True, or_ops=True)
READ_ACTION = ApiRoute(method="GET", path=ACTION, scope=Scope.ACTIONS, has_query=True, or_ops=True)
APPROVE_ACTION = ApiRoute(method="POST", path=APPROVE, scope=Scope.OPS, may_conflict=True, has_body=True)
RESET_ACTION = ApiRoute(method="POST", path=RESET, scope=Scope.OPS, may_conflict=True, has_body=True)
ROUTES = (
    PERFORM_ACTION,
    LIST_ACTIONS,
    READ_ACTION,
    APPROVE_ACTION,
    RESET_ACTION,
    UPLOAD,
    CREATE_JOB,
    LIST_JOBS,
    READ_JOB,
    CANCEL_JOB,
    ERASE_JOB,
    READ_HISTORY,
    LIST_REVIEWS,
    READ_REVIEW,
    RESOLVE_REVIEW,
    READ_ACCOUNT,
    READ_HEALTH,
    READ_OPENAPI,
)


def allowed_methods(path: str) -> tuple[str, ...]:
    """The methods that a path answers; empty: there is no such path. Only open routes answer HEAD.

    A tenant's route cannot: the gateway has no authorizer on HEAD, so there is no identity to answer to.
    """
    found = [route for route in ROUTES if route.matches(path)]
    if not found:
        return ()
    head = ("HEAD",) if any(route.method == "GET" and route.scope is None for route in found) else ()
    return (*(route.method for route in found), *head, "OPTIONS")


def find_route(method: str, path: str) -> ApiRoute:
    """The route of a request; raises ``NotFound`` or ``MethodNotAllowed``."""
    wanted = "GET" if method == "HEAD" and "HEAD" in allowed_methods(path) else method
    for route in ROUTES:
        if route.method == wanted and route.matches(path):
            return route
    if allowed_methods(path):
        raise MethodNotAllowed("this route has no such method")
    raise NotFound("no such route")
