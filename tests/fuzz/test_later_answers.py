"""Whatever a provider says of work that it answers later: not yet, gone, a reply, or a failure that is no maybe."""

from __future__ import annotations

from typing import Any

from hypothesis import given
from hypothesis import strategies as st

from onceward.domain.recovery import PollReply
from onceward.domain.retry import ErrorClass
from onceward.errors import CallFailure
from onceward.providers import batches_answer, openai_batches_answer, responses_answer
from onceward.usecases.ports import ModelReply
from tests.fuzz.spoiling import EXAMPLES, NOW, http, judge, spoilt
from tests.unit.providers.scripted_server import completion, error
from tests.unit.providers.wire_bodies import anthropic_error, message

TEXT = {"type": "message", "content": [{"type": "output_text", "text": "ok"}]}
RESPONSE = {
    "id": "resp_1",
    "object": "response",
    "model": "m",
    "status": "completed",
    "output": [TEXT],
    "usage": {"input_tokens": 9, "output_tokens": 7, "output_tokens_details": {"reasoning_tokens": 5}},
}
FAILED = {**RESPONSE, "status": "failed", "error": {"code": "server_error"}}
CUT = {**RESPONSE, "status": "incomplete", "incomplete_details": {"reason": "max_output_tokens"}}
ANSWERED = {"custom_id": "k", "response": {"status_code": 200, "body": completion()}, "error": None}
REFUSED = {"custom_id": "k", "response": {"status_code": 400, "body": error("x")}, "error": None}
EXPIRED = {"custom_id": "k", "response": None, "error": {"code": "batch_expired"}}
BATCH = {"id": "b", "object": "batch", "status": "failed", "errors": {"data": [{"code": "x"}]}, "output_file_id": "o"}
SUCCEEDED, ERRORED = {"type": "succeeded", "message": message("ok")}, {"type": "errored", "error": anthropic_error("x")}


def judge_end(outcome: ModelReply | PollReply | CallFailure) -> None:
    """Work that has ended leaves no maybe: nobody will ever know more."""
    if isinstance(outcome, PollReply):
        return
    judge(outcome)
    if isinstance(outcome, CallFailure):
        assert outcome.error_class != ErrorClass.OUTCOME_UNKNOWN


@EXAMPLES
@given(spoilt(RESPONSE, FAILED, CUT))
def test_any_response_object_has_a_meaning(body: Any) -> None:
    """Under way, answered, failed, or nothing that says anything."""
    try:
        judge_end(responses_answer.read_response(http(200, {}, body), "m"))
    except CallFailure as failure:
        judge_end(failure)


@EXAMPLES
@given(spoilt(ANSWERED, REFUSED, EXPIRED))
def test_any_line_of_a_batch_has_a_meaning(line: Any) -> None:
    """An answer of its own, or a failure."""
    try:
        judge_end(openai_batches_answer.read_line(line if isinstance(line, dict) else {}, "m", NOW))
    except CallFailure as failure:
        judge_end(failure)


@EXAMPLES
@given(spoilt(BATCH), st.sampled_from(("failed", "expired", "cancelled", "completed", "in_progress", None)))
def test_any_batch_that_left_no_line_has_a_meaning(body: Any, status: str | None) -> None:
    """Why, or that nobody knows."""
    batch = {**(body if isinstance(body, dict) else {}), "status": status}
    assert all(openai_batches_answer.files_of(batch))
    try:
        judge_end(openai_batches_answer.end_without_line(batch))
    except CallFailure as failure:
        judge_end(failure)


@EXAMPLES
@given(spoilt(SUCCEEDED, ERRORED, {"type": "expired"}, {"type": "canceled"}))
def test_any_result_of_a_message_batch_has_a_meaning(result: Any) -> None:
    """An answer of its own, or a failure."""
    try:
        judge_end(batches_answer.read_result(result if isinstance(result, dict) else {}, "m", NOW))
    except CallFailure as failure:
        judge_end(failure)


@EXAMPLES
@given(st.binary(max_size=200), spoilt(ANSWERED))
def test_any_file_of_lines_is_read(junk: bytes, line: Any) -> None:
    """To the own line, whatever stands around it."""
    body = junk + b"\n" + http(200, {}, line).body

    found = openai_batches_answer.line_of(body, "k")
    assert found is None or found.get("custom_id") == "k"
