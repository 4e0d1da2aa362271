"""Where large content lives on the deployed stack, and that nothing of it is left when it has to go."""

from __future__ import annotations

from datetime import timedelta
from typing import Any

import httpx
import pytest

from onceward.adapters.dynamodb.row_codec import from_row
from onceward.domain.timing import JOB_LIFE
from tests.scenarios.stack import DeployedStack
from tests.scenarios.witness import Witness
from tests.support.documents import pdfs
from tests.support.model_server import ModelServer

pytestmark = pytest.mark.thorough

LONG_PROMPT = "The sea is deep. " * 400  # more than an item takes at create
LONG_ANSWER = "The sea is very deep indeed. " * 12_000  # more than an item takes at all


def objects(stack: DeployedStack, prefix: str) -> set[str]:
    """Every key below a prefix that has any version."""
    pages = (
        stack.aws("s3").get_paginator("list_object_versions").paginate(Bucket=stack.outputs["Bucket"], Prefix=prefix)
    )
    return {version["Key"] for page in pages for version in page.get("Versions", [])}


def erase(stack: DeployedStack, job_id: str, tenant: str = "acme") -> httpx.Response:
    """DELETE a job."""
    return stack.http.delete(f"/api/ai/jobs/{job_id}", headers=stack.headers(tenant))


def test_large_content_is_under_tenant_and_job_and_goes_with_an_erasure(
    stack: DeployedStack, model: ModelServer
) -> None:
    """Input, answer and result are objects while the job is kept; erased, no version of any is left, the books are."""
    model.behave(content=LONG_ANSWER)
    job_id = stack.created("test.long", {"prompt": LONG_PROMPT}, key="large content")
    job = stack.ended(job_id)
    place = f"jobs/acme/{job_id}/"

    assert job["status"] == "succeeded", job
    assert job["result"]["text"] == f"{LONG_ANSWER}."
    names = {key.removeprefix(place).partition("/")[0] for key in objects(stack, place)}
    assert {"input", "call", "result"} == names

    assert erase(stack, job_id, "globex").status_code == httpx.codes.NOT_FOUND
    assert len(objects(stack, place)) == 3
    assert erase(stack, job_id).is_success
    assert objects(stack, place) == set()
    after: dict[str, Any] = stack.get(job_id)
    assert after.get("result") is None
    assert (after["status"], after["provider_cost"]) == ("succeeded", job["provider_cost"])


def test_an_erasure_takes_the_job_s_own_document_with_it(stack: DeployedStack, model: ModelServer) -> None:
    """The upload, too, is content of the job."""
    document_id = stack.upload(pdfs.plain(["The fee is EUR 5, due on 31 May 2026."]))
    job_id = stack.created("document.analyze", {"document_id": document_id}, key="own document")
    assert stack.ended(job_id)["status"] == "succeeded"
    key = f"documents/acme/{document_id}"
    assert objects(stack, key) == {key}

    assert erase(stack, job_id).is_success
    assert objects(stack, key) == set()


def test_a_document_deleted_under_a_waiting_job_ends_it_for_good(
    stack: DeployedStack, witness: Witness, model: ModelServer
) -> None:
    """Its own code, one attempt, no call; what was reserved is there again."""
    tenant = witness.tenant
    before = witness.account
    document_id = stack.upload(pdfs.plain(["Gone before it is read."]), tenant=tenant)
    with stack.queue_closed():
        job_id = stack.created("document.analyze", {"document_id": document_id}, key="gone", tenant=tenant)
        bucket, key = stack.outputs["Bucket"], f"documents/{tenant}/{document_id}"
        for version in stack.aws("s3").list_object_versions(Bucket=bucket, Prefix=key)["Versions"]:
            stack.aws("s3").delete_object(Bucket=bucket, Key=key, VersionId=version["VersionId"])
        assert witness.account.reserved > before.reserved
    job = stack.ended(job_id, tenant=tenant)

    assert (job["status"], job["error"]["code"]) == ("failed", "document_gone")
    assert [attempt["outcome"] for attempt in job["attempts"]] == ["failed"]
    assert model.counts()["requests"] == 0
    assert witness.account == before


def test_every_item_of_a_job_expires_with_its_row(stack: DeployedStack, model: ModelServer) -> None:
    """Each is born with the same end. The local cloud keeps neither TTL nor bucket rules: those the template shows."""
    job_id = stack.created("text.generate", {"prompt": "How long?"}, key="how long")
    assert stack.ended(job_id)["status"] == "succeeded"
    row = from_row(stack.row(job_id))
    items = stack.items(job_id[:26])

    assert abs(row.expires_at - row.created_at - JOB_LIFE) < timedelta(seconds=1)
    assert len(items) >= 3
    assert len({item["expires_at"]["N"] for item in items}) == 1
