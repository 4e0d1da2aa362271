"""What a 200 means: a reply, a charged answer that is no result, or a maybe."""

from __future__ import annotations

import json
from datetime import UTC, datetime

import pytest

from onceward.domain.records import Usage
from onceward.errors import CallFailure
from onceward.providers.chat_answer import read_answer
from onceward.providers.http import HttpReply
from onceward.usecases.ports import ModelReply
from tests.unit.providers.scripted_server import completion

NOW = datetime(2026, 11, 30, tzinfo=UTC)


def read(body: object, headers: dict[str, str] | None = None) -> ModelReply:
    """What an answer's body is taken for."""
    raw = body if isinstance(body, str) else json.dumps(body)
    return read_answer(HttpReply(status=200, headers=headers or {}, body=raw.encode()), "asked-model", NOW)


def refused(body: object) -> CallFailure:
    """The failure that an answer's body is taken for."""
    with pytest.raises(CallFailure) as caught:
        read(body)
    return caught.value


def test_a_plain_answer_is_text_with_its_usage() -> None:
    """PR-01: text, the model that answered, and what it counted."""
    expected = ModelReply(
        text="Fine.",
        finish="stop",
        model="gpt-4o-mini-2024-07-18",
        usage=Usage(input=12, output=5),
        request_id="req_1",
    )

    assert expected == read(completion(), {"x-request-id": "req_1"})


def test_without_the_header_the_answer_s_own_id_is_kept() -> None:
    """A person who has to ask the provider needs some name of the call."""
    assert read(completion()).request_id == "chatcmpl-1"


def test_tool_calls_are_an_answer_without_text() -> None:
    """PR-02: null content is not an empty answer when the model called tools."""
    reply = read(completion(None, tool_calls=[{"id": "call_1"}], finish_reason="tool_calls"))

    assert (reply.text, reply.finish) == ("", "tools")


@pytest.mark.parametrize("finish", ["pause_turn", "load", None, 7])
def test_an_end_that_nobody_knows_is_not_called_success(finish: object) -> None:
    """PR-39: a kind takes ``stop`` and nothing else for a whole answer."""
    assert read(completion(finish_reason=finish)).finish == "other"


@pytest.mark.failure_mode("F27")
@pytest.mark.parametrize(
    ("body", "error_class", "code"),
    [
        pytest.param(completion(None, refusal="I can't."), "policy_rejected", "model_refused", id="PR-14"),
        pytest.param(
            completion(None, refusal="I can't.", finish_reason="length"),
            "policy_rejected",
            "model_refused",
            id="a cut refusal",
        ),
        pytest.param(
            completion("Blocked.", finish_reason="content_filter"), "policy_rejected", "content_filtered", id="filtered"
        ),
        pytest.param(completion('{"a', finish_reason="length"), "invalid_output", "truncated_output", id="PR-15"),
        pytest.param(completion(" \n"), "invalid_output", "empty_answer", id="white space"),
        pytest.param(completion(None), "invalid_output", "empty_answer", id="no content"),
        pytest.param(completion() | {"choices": []}, "invalid_output", "empty_answer", id="no choices"),
        pytest.param(completion() | {"choices": ["x"]}, "invalid_output", "empty_answer", id="no message"),
    ],
)
def test_a_charged_answer_that_is_no_result_brings_its_usage(body: object, error_class: str, code: str) -> None:
    """Its tokens are paid all the same, and it is never bought again."""
    failure = refused(body)

    assert (error_class, code, True) == (failure.error_class, failure.code, failure.was_sent)
    assert (Usage(input=12, output=5), "gpt-4o-mini-2024-07-18") == (failure.usage, failure.model)


@pytest.mark.failure_mode("F27")
@pytest.mark.parametrize("body", ["", "{", "[]", "{}", "<html>", "\udcff".encode("utf-8", "surrogateescape").hex()])
def test_a_body_that_is_no_completion_leaves_a_maybe(body: str) -> None:
    """Something answered; whether a model ran behind it is unknown."""
    assert refused(body).error_class == "outcome_unknown"


@pytest.mark.parametrize(
    ("usage", "expected"),
    [
        pytest.param(
            {"prompt_tokens": 20_212, "completion_tokens": 931, "prompt_tokens_details": {"cached_tokens": 16_298}},
            Usage(input=20_212, cached=16_298, output=931),
            id="PR-22",
        ),
        pytest.param(
            {
                "prompt_tokens": 100,
                "completion_tokens": 1_200,
                "completion_tokens_details": {"reasoning_tokens": 1_100},
            },
            Usage(input=100, output=1_200, reasoning=1_100),
            id="PR-25",
        ),
        pytest.param(
            {"prompt_tokens": 1, "completion_tokens": 2, "prompt_tokens_details": None},
            Usage(input=1, output=2),
            id="null details",
        ),
        pytest.param(None, None, id="no usage"),
        pytest.param({"total_tokens": 3}, None, id="no counts"),
        pytest.param({"prompt_tokens": -1, "completion_tokens": 2}, None, id="negative"),
        pytest.param({"prompt_tokens": True, "completion_tokens": 2}, None, id="a truth value"),
        pytest.param({"prompt_tokens": 1.5, "completion_tokens": 2}, None, id="a fraction"),
        pytest.param({"prompt_tokens": 2**40, "completion_tokens": 2}, None, id="beyond belief"),
        pytest.param(
            {"prompt_tokens": 1, "completion_tokens": 2, "prompt_tokens_details": {"cached_tokens": 5}},
            None,
            id="more cached than sent",
        ),
    ],
)
def test_usage_is_read_or_is_missing_and_never_invented(usage: object, expected: Usage | None) -> None:
    """A count that cannot be true is no count: the call is then unpriced, not free."""
    assert expected == read(completion(usage=usage)).usage


@pytest.mark.parametrize("name", ["", "m" * 129, "a\nb", "ключ", 5])
def test_a_name_that_is_none_is_not_kept(name: object) -> None:
    """Model and request id go into books and logs."""
    reply = read(completion() | {"model": name, "id": name})

    assert (reply.model, reply.request_id) == ("asked-model", None)
