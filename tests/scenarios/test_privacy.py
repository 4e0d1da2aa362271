"""What clients send stands where it is meant to stand, and nowhere else: looked for after all scenarios of the session.

Canaries are planted in everything that a client can send, and in the model's key; beside them, every text that any
test's job was given or answered is looked for, and everything that looks like a token: in all logs, metrics, queues,
tables and objects. ``conftest.py`` puts this module last.
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
from tests.scenarios.models import MODEL_KEY
from tests.scenarios.stack import DeployedStack, until
from tests.scenarios.whereabouts import in_metrics, in_queues, in_tables, objects, own_series, sightings
from tests.support.documents.pdfs import plain

pytestmark = pytest.mark.last

CONTENT = {"input", "answer", "result"}  # the items that hold content, by docs/security.md: "What is stored where"
DIMENSIONS = {"stage", "service", "model"}
TRACE = "4bf92f3577b34da6a3ce929d0e0e4736"
TRACEPARENT = f"00-{TRACE}-00f067aa0ba902b7-01"
CANARIES = {
    "prompt": "canary-prompt-5f1d",
    "document": "canary-document-8c2e",
    "key": "canary-key-user@example.org",
    "answer": "canary-answer-77aa",
    "letter": "canary-letter-b1d0",
    "broken body": "canary-broken-19be",
    "refused input": "canary-refused-4d0c",
    "header": "canary-header-2b6f",
    "query": "canary-query-90aa",
    "path": "canary-path-61c3",
}
KEPT = {"prompt", "document", "answer", "letter"}  # of all canaries these alone, in inputs, answers and results
UNREADABLE = "canary-message-3e57"  # in a message that names no job: kept as a dead letter for a person, never logged
NO_HEADERS: Mapping[str, str] = {}
SHORTEST = 12  # characters: what is shorter is found in any log by accident
JOB_ID = re.compile(r"[A-Z2-7]{26}")
TOKEN = re.compile(r"eyJ[A-Za-z0-9_-]{10,}\.[A-Za-z0-9_-]{10,}")


@pytest.fixture(scope="module")
def planted(stack: DeployedStack) -> str:
    """Send a canary by every way in; the id of a job that has ended."""
    model = stack.model
    model.reset()
    model.behave(text=CANARIES["letter"], status=500)
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
    dead = send(stack, {"prompt": CANARIES["letter"]}, kind="test.ask", number=4)
    for one in (job_id, analysed, answered.json()["job_id"], dead.json()["job_id"]):
        stack.ended(one)
    assert any(one["authorised"] for one in model.requests())  # the key was read, and used
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


def secrets(stack: DeployedStack) -> list[str]:
    """What is to stand nowhere: idempotency keys, the model's key, the clients' tokens by their signatures."""
    return [CANARIES["key"], "example.org", MODEL_KEY, *(token[-40:] for token in stack.tokens.values())]


def with_word(stack: DeployedStack, word: str) -> list[str] | None:
    """The lines, once one of them has this word."""
    lines = stack.log_lines()
    return lines if any(word in line for line in lines) else None


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


def contents(stack: DeployedStack) -> set[str]:
    """What all jobs of the session were given and answered."""
    items = [item for item in stack.items() if "body" in item and item["item"]["S"] in CONTENT]
    bodies = [item["body"]["S"] for item in items]
    bodies += [body for _, body in objects(stack)]
    known = {text for body in bodies for text in texts(body)}
    ids = re.compile(rf"{JOB_ID.pattern}|documents/|onceward-stand-in|[0-9a-f]{64}|application/|[\w.-]+$")
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
    assert sightings({"log": lines}, [*CANARIES.values(), *kept, *secrets(stack)]) == []
    assert TOKEN.search(lines) is None


@pytest.mark.failure_mode("F86")
def test_no_message_holds_what_a_client_sent(stack: DeployedStack, planted: str) -> None:
    """Queue and dead letters name jobs; a body that nobody could read is kept for a person, and nothing else is."""
    jobs, letters = (stack.outputs[name].rpartition("/")[2] for name in ("JobsQueueUrl", "DeadLettersQueueUrl"))
    until(lambda: UNREADABLE in in_queues(stack)[letters] or None, "the unreadable one is kept")
    with stack.queue_closed():
        job_id = send(stack, {"prompt": CANARIES["prompt"]}, number=5).json()["job_id"]
        held = in_queues(stack)

    assert job_id in held[jobs]
    assert '"job_id"' in held[letters]
    assert sightings(held, [*CANARIES.values(), *contents(stack), *secrets(stack)]) == []
    assert TOKEN.search("".join(held.values())) is None


@pytest.mark.failure_mode("F86")
def test_no_metric_holds_what_a_client_sent(stack: DeployedStack, planted: str) -> None:
    """Dimensions are few and closed: no tenant, no job, no input; nor does CloudWatch know any other."""
    held, written = in_metrics(stack), own_series(stack)
    values = {value for _, _, dimensions in written for _, value in dimensions}

    assert {name for _, _, dimensions in written for name, _ in dimensions} == DIMENSIONS
    assert values.isdisjoint(stack.tokens)
    assert JOB_ID.search(json.dumps(sorted(values))) is None
    assert sightings(held, [*CANARIES.values(), *contents(stack), *secrets(stack)]) == []
    assert TOKEN.search("".join(held.values())) is None


@pytest.mark.failure_mode("F86")
def test_tables_hold_content_in_inputs_answers_and_results_only(stack: DeployedStack, planted: str) -> None:
    """Rows, attempts, reviews, words, books, flights: none holds what a job was given or answered."""
    held = in_tables(stack)
    kept = {place: text for place, text in held.items() if place in CONTENT}
    others = {place: text for place, text in held.items() if place not in CONTENT}

    assert others.keys() > {"job", "attempt", "account", "entry", "client"}
    assert {name for name in CANARIES if sightings(kept, [CANARIES[name]])} == KEPT
    assert sightings(others, [*CANARIES.values(), *contents(stack)]) == []


def test_keys_and_tokens_are_stored_nowhere(stack: DeployedStack, planted: str) -> None:
    """ID-39, and the model's key: not even beside content; a hash stands for an idempotency key."""
    held = {**in_tables(stack), "objects": json.dumps(list(objects(stack)))}

    assert held.keys() > CONTENT
    assert sightings(held, secrets(stack)) == []
    assert TOKEN.search("".join(held.values())) is None


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
