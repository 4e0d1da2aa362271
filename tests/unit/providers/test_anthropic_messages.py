"""Anthropic's messages: what is sent, and what its answers and errors mean beyond those met in the wild."""

from __future__ import annotations

import json

import pytest

from onceward.domain.records import Usage
from onceward.errors import CallFailure
from onceward.providers.messages_errors import BY_NAME
from onceward.usecases.ports import ModelReply, ModelRequest
from tests.unit.providers.asking import ENOUGH, KEY, REQUEST, SECRET, ask
from tests.unit.providers.scripted_server import answering
from tests.unit.providers.wire_bodies import anthropic_error, message

CLOSED = '{"additionalProperties":false,"properties":{"a":{"type":"string"}},"required":["a"],"type":"object"}'
OPEN = '{"properties":{"a":{"type":"string"}},"type":"object"}'
TALK = (("system", "Be brief."), ("user", "Ask."), ("assistant", "No."), ("user", "Again."))


def sent(request: ModelRequest) -> tuple[dict[str, object], object]:
    """The body of a request, and the server that saw it."""
    _, seen = ask(answering(200, message("Fine.")), ENOUGH, "anthropic", request)
    return json.loads(seen.bodies[0]), seen


def failure(status: int, body: object, headers: dict[str, str] | None = None) -> CallFailure:
    """What an error is taken for."""
    outcome, _ = ask(answering(status, body, headers), ENOUGH, "anthropic")
    assert isinstance(outcome, CallFailure)
    return outcome


def test_a_call_is_one_request_with_its_version_and_key() -> None:
    """The provider's own headers; the secret in one of them and in no other place."""
    reply, seen = ask(answering(200, message("Fine."), {"request-id": "req_9"}), dialect="anthropic")

    assert reply == ModelReply(
        text="Fine.", finish="stop", model="claude-x", usage=Usage(input=10, output=5), request_id="req_9"
    )
    assert seen.heads[0].startswith("POST /v1/messages HTTP/1.1\r\n")
    assert (seen.header("x-api-key"), seen.header("anthropic-version")) == (SECRET, "2023-06-01")
    assert (seen.header("authorization"), seen.header("idempotency-key")) == (None, KEY)
    assert json.loads(seen.bodies[0]) == {
        "model": "claude-haiku-4-5",
        "max_tokens": REQUEST.max_output_tokens,
        "messages": [{"role": "user", "content": "How are you?"}],
    }


def test_system_messages_go_where_the_api_wants_them() -> None:
    """Turns stay in their order; no temperature, which newer models refuse."""
    body, _ = sent(ModelRequest(messages=TALK, max_output_tokens=9, temperature=0.5))

    assert body["system"] == "Be brief."
    assert [turn["role"] for turn in body["messages"]] == ["user", "assistant", "user"]  # type: ignore[attr-defined]
    assert "temperature" not in body


def test_a_closed_schema_is_enforced_and_an_open_one_is_asked_for_in_words() -> None:
    """The API refuses a schema that leaves anything open."""
    closed, _ = sent(ModelRequest(messages=TALK, max_output_tokens=9, json_schema=CLOSED))
    opened, _ = sent(ModelRequest(messages=TALK, max_output_tokens=9, json_schema=OPEN))

    assert closed["output_config"] == {"format": {"type": "json_schema", "schema": json.loads(CLOSED)}}
    assert (closed["system"], "output_config" in opened) == ("Be brief.", False)
    assert OPEN in str(opened["system"])


@pytest.mark.parametrize(
    ("usage", "expected"),
    [
        pytest.param(
            {"cache_read_input_tokens": 3, "cache_creation_input_tokens": 4},
            Usage(input=17, cached=3, cache_write=4, output=5),
            id="both added",
        ),
        pytest.param({"cache_read_input_tokens": None}, Usage(input=10, output=5), id="null"),
        pytest.param(
            {"output_tokens_details": {"thinking_tokens": 4}}, Usage(input=10, output=5, reasoning=4), id="thinking"
        ),
        pytest.param({"output_tokens_details": {"thinking_tokens": 6}}, None, id="more thinking than output"),
        pytest.param({"input_tokens": -1}, None, id="negative"),
        pytest.param({"output_tokens": "5"}, None, id="text"),
        pytest.param(
            {"cache_creation_input_tokens": 4, "cache_creation": {"ephemeral_1h_input_tokens": 4}},
            None,
            id="for an hour",
        ),
    ],
)
def test_cache_counts_are_added_to_the_input(usage: dict[str, object], expected: Usage | None) -> None:
    """What cannot be true, or has no price in the table, is no usage: unpriced, and not free."""
    reply, _ = ask(answering(200, message("ok", **usage)), dialect="anthropic")

    assert isinstance(reply, ModelReply)
    assert expected == reply.usage


@pytest.mark.parametrize(
    ("blocks", "stop", "code"),
    [
        ([], "end_turn", "empty_answer"),
        ([{"type": "thinking", "thinking": "Secret."}], "end_turn", "empty_answer"),
        ([{"type": "text", "text": "No."}], "refusal", "model_refused"),
        ([{"type": "text", "text": "{"}], "model_context_window_exceeded", "truncated_output"),
    ],
)
def test_an_answer_that_is_no_result_is_charged(blocks: list[object], stop: str, code: str) -> None:
    """Each has its own code, and brings its usage and its name."""
    outcome = failure(200, message("", stop) | {"content": blocks})

    assert (outcome.code, outcome.usage, outcome.model) == (code, Usage(input=10, output=5), "claude-x")
    assert outcome.request_id == "msg_1"


@pytest.mark.parametrize("stop", [None, [], {}, 5, "resting"])
def test_an_end_that_nobody_knows_is_no_success(stop: object) -> None:
    """Whatever JSON it is: a kind takes ``stop`` and nothing else for a whole answer."""
    reply, _ = ask(answering(200, message("ok") | {"stop_reason": stop}), dialect="anthropic")

    assert isinstance(reply, ModelReply)
    assert reply.finish == "other"


def test_only_text_blocks_are_the_answer() -> None:
    """Thinking is never stored as the result, and what is said before a tool is called is no answer."""
    thinking = {"type": "thinking", "thinking": "Secret."}
    blocks = [thinking, {"type": "text", "text": "A"}, {"type": "text", "text": "B"}]
    reply, _ = ask(answering(200, message("") | {"content": blocks}), dialect="anthropic")
    tools, _ = ask(answering(200, message("I will look.", "tool_use")), dialect="anthropic")

    assert isinstance(reply, ModelReply)
    assert isinstance(tools, ModelReply)
    assert (reply.text, tools.text, tools.finish) == ("AB", "", "tools")


@pytest.mark.parametrize(
    ("status", "body", "error_class"),
    [
        pytest.param(
            429,
            anthropic_error("rate_limit_error", error_code="enforced_spend_limit_reached"),
            "quota_exhausted",
            id="a spend limit in a rate limit's clothes",
        ),
        pytest.param(
            429, anthropic_error("rate_limit_error", error_code="unheard_of"), "rate_limited", id="unknown code"
        ),
        pytest.param(
            400,
            anthropic_error("invalid_request_error", "You have reached your specified API usage limits."),
            "quota_exhausted",
            id="a limit of one's own",
        ),
        pytest.param(
            400,
            anthropic_error("invalid_request_error", "credit balance is too low", error_code="organization_on_hold"),
            "quota_exhausted",
            id="a code goes before the text",
        ),
        pytest.param(404, anthropic_error("not_found_error"), "permanent", id="no such model"),
        pytest.param(500, anthropic_error("api_error"), "outcome_unknown", id="500"),
        pytest.param(
            500, anthropic_error("rate_limit_error"), "outcome_unknown", id="500 is a maybe, whatever it says"
        ),
        pytest.param(504, anthropic_error("timeout_error"), "outcome_unknown", id="504"),
        pytest.param(200, anthropic_error("overloaded_error"), "outcome_unknown", id="overloaded within a 200"),
        pytest.param(
            500,
            anthropic_error("api_error", "Your credit balance is too low"),
            "outcome_unknown",
            id="a text never ends a maybe",
        ),
        pytest.param(
            429,
            anthropic_error("rate_limit_error", "prompt is too long"),
            "rate_limited",
            id="a text never ends a retry",
        ),
    ],
)
def test_codes_decide_and_texts_only_where_there_is_none(status: int, body: object, error_class: str) -> None:
    """The table is by status, detail code and type; a message chooses among final meanings of a bare refusal."""
    assert failure(status, body).error_class == error_class


def test_a_rate_limit_brings_its_wish_and_its_name() -> None:
    """PR-31: the wait is kept, and so is the name under which the provider knows the call."""
    outcome = failure(429, anthropic_error("rate_limit_error"), {"retry-after": "12", "request-id": "req_7"})

    assert outcome.retry_after is not None
    assert (outcome.retry_after.total_seconds(), outcome.request_id) == (12, "req_7")


def test_every_row_of_the_table_has_a_shape_that_may_be_repeated() -> None:
    """Names are kept in errors, so they must be names."""
    assert all(name.replace("_", "").isalpha() for name in BY_NAME)
