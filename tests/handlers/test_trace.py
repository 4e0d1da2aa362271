"""One trace from the request over the job and its message to the worker's lines."""

from __future__ import annotations

import json

import pytest

from onceward.domain.tracing import attempt_span, read_traceparent, trace_id_of
from onceward.handlers.batches import Record, handle_batch
from onceward.wire.messages import wakeup_body
from tests.support.api_world import ApiWorld, an_event, ask, claims_of, create
from tests.support.builders import JOB_ID, TENANT
from tests.support.worker_world import WorkerWorld

BODY = '{"kind": "text.generate", "input": {"prompt": "hello"}}'
TRACE = "4bf92f3577b34da6a3ce929d0e0e4736"
GOOD = f"00-{TRACE}-00f067aa0ba902b7-01"


def create_with(world: ApiWorld, traceparent: str) -> None:
    """Ask for a job within a trace."""
    headers = {"idempotency-key": "k", "traceparent": traceparent}
    ask(world.api(), an_event("POST", "/api/ai/jobs", body=BODY, headers=headers, claims=claims_of()))


def a_record(traceparent: str | None) -> Record:
    """A wake-up as Lambda hands it over."""
    attributes = {} if traceparent is None else {"traceparent": {"stringValue": traceparent, "dataType": "String"}}
    return Record.of(
        {
            "messageId": "message-1",
            "receiptHandle": "receipt-1",
            "body": wakeup_body(TENANT, JOB_ID),
            "attributes": {"ApproximateReceiveCount": "1"},
            "messageAttributes": attributes,
        }
    )


def test_callers_trace_goes_along() -> None:
    """A W3C traceparent reaches row, message and log line as it came."""
    world = ApiWorld()
    create_with(world, GOOD)
    (delivery,) = world.queue.receive()
    (row,) = world.store.rows.values()

    assert delivery.traceparent == row.traceparent == GOOD
    assert world.lines[0]["trace_id"] == TRACE


@pytest.mark.parametrize("sent", ["garbage", "", "00-" + "0" * 32 + "-00f067aa0ba902b7-01"])
def test_trace_is_begun_where_none_came(sent: str) -> None:
    """Absent or malformed, never refused: the job, its message and its line have a trace of their own."""
    world = ApiWorld()
    create_with(world, sent)
    (delivery,) = world.queue.receive()

    assert delivery.traceparent == read_traceparent(delivery.traceparent) is not None
    assert world.lines[0]["trace_id"] == trace_id_of(delivery.traceparent)


def test_lines_of_a_request_carry_its_ids() -> None:
    """The gateway's id, Lambda's id, the job and its trace, in one line; a replay names the same job and trace."""
    world = ApiWorld()
    api = world.api()
    job_id = create(api).json["job_id"]
    create(api)
    first, second = world.lines

    assert first["correlation_id"] == first["request_id"] == "request-1"
    assert first["function_request_id"] == "lambda-request"
    assert first["job_id"] == second["job_id"] == job_id
    assert first["trace_id"] == second["trace_id"]
    assert [first["is_replay"], second["is_replay"]] == [False, True]


@pytest.mark.anyio
async def test_worker_s_line_carries_the_trace_and_the_attempts_span() -> None:
    """By the row, which is the truth, and without one by the message."""
    world = WorkerWorld()
    await world.create(traceparent=GOOD)
    (ran,) = await handle_batch(world.deps(), [a_record(GOOD)], 900)
    (again,) = await handle_batch(world.deps(), [a_record(None)], 900)

    assert (ran.facts["trace_id"], ran.facts["span_id"]) == (TRACE, attempt_span(JOB_ID, 1, 1))
    assert again.facts["trace_id"] == TRACE
    assert json.dumps(ran.facts)


@pytest.mark.anyio
async def test_line_of_a_job_that_is_gone_still_has_the_messages_trace() -> None:
    """And one whose message has none, or none that can be read, says so."""
    world = WorkerWorld()
    (told,) = await handle_batch(world.deps(), [a_record(GOOD)], 900)
    (untold,) = await handle_batch(world.deps(), [a_record("garbage")], 900)

    assert (told.facts["trace_id"], untold.facts["trace_id"]) == (TRACE, None)
