"""What a response object means; PR-… name real-world cases."""

from __future__ import annotations

import json
from typing import Any

import pytest

from onceward.domain.names import DownstreamKey
from onceward.domain.recovery import PollReply
from onceward.errors import CallFailure, Usage
from onceward.providers.http import HttpReply
from onceward.providers.responses_answer import read_response, reference_of
from onceward.providers.responses_request import body_of
from onceward.usecases.ports import ModelReply, ModelRequest

MESSAGE = {"type": "message", "role": "assistant", "content": [{"type": "output_text", "text": "yes"}]}
CUT, FILTERED = {"reason": "max_output_tokens"}, {"reason": "content_filter"}
USAGE = {
    "input_tokens": 9,
    "input_tokens_details": {"cached_tokens": 4},
    "output_tokens": 7,
    "output_tokens_details": {"reasoning_tokens": 5},
}


def a_response(**fields: Any) -> HttpReply:
    """An answered request for one."""
    body = {"id": "resp_1", "object": "response", "model": "o-model", "output": [], "usage": None, **fields}
    return HttpReply(status=200, headers={}, body=json.dumps(body).encode())


def failure_of(**fields: Any) -> CallFailure:
    """The failure that such a response is."""
    with pytest.raises(CallFailure) as failure:
        read_response(a_response(**fields), "asked")
    return failure.value


@pytest.mark.parametrize("status", ["queued", "in_progress"])
def test_work_under_way_is_pending(status: str) -> None:
    """However long it takes."""
    assert read_response(a_response(status=status), "asked") is PollReply.PENDING


def test_completed_response_is_an_answer_with_its_usage() -> None:
    """Cached tokens are part of the input, reasoning is part of the output, and neither is text."""
    output = [{"type": "reasoning", "summary": []}, MESSAGE]
    reply = read_response(a_response(status="completed", output=output, usage=USAGE), "asked")

    assert reply == ModelReply(
        text="yes",
        finish="stop",
        model="o-model",
        usage=Usage(input=9, cached=4, output=7, reasoning=5),
        request_id="resp_1",
    )


@pytest.mark.parametrize(
    ("fields", "error_class", "code"),
    [
        ({"status": "failed", "error": {"code": "server_error"}}, "transient", "provider_error"),  # PR-18
        ({"status": "failed", "error": {"code": "invalid_prompt"}}, "permanent", "provider_refused_request"),  # PR-19
        ({"status": "failed", "error": {"code": "rate_limit_exceeded"}}, "rate_limited", "rate_limited"),
        ({"status": "failed", "error": {"code": ["odd"]}}, "permanent", "provider_refused_request"),
        ({"status": "failed", "error": None}, "permanent", "provider_refused_request"),
        ({"status": "cancelled"}, "permanent", "provider_cancelled"),
        (
            {"status": "incomplete", "incomplete_details": {"reason": "max_output_tokens"}},
            "invalid_output",
            "truncated_output",
        ),
        (
            {"status": "incomplete", "incomplete_details": {"reason": "content_filter"}},
            "policy_rejected",
            "content_filtered",
        ),
        ({"status": "incomplete", "incomplete_details": {"reason": {}}}, "invalid_output", "unfinished_answer"),
        ({"status": "completed"}, "invalid_output", "empty_answer"),
        (
            {"status": "completed", "output": [{"type": "message", "content": [{"type": "refusal", "refusal": "no"}]}]},
            "policy_rejected",
            "model_refused",
        ),
    ],
)
def test_end_without_a_result_is_a_failure_that_may_have_been_charged(
    fields: dict[str, Any], error_class: str, code: str
) -> None:
    """Its own status counts, not the HTTP one; no usage is an unknown price, not none."""
    failure = failure_of(**fields)

    assert (failure.error_class, failure.code) == (error_class, code)
    assert (failure.model, failure.usage, failure.was_sent) == ("o-model", None, True)


@pytest.mark.parametrize("status", ["paused", None, [], {"a": 1}])
def test_unknown_status_says_nothing(status: Any) -> None:
    """It is asked again, until it has a word that we know, or the job's deadline comes."""
    assert read_response(a_response(status=status), "asked") is PollReply.UNREACHABLE


@pytest.mark.parametrize(
    "usage",
    [
        None,
        {"input_tokens": 1},
        {"input_tokens": -1, "output_tokens": 1},
        {"input_tokens": 1, "output_tokens": 1, "input_tokens_details": {"cached_tokens": 2}},
        {"input_tokens": 1, "output_tokens": 1, "output_tokens_details": {"reasoning_tokens": 2}},
    ],
)
def test_usage_that_is_missing_or_contradicts_itself_is_none(usage: Any) -> None:
    """Then the call is unpriced, which is never free."""
    reply = read_response(a_response(status="completed", output=[MESSAGE], usage=usage), "asked")

    assert isinstance(reply, ModelReply)
    assert reply.usage is None


@pytest.mark.parametrize("body", [b"[]", b"<html>", b'{"id": "resp_1"}', b'{"object": "response", "id": 7}'])
def test_what_is_no_response_object_gives_no_reference(body: bytes) -> None:
    """A submission answered so is a maybe: something answered, and nobody knows what runs behind it."""
    assert reference_of(HttpReply(status=200, headers={}, body=body)) is None


def test_request_runs_in_the_background_and_carries_our_key() -> None:
    """Stored, as background mode asks for; a closed schema is enforced; a reasoning model gets no temperature."""
    schema = '{"type":"object","properties":{"a":{"type":"string"}},"required":["a"],"additionalProperties":false}'
    request = ModelRequest(messages=(("user", "x"),), max_output_tokens=5, json_schema=schema, schema_name="answer")
    body = json.loads(body_of(request, "gpt-4o-mini", DownstreamKey("JOB-1-a_1")))

    assert (body["background"], body["store"], body["metadata"]) == (True, True, {"onceward_key": "JOB-1-a_1"})
    assert body["text"]["format"]["strict"] is True
    assert (body["temperature"], body["max_output_tokens"]) == (0.0, 5)
    assert "temperature" not in json.loads(body_of(request, "gpt-5-mini", DownstreamKey("k")))
