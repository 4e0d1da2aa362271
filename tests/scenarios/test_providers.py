"""The deployed worker speaks each provider's language: the same document by each API, and every format by one."""

from __future__ import annotations

import json
from typing import Any

import pytest

from onceward.adapters.dynamodb.row_codec import from_row
from onceward.local.model import STAND_IN_MODEL
from onceward.local.places import SAMPLE
from tests.scenarios.stack import DeployedStack
from tests.scenarios.witness import Witness
from tests.scenarios.worker_settings import told
from tests.support.contracts import misquoted, read_pages
from tests.support.documents import docxs, pdfs
from tests.support.model_server import ModelServer

pytestmark = pytest.mark.thorough

WORD = "application/vnd.openxmlformats-officedocument.wordprocessingml.document"
TEXT = "Service Agreement\n\nThe fee is EUR 1,200.50, due on 31 May 2026.\n\nDeposit: EUR 500"
HTML = "<title>Service Agreement</title><p>The fee is EUR 1,200.50, due on 31 May 2026.<p>Deposit: EUR 500"
DOCX = docxs.docx("Service Agreement", "The fee is EUR 1,200.50, due on 31 May 2026.", "Deposit: EUR 500")


def analysed(stack: DeployedStack, content: bytes, content_type: str, key: str) -> dict[str, Any]:
    """Upload a document and have it analysed: the job as it ended."""
    document_id = stack.upload(content, content_type=content_type)
    return stack.ended(stack.created("document.analyze", {"document_id": document_id}, key=key))


def test_a_document_is_analysed_alike_by_both_apis(stack: DeployedStack, witness: Witness, model: ModelServer) -> None:
    """One call each; the same analysis, usage and cost; the kind's own model by configuration, no deploy."""
    pdf = SAMPLE.read_bytes()
    by_chat = analysed(stack, pdf, "application/pdf", "by chat completions")
    claude = {"api": "anthropic", "url": model.base_url, "name": STAND_IN_MODEL}
    with told(witness, ONCEWARD_MODEL_BY_KIND=json.dumps({"document.analyze": claude})):
        by_messages = analysed(stack, pdf, "application/pdf", "by messages")
    first, second = model.requests()

    assert [job["status"] for job in (by_chat, by_messages)] == ["succeeded"] * 2, (by_chat, by_messages)
    assert ("anthropic-version" in first["headers"], "anthropic-version" in second["headers"]) == (False, True)
    assert by_messages["result"] == by_chat["result"]
    assert by_messages["provider_cost"] == by_chat["provider_cost"]
    assert misquoted(by_messages["result"], read_pages(pdf)) == []


def test_a_document_is_analysed_by_converse(stack: DeployedStack, witness: Witness, model: ModelServer) -> None:
    """By real boto3 from the bundle, at the endpoint of the kind's configuration: one signed request, an exact cost."""
    pdf = SAMPLE.read_bytes()
    bedrock = {"api": "bedrock", "url": model.url, "name": STAND_IN_MODEL}
    with told(witness, ONCEWARD_MODEL_BY_KIND=json.dumps({"document.analyze": bedrock})):
        job = analysed(stack, pdf, "application/pdf", "by converse")
    (seen,) = model.requests()

    assert job["status"] == "succeeded", job
    assert seen["headers"]["amz-sdk-request"].startswith("attempt=1")  # an older boto3 does not tell its maximum
    assert seen["authorised"]
    assert job["provider_cost"]["exact_micro_usd"] > 0
    assert misquoted(job["result"], read_pages(pdf)) == []


@pytest.mark.parametrize(
    ("content", "content_type"),
    [
        pytest.param(DOCX, WORD, id="docx"),
        pytest.param(HTML.encode(), "text/html", id="html"),
        pytest.param(TEXT.encode(), "text/markdown", id="markdown"),
        pytest.param(b"\xff\xfe" + TEXT.encode("utf-16-le"), "text/plain", id="text"),
    ],
)
def test_every_format_is_read_from_the_bundle(
    stack: DeployedStack, model: ModelServer, content: bytes, content_type: str
) -> None:
    """With the wheels that ship: sums found, each in its paragraph."""
    job = analysed(stack, content, content_type, f"format {content_type}")

    assert job["status"] == "succeeded", job
    assert (job["result"]["pages"], job["result"]["paragraphs"]) == (None, 3)
    sums = {(amount["amount"], amount["reference"]["paragraph"]) for amount in job["result"]["amounts"]}
    assert sums == {("1200.50", 2), ("500", 3)}


def test_a_document_that_cannot_be_read_costs_nothing(stack: DeployedStack, model: ModelServer) -> None:
    """A final reason with its own code, one attempt, no call, no cost, no charge."""
    job = analysed(stack, pdfs.encrypted("Secret.", "password"), "application/pdf", "locked")

    assert (job["status"], job["error"]["code"]) == ("failed", "document_encrypted")
    assert [attempt["outcome"] for attempt in job["attempts"]] == ["failed"]
    assert model.counts()["requests"] == 0
    assert job["provider_cost"]["exact_micro_usd"] == 0


def test_an_answer_of_another_shape_is_asked_for_once_more(stack: DeployedStack, model: ModelServer) -> None:
    """The second question is a step of its own in the same attempt; both calls are in the books."""
    model.behave(form="malformed_json", times=1)
    job = analysed(stack, SAMPLE.read_bytes(), "application/pdf", "asked again")

    assert job["status"] == "succeeded", job
    assert [attempt["outcome"] for attempt in job["attempts"]] == ["succeeded"]
    assert model.counts()["requests"] == 2
    assert set(from_row(stack.row(job["job_id"])).accepted) == {"analyze/1", "analyze-again/1"}
