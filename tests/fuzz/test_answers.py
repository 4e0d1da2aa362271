"""Whatever a provider or a model sends: a reply, or a failure of a known class; and never its words in our errors."""

from __future__ import annotations

import json
from typing import Any

from hypothesis import given
from hypothesis import strategies as st
from pydantic import BaseModel

from onceward.domain.retry import ErrorClass
from onceward.errors import CallFailure, JobFailure
from onceward.kinds.answers import read_answer
from onceward.providers import chat_answer, chat_errors, converse_answer, messages_answer, messages_errors
from onceward.usecases.ports import ModelReply
from tests.fuzz.spoiling import CANARY, EXAMPLES, HEADERS, NOW, http, judge, spoilt
from tests.unit.providers.scripted_server import completion, error
from tests.unit.providers.wire_bodies import anthropic_error, converse, message


@EXAMPLES
@given(spoilt(completion(), completion(None, refusal="no"), error("x")), HEADERS)
def test_any_chat_completion_is_a_reply_or_a_failure(body: Any, headers: dict[str, str]) -> None:
    """A 200 of whatever shape."""
    try:
        judge(chat_answer.read_answer(http(200, headers, body), "m", NOW))
    except CallFailure as failure:
        judge(failure)


@EXAMPLES
@given(spoilt(message("ok"), message("ok", "refusal", cache_read_input_tokens=5), anthropic_error("x")), HEADERS)
def test_any_message_is_a_reply_or_a_failure(body: Any, headers: dict[str, str]) -> None:
    """A 200 of whatever shape."""
    try:
        judge(messages_answer.read_answer(http(200, headers, body), "m", NOW))
    except CallFailure as failure:
        judge(failure)


@EXAMPLES
@given(spoilt(converse("ok", "end_turn"), converse("ok", "tool_use", {"toolUse": {}})))
def test_any_converse_answer_is_a_reply_or_a_failure(body: Any) -> None:
    """As botocore hands it over, should its own parser let it through."""
    try:
        judge(converse_answer.read_answer(body if isinstance(body, dict) else {}, "m"))
    except CallFailure as failure:
        judge(failure)


@EXAMPLES
@given(
    st.integers(100, 599), spoilt(error("x"), anthropic_error("y", error_code="z")) | st.binary(max_size=64), HEADERS
)
def test_any_error_has_a_class(status: int, body: Any, headers: dict[str, str]) -> None:
    """Every status, with every body: what is not known is a maybe, and 408 and 5xx are never made certain."""
    for failure_of in (chat_errors.failure_of, messages_errors.failure_of):
        failure = failure_of(http(status, headers, body), NOW)
        judge(failure)
        if status == 408 or (status >= 500 and status not in {503, 529}):
            assert failure.error_class == ErrorClass.OUTCOME_UNKNOWN


class Answer(BaseModel):
    """A shape with one of everything."""

    text: str
    count: int
    share: float
    parts: list[dict[str, str]]


GOOD = {"text": "a", "count": 1, "share": 0.5, "parts": [{"k": "v"}]}


def read(text: str) -> Answer | JobFailure:
    """What comes of a model's text."""
    try:
        return read_answer(ModelReply(text=text, finish="stop", model="m", usage=None), Answer)
    except JobFailure as failure:
        return failure


@EXAMPLES
@given(spoilt(GOOD), st.sampled_from(("{}", "```json\n{}\n```", "<think>x</think>{}", "Sure: {} done", "{}{}", "[{}]")))
def test_any_answer_of_a_model_is_a_result_or_unusable(body: Any, wrapping: str) -> None:
    """Read strictly: it fits, or it is a named fault; never an exception of another kind, never its words."""
    found = read(wrapping.replace("{}", json.dumps(body)))
    if isinstance(found, JobFailure):
        assert (found.code, CANARY in found.detail) == ("invalid_output", False)
    else:
        assert json.loads(found.model_dump_json())


@EXAMPLES
@given(st.text(alphabet=st.sampled_from('{}[]":,\\u0123456789eE+-.truefalsn`\n <>/think'), max_size=80))
def test_any_text_of_a_model_is_a_result_or_unusable(text: str) -> None:
    """Almost JSON, and far from it."""
    found = read(text)

    assert isinstance(found, Answer) or found.code == "invalid_output"
