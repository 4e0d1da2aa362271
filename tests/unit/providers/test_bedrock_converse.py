"""Bedrock's Converse by boto3: one send, codes in any case, and a table without gaps."""

from __future__ import annotations

import asyncio
import json
from datetime import UTC, datetime, timedelta
from typing import TYPE_CHECKING

import botocore.session
import pytest
from botocore.config import Config
from botocore.exceptions import ClientError, NoCredentialsError, ParamValidationError

from onceward.adapters.system import ThreadRunner
from onceward.domain.records import Usage
from onceward.domain.recovery import LookupReply
from onceward.errors import CallFailure
from onceward.providers.bedrock_converse import BedrockConverse, ConverseTarget, config_for
from onceward.providers.converse_errors import BY_CODE, failure_of, transport_failure
from onceward.usecases.ports import ModelReply, ModelRequest
from tests.unit.providers.asking import ENOUGH, KEY, REQUEST, FixedClock, ask, bedrock_client, speaking
from tests.unit.providers.scripted_server import answering, error, serving
from tests.unit.providers.wire_bodies import JSON, aws_error, converse, said

if TYPE_CHECKING:
    from mypy_boto3_bedrock_runtime import BedrockRuntimeClient

NOW = datetime(2026, 11, 30, tzinfo=UTC)


def test_a_call_is_one_request_that_the_log_can_find() -> None:
    """The key goes into the invocation log's metadata; system and schema into the instruction; no temperature."""
    messages = (("system", "Be brief."), ("user", "Ask."))
    request = ModelRequest(messages=messages, max_output_tokens=9, json_schema='{"type":"object"}')
    reply, seen = ask(
        answering(200, converse("Fine.", "end_turn"), JSON | {"x-amzn-requestid": "r-1"}), ENOUGH, "bedrock", request
    )
    body = json.loads(seen.bodies[0])

    assert reply == ModelReply(
        text="Fine.",
        finish="stop",
        model="anthropic.claude-x",
        usage=Usage(input=8, output=10),
        request_id="r-1",
    )
    assert seen.heads[0].startswith("POST /v1/model/anthropic.claude-x/converse HTTP/1.1\r\n")
    assert body["requestMetadata"] == {"onceward_key": KEY}
    assert body["inferenceConfig"] == {"maxTokens": 9}
    assert body["system"][0]["text"].startswith("Be brief.")
    assert '{"type":"object"}' in body["system"][0]["text"]
    assert body["messages"] == [{"role": "user", "content": [{"text": "Ask."}]}]


@pytest.mark.parametrize("status", [429, 500, 503])
def test_an_error_is_one_send(status: int) -> None:
    """boto3's own default would send it three times, and its standard mode waits in between."""
    code = {429: "ThrottlingException", 500: "InternalServerException", 503: "ServiceUnavailableException"}[status]
    _, seen = ask(answering(status, said("x"), aws_error(code)), ENOUGH, "bedrock")

    assert len(seen.heads) == 1


def test_every_error_that_converse_declares_has_its_row() -> None:
    """Asked of botocore's own service model, so that a new one is noticed."""
    model = botocore.session.get_session().get_service_model("bedrock-runtime")
    declared = {shape.name.lower() for shape in model.operation_model("Converse").error_shapes}

    assert declared <= set(BY_CODE)


@pytest.mark.parametrize("code", ["ThrottlingException", "throttlingException", "THROTTLINGEXCEPTION"])
def test_codes_are_compared_without_case(code: str) -> None:
    """Streams and gateways spell them otherwise."""
    failure = failure_of(ClientError({"Error": {"Code": code, "Message": "Secret."}}, "Converse"), NOW)

    assert (failure.error_class, failure.code) == ("rate_limited", "rate_limited")
    assert "Secret" not in repr(failure) + failure.detail


@pytest.mark.parametrize(
    ("code", "error_class"),
    [
        ("ModelTimeoutException", "outcome_unknown"),
        ("ModelErrorException", "outcome_unknown"),
        ("InternalServerException", "outcome_unknown"),
        ("NewException", "outcome_unknown"),
        ("", "outcome_unknown"),
        ("ModelNotReadyException", "transient"),
        ("ServiceQuotaExceededException", "quota_exhausted"),
    ],
)
def test_an_error_behind_which_the_model_may_have_run_is_a_maybe(code: str, error_class: str) -> None:
    """And so is one that nobody has mapped."""
    assert failure_of(ClientError({"Error": {"Code": code}}, "Converse"), NOW).error_class == error_class


def test_what_never_left_is_known_not_to_have() -> None:
    """No credentials, an argument that boto3 refuses: a deploy must mend these, and they cost nothing."""
    for error_ in (NoCredentialsError(), ParamValidationError(report="Secret.")):
        failure = transport_failure(error_)
        assert (failure.error_class, failure.was_sent) == ("permanent", False)
        assert "Secret" not in failure.detail


@pytest.mark.parametrize(
    ("stop", "code"),
    [
        ("content_filtered", "content_filtered"),
        ("model_context_window_exceeded", "truncated_output"),
        ("malformed_model_output", "malformed_output"),
    ],
)
def test_an_answer_that_is_no_result_is_charged(stop: str, code: str) -> None:
    """Each with its usage."""
    outcome, _ = ask(answering(200, converse("Blocked.", stop), JSON), ENOUGH, "bedrock")

    assert isinstance(outcome, CallFailure)
    assert (outcome.code, outcome.usage) == (code, Usage(input=8, output=10))


def test_an_unknown_stop_is_no_success() -> None:
    """A kind takes ``stop`` and nothing else for a whole answer."""
    outcome, _ = ask(answering(200, converse("Hm.", "resting"), JSON), ENOUGH, "bedrock")

    assert isinstance(outcome, ModelReply)
    assert outcome.finish == "other"


def test_cache_counts_are_added_to_the_input() -> None:
    """As on Anthropic's own API."""
    body = converse("ok", "end_turn")
    body["usage"] = {"inputTokens": 5, "outputTokens": 2, "cacheReadInputTokens": 30, "cacheWriteInputTokens": 7}
    outcome, _ = ask(answering(200, body, JSON), ENOUGH, "bedrock")

    assert isinstance(outcome, ModelReply)
    assert outcome.usage == Usage(input=42, cached=30, cache_write=7, output=2)


@pytest.mark.parametrize("body", ["{}", "[]", error("x"), {"output": 5, "stopReason": "end_turn"}])
def test_an_answer_of_no_known_shape_is_a_maybe(body: object) -> None:
    """Something answered; nobody knows what ran."""
    outcome, _ = ask(answering(200, body, JSON), ENOUGH, "bedrock")

    assert isinstance(outcome, CallFailure)
    assert outcome.error_class == "outcome_unknown"


def test_nothing_can_be_looked_up() -> None:
    """An answer that was lost is stored nowhere; the invocation log is for people."""

    async def run() -> object:
        async with speaking("bedrock", "http://127.0.0.1:9/v1") as provider:
            return await provider.lookup(KEY, ENOUGH)

    assert asyncio.run(run()) is LookupReply.UNREACHABLE


def test_one_client_serves_one_hard_timeout() -> None:
    """boto3 knows timeouts of clients only; a kind's calls share theirs."""

    async def run() -> int:
        made: list[Config] = []
        async with serving(answering(200, converse("ok", "end_turn"), JSON)) as seen:
            with ThreadRunner() as threads:

                def make(config: Config) -> BedrockRuntimeClient:
                    made.append(config)
                    return bedrock_client(seen.url, config)

                provider = BedrockConverse(make, ConverseTarget(model="m"), threads, FixedClock())
                for seconds in (20, 20, 30):
                    await provider.generate(REQUEST, KEY, timedelta(seconds=seconds))
        return len(made)

    assert asyncio.run(run()) == 2


@pytest.mark.failure_mode("F25")
def test_its_own_retries_are_off() -> None:
    """One attempt in all, and a read timeout that is the call's own."""
    config = config_for(timedelta(seconds=7))

    assert config.retries["total_max_attempts"] == 1  # type: ignore[attr-defined]
    assert config.read_timeout == 7  # type: ignore[attr-defined]
