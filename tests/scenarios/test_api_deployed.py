"""Waiting, listing, uploading and the open routes, as the deployed gateway and function answer them."""

from __future__ import annotations

import time
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from hashlib import sha256
from pathlib import Path

import httpx
import pytest

from onceward.client import ApiError, Onceward
from onceward.domain.names import TenantId
from onceward.local.server import NO_TLS
from tests.scenarios.customers import quiet_afterwards, with_tenants
from tests.scenarios.stack import DeployedStack, until
from tests.scenarios.witness import Witness
from tests.support.model_server import ModelServer

__all__ = ["quiet_afterwards"]

OPENAPI = Path(__file__).parents[2] / "docs" / "openapi.json"
TENANT = TenantId("reader")
LONGEST_WAIT = 25
ABSENT = "A" * 26 + "-" + "B" * 8


@pytest.fixture(scope="module")
def own(stack: DeployedStack) -> Witness:
    """A tenant of this module's own."""
    return Witness(stack=with_tenants(stack, TENANT), tenant=TENANT)


def made(own: Witness, kind: str, prompt: str, key: str) -> str:
    """POST a job; its id."""
    return own.stack.created(kind, {"prompt": prompt}, key=key, tenant=TENANT)


@pytest.fixture
def client(own: Witness) -> Iterator[Onceward]:
    """The SDK as that tenant; nothing is retried."""
    with httpx.Client(trust_env=False, verify=NO_TLS) as direct:
        token = own.stack.tokens[TENANT]
        yield Onceward(str(own.stack.http.base_url), token, http_client=direct, max_retries=0)


def test_wait_ends_with_the_job_and_not_with_its_time(own: Witness, model: ModelServer) -> None:
    """Both ways to ask for a wait; the answer is the end, with its result, long before the 25 s are over."""
    model.behave(hold="waits")
    job_id = made(own, "test.ask", "Wait for it.", "waited for")
    model.wait_for(held=1)
    path, headers = f"/api/ai/jobs/{job_id}", own.stack.headers(TENANT)
    with ThreadPoolExecutor(2) as pool:
        began = time.monotonic()
        asked = pool.submit(own.stack.http.get, path, params={"wait": LONGEST_WAIT}, headers=headers)
        preferred = pool.submit(own.stack.http.get, path, headers={**headers, "prefer": f"wait={LONGEST_WAIT}"})
        model.release()
        answers = [asked.result(), preferred.result()]
        took = time.monotonic() - began

    assert [answer.json()["status"] for answer in answers] == ["succeeded"] * 2
    assert answers[0].json()["result"] is not None
    assert answers[1].headers["preference-applied"] == f"wait={LONGEST_WAIT}"
    assert "retry-after" not in answers[0].headers
    assert took < LONGEST_WAIT


def test_list_is_the_tenants_own_newest_first(own: Witness) -> None:
    """Page by page, by state and kind."""
    first = made(own, "test.ask", "The first of two.", "listed 1")
    second = made(own, "test.ask", "The second of two.", "listed 2")
    headers = own.stack.headers(TENANT)

    def page(**query: str | int) -> dict[str, object]:
        shown: dict[str, object] = own.stack.http.get("/api/ai/jobs", params=query, headers=headers).json()
        return shown

    newest = page(limit=1, kind="test.ask")
    older = page(limit=1, kind="test.ask", cursor=str(newest["next_cursor"]))
    ids = [job["job_id"] for one in (newest, older) for job in one["jobs"]]  # type: ignore[attr-defined]

    assert ids == [second, first]
    assert page(kind="no.such") == {"jobs": [], "next_cursor": None}


def test_form_takes_its_document_and_no_other_size_or_type(stack: DeployedStack) -> None:
    """The key is below the tenant's prefix; what the local bucket does not check is held by the port's contract."""
    right = b"%PDF-1.7 right"
    wish = {"content_type": "application/pdf", "size": len(right), "sha256": sha256(right).hexdigest()}
    form = stack.http.post("/api/ai/documents", json=wish, headers=stack.headers()).json()

    def upload(content: bytes, fields: dict[str, str] = form["fields"]) -> bool:
        files = {"file": ("document", content, "application/pdf")}
        return httpx.post(form["url"], data=fields, files=files, trust_env=False, verify=NO_TLS).is_success

    assert form["fields"]["key"].startswith("documents/acme/")
    assert not upload(right + b" and more")
    assert not upload(right, {**form["fields"], "Content-Type": "text/html"})
    assert not upload(right, {**form["fields"], "key": "documents/globex/" + "A" * 26})
    assert upload(right)
    stored = stack.aws("s3").get_object(Bucket=stack.outputs["Bucket"], Key=form["fields"]["key"])["Body"].read()
    assert stored == right


def test_gateways_own_words_are_understood_by_the_client(own: Witness, client: Onceward) -> None:
    """401 before our code is asked; the same code as from our own problem documents."""
    spoilt = Onceward(
        str(own.stack.http.base_url), "not.a.token", max_retries=0, http_client=httpx.Client(trust_env=False)
    )
    with spoilt, pytest.raises(ApiError) as refused:
        spoilt.jobs.get("A" * 26 + "-" + "B" * 8)

    assert (refused.value.status, refused.value.code) == (401, "unauthorized")
    with pytest.raises(ApiError) as absent:
        client.jobs.get(ABSENT)
    assert (absent.value.status, absent.value.code) == (404, "job_not_found")
    assert absent.value.request_id


@pytest.mark.parametrize(
    ("method", "path", "status", "allow"),
    [
        ("HEAD", "/health", 200, None),
        ("HEAD", "/openapi.json", 200, None),
        ("PUT", "/api/ai/jobs", 405, "POST, GET, OPTIONS"),
        ("HEAD", "/api/ai/jobs", 405, "POST, GET, OPTIONS"),
        ("GET", "/swagger", 404, None),
        ("GET", "/api/ai", 404, None),
    ],
)
def test_methods_and_paths_beside_the_routes(
    stack: DeployedStack, method: str, path: str, status: int, allow: str | None
) -> None:
    """What probes and typos ask for, without a token. OPTIONS is the local gateway's own: it never asks our code."""
    answer = stack.http.request(method, path)

    assert (answer.status_code, answer.headers.get("allow")) == (status, allow)
    assert method != "HEAD" or not answer.content
    assert status < 400 or method == "HEAD" or answer.headers["content-type"] == "application/problem+json"


def test_deployed_description_is_the_committed_one(stack: DeployedStack) -> None:
    """What a client generates code from is what answers."""
    until(lambda: stack.http.get("/health").json() == {"status": "ok"} or None, "the API is there")

    assert stack.http.get("/openapi.json").text == OPENAPI.read_text(encoding="utf-8")
