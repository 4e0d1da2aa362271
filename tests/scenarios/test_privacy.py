"""Nothing of what clients send is in any log, queue or dead letter: looked for after all scenarios of the session.

Canaries are planted in everything that a client can send; beside them, every text that any test's job was given or
answered is looked for, and everything that looks like a token. ``conftest.py`` puts this module last.
"""

from __future__ import annotations

import json
import re
from collections.abc import Iterator, Mapping
from typing import Any

import httpx
import pytest

from onceward.domain.names import JobId
from onceward.domain.tracing import attempt_span
from tests.scenarios.stack import DeployedStack, until
from tests.support.documents.pdfs import plain
from tests.support.model_server import ModelServer

pytestmark = pytest.mark.last

TRACE = "4bf92f3577b34da6a3ce929d0e0e4736"
TRACEPARENT = f"00-{TRACE}-00f067aa0ba902b7-01"
CANARIES = {
    "prompt": "canary-prompt-5f1d",
    "document": "canary-document-8c2e",
    "key": "canary-key-user@example.org",
    "answer": "canary-answer-77aa",
    "broken body": "canary-broken-19be",
    "refused input": "canary-refused-4d0c",
    "header": "canary-header-2b6f",
    "query": "canary-query-90aa",
    "path": "canary-path-61c3",
}
UNREADABLE = "canary-message-3e57"  # in a message that names no job: kept as a dead letter for a person, never logged
NO_HEADERS: Mapping[str, str] = {}
SHORTEST = 12  # characters: what is shorter is found in any log by accident
TOKEN = re.compile(r"eyJ[A-Za-z0-9_-]{10,}\.[A-Za-z0-9_-]{10,}")


@pytest.fixture(scope="module")
def planted(stack: DeployedStack) -> str:
    """Send a canary by every way in; the id of a job that has ended."""
    model = stack.model
    model.reset()
    headers = {"traceparent": TRACEPARENT, "x-canary": CANARIES["header"]}
    job_id: str = send(stack, {"prompt": f"Repeat: {CANARIES['prompt']}."}, headers=headers).json()["job_id"]
    send(stack, {"prompt": 7, "more": CANARIES["refused input"]})
    stack.http.post("/api/ai/jobs", content=f'{{"{CANARIES["broken body"]}', headers=own_headers(stack))
    stack.http.get("/api/ai/jobs", params={"cursor": CANARIES["query"]}, headers=stack.headers())
    stack.http.get(f"/api/ai/jobs/{CANARIES['path']}", headers=stack.headers())
    stack.http.get("/api/ai/jobs", headers={"authorization": f"Bearer {stack.tokens['acme']}x"})
    document_id = stack.upload(plain([f"The buyer pays 5 dollars to {CANARIES['document']}."]))
    analysed = stack.created("document.analyze", {"document_id": document_id}, key=CANARIES["key"] + "2")
    stack.sqs.send_message(QueueUrl=stack.outputs["JobsQueueUrl"], MessageBody=f"not ours: {UNREADABLE}")
    answered = send(stack, {"prompt": f"Say {CANARIES['answer']}."}, kind="test.ask", number=3)
    for one in (job_id, analysed, answered.json()["job_id"]):
        stack.ended(one)
    return job_id


def own_headers(stack: DeployedStack, number: int = 1) -> dict[str, str]:
    """A token, and a key that somebody has put an address into."""
    return stack.headers(**{"idempotency-key": f"{CANARIES['key']}{number}", "content-type": "application/json"})


def send(
    stack: DeployedStack,
    given: Any,
    *,
    kind: str = "text.generate",
    number: int = 1,
    headers: Mapping[str, str] = NO_HEADERS,
) -> httpx.Response:
    """POST a job."""
    body = {"kind": kind, "input": given}
    return stack.http.post("/api/ai/jobs", json=body, headers={**own_headers(stack, number), **headers})


def with_word(stack: DeployedStack, word: str) -> list[str] | None:
    """The lines, once one of them has this word."""
    lines = stack.log_lines()
    return lines if any(word in line for line in lines) else None


def messages(stack: DeployedStack) -> Iterator[str]:
    """Whatever is in the queues, bodies and attributes; what is received is hidden until the last was seen."""
    for name in ("JobsQueueUrl", "DeadLettersQueueUrl"):
        url = stack.outputs[name]
        while received := stack.sqs.receive_message(
            QueueUrl=url, MaxNumberOfMessages=10, VisibilityTimeout=20, MessageAttributeNames=["All"]
        ).get("Messages", []):
            yield from (json.dumps([one["Body"], one.get("MessageAttributes", {})]) for one in received)


def texts(value: object) -> Iterator[str]:
    """Every text in a JSON value that is long enough to be looked for; JSON in a text is opened."""
    match value:
        case dict():
            for part in value.values():
                yield from texts(part)
        case list():
            for part in value:
                yield from texts(part)
        case str() if value[:1] in {"{", "["}:
            try:
                yield from texts(json.loads(value))
            except ValueError:
                yield value
        case str() if len(value) >= SHORTEST:
            yield value
        case _:
            return


def objects(stack: DeployedStack) -> Iterator[str]:
    """What is too large for an item: inputs, answers and results in the bucket."""
    s3, bucket = stack.aws("s3"), stack.outputs["Bucket"]
    for page in s3.get_paginator("list_objects_v2").paginate(Bucket=bucket, Prefix="jobs/"):
        for one in page.get("Contents", []):
            yield s3.get_object(Bucket=bucket, Key=one["Key"])["Body"].read().decode()


def contents(stack: DeployedStack) -> set[str]:
    """What all jobs of the session were given and answered."""
    bodies = [item["body"]["S"] for item in stack.items() if item["sk"]["S"] != "job" and "body" in item]
    bodies += objects(stack)
    known = {text for body in bodies for text in texts(body)}
    ids = re.compile(r"[A-Z2-7]{26}|documents/|onceward-stand-in|[0-9a-f]{64}|application/|[\w.-]+$")
    return {text for text in known if not ids.match(text)}


@pytest.mark.failure_mode("F86")
def test_no_log_line_holds_what_a_client_sent(stack: DeployedStack, planted: str) -> None:
    """Logs hold ids and hashes; of all jobs of all scenarios, no input and no answer."""
    lines = "\n".join(until(lambda: with_word(stack, "unreadable_message"), "all of it is logged"))
    kept = contents(stack)

    assert planted in lines
    assert "unreadable_message" in lines
    assert UNREADABLE not in lines
    assert len(kept) > 10
    assert [name for name, canary in CANARIES.items() if canary in lines] == []
    assert [text[:60] for text in kept if text in lines or json.dumps(text)[1:-1] in lines] == []
    assert TOKEN.search(lines) is None
    assert [name for name, token in stack.tokens.items() if token[-40:] in lines] == []


@pytest.mark.failure_mode("F86")
def test_no_message_holds_what_a_client_sent(stack: DeployedStack, planted: str) -> None:
    """Queue and dead letters name jobs; a body that nobody could read is kept for a person, and nothing else is."""
    held = "\n".join(messages(stack))

    assert [name for name, canary in CANARIES.items() if canary in held] == []
    assert [text[:60] for text in contents(stack) if text in held] == []
    assert TOKEN.search(held) is None


def test_one_trace_leads_from_the_request_to_the_attempt(stack: DeployedStack, planted: str) -> None:
    """The request's line, the job, the worker's line: one trace id, the attempt's own span id, the gateway's id."""

    def look() -> list[dict[str, Any]] | None:
        found = [json.loads(line) for line in stack.log_lines() if TRACE in line and line.startswith("{")]
        return found if {one["message"] for one in found} >= {"request", "delivery"} else None

    lines = until(look, "both lines are logged")
    requests = [line for line in lines if line["message"] == "request"]
    (delivery,) = [line for line in lines if line["message"] == "delivery"]

    assert {line["job_id"] for line in lines} == {planted}
    assert requests[0]["correlation_id"] == requests[0]["request_id"]
    assert delivery["span_id"] == attempt_span(JobId(planted), 1, 1)
    assert stack.row(planted)["tp"]["S"] == TRACEPARENT


def test_keys_are_stored_nowhere(stack: DeployedStack, planted: str, model: ModelServer) -> None:
    """ID-39: neither in the tables nor in what a provider is sent; a hash stands for them."""
    accounts = stack.dynamodb.scan(TableName=stack.outputs["AccountsTable"], ConsistentRead=True)["Items"]
    stored = repr(stack.items()) + repr(accounts)

    assert CANARIES["key"] not in stored
    assert "example.org" not in stored
