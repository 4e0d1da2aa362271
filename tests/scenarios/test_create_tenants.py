"""A foreign id answers as an absent one, over every route of the deployed API (invariant 9)."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import Any

import httpx
import pytest

from onceward.handlers import routes
from onceward.handlers.routes import JOB_ID, ROUTES, ApiRoute
from onceward.wire.scopes import Scope
from tests.scenarios.customers import quiet_afterwards, token_of
from tests.scenarios.stack import DeployedStack

__all__ = ["quiet_afterwards"]

OWNER, STRANGER = "acme", "globex"
VARYING = {"date", "apigw-requestid", "x-amzn-requestid", "connection", "server"}
ABSENT_JOB = "A" * 26 + "-" + "B" * 8
ABSENT_DOCUMENT = "A" * 26
BODIES = {routes.RESOLVE_REVIEW: {"verdict": "fail", "epoch": 1, "why": "not mine"}}
MATRIX = [
    *((route, "") for route in ROUTES if JOB_ID in route.path),
    (routes.READ_JOB, "?wait=1"),
]


@dataclass(frozen=True, slots=True)
class Owned:
    """What the owner has: a job that has ended, one that nobody has begun, a document, a cursor of its list."""

    ended: str
    queued: str
    document: str
    cursor: str


@pytest.fixture(scope="module")
def owned(stack: DeployedStack) -> Iterator[Owned]:
    """Make all of it; no message is delivered meanwhile, so only a test could change the queued job."""
    document = stack.upload(b"%PDF-1.7 of the owner", tenant=OWNER)
    ended = stack.created("text.generate", {"prompt": "The owner's."}, key="owned", tenant=OWNER)
    stack.ended(ended, tenant=OWNER)
    with stack.queue_closed():
        queued = stack.created("text.generate", {"prompt": "The owner's second."}, key="owned too", tenant=OWNER)
        page = stack.http.get("/api/ai/jobs", params={"limit": 1}, headers=stack.headers(OWNER)).json()
        yield Owned(ended, queued, document, page["next_cursor"])


@pytest.fixture(scope="module")
def stranger(stack: DeployedStack) -> dict[str, str]:
    """A verified identity of another tenant that lacks no scope."""
    return {"authorization": f"Bearer {token_of(stack, STRANGER, tuple(Scope))}"}


def told(answer: httpx.Response) -> tuple[int, Mapping[str, str], Any]:
    """What an answer tells, without the ids of the request itself."""
    headers = {name: value for name, value in answer.headers.items() if name not in VARYING}
    body = answer.json() if answer.content else None
    return answer.status_code, headers, {**body, "request_id": None} if isinstance(body, dict) else body


@pytest.mark.failure_mode("F81")
@pytest.mark.parametrize("job", ["ended", "queued"])
@pytest.mark.parametrize(("route", "query"), MATRIX, ids=lambda value: getattr(value, "name", value))
def test_foreign_job_answers_as_an_absent_one(
    stack: DeployedStack, owned: Owned, stranger: dict[str, str], route: ApiRoute, query: str, job: str
) -> None:
    """Byte for byte, but for the request's id; and the owner's job stays as it is, also one that could be cancelled."""
    job_id = getattr(owned, job)
    before = stack.row(job_id)
    foreign, absent, malformed = (
        told(
            stack.http.request(
                route.method, route.path.replace(JOB_ID, one) + query, json=BODIES.get(route), headers=stranger
            )
        )
        for one in (job_id, ABSENT_JOB, "no-job-id")
    )

    assert foreign == absent == malformed
    assert (foreign[0], foreign[2]["code"]) == (404, "job_not_found")
    assert stack.row(job_id) == before


def test_foreign_document_answers_as_an_absent_one(stack: DeployedStack, owned: Owned) -> None:
    """A create that names it is refused with the same words, and nothing is stored under the key."""
    foreign, absent = (
        told(stack.create("document.analyze", {"document_id": one}, key="foreign document", tenant=STRANGER))
        for one in (owned.document, ABSENT_DOCUMENT)
    )

    assert foreign == absent
    assert (foreign[0], foreign[2]["code"]) == (422, "unknown_document")


def test_foreign_cursor_answers_as_no_cursor_of_ours(stack: DeployedStack, owned: Owned) -> None:
    """And a list shows its own tenant's jobs alone."""
    headers = stack.headers(STRANGER)
    foreign, invented = (
        told(stack.http.get("/api/ai/jobs", params={"cursor": one}, headers=headers))
        for one in (owned.cursor, "invented")
    )
    listed = stack.http.get("/api/ai/jobs", params={"limit": 100}, headers=headers).json()["jobs"]

    assert foreign == invented
    assert foreign[0] == 422
    assert owned.ended not in {job["job_id"] for job in listed}


def test_key_of_another_tenant_is_a_free_one(stack: DeployedStack, owned: Owned) -> None:
    """The same key and body make a job of one's own; another body is no conflict with a stranger's job."""
    mine = stack.create("text.generate", {"prompt": "Not the owner's."}, key="owned", tenant=STRANGER)

    assert (mine.status_code, "idempotent-replayed" in mine.headers) == (202, False)
    assert mine.json()["job_id"] != owned.ended
