"""The answers that were met in the wild, given by the local model server in each provider's language.

``test_met_in_the_wild`` sees each connection besides.
"""

from __future__ import annotations

import asyncio
import json
from collections.abc import Iterator
from datetime import timedelta

import pytest

from onceward.errors import CallFailure, Usage
from onceward.local.model import STAND_IN_MODEL
from onceward.usecases.ports import ModelReply, ModelRequest
from tests.support.model_server import ModelServer
from tests.unit.providers.asking import ENOUGH, KEY, REQUEST, SOON, Dialect, speaking
from tests.unit.providers.chat_cases import OPENAI
from tests.unit.providers.claude_cases import ANTHROPIC, BEDROCK
from tests.unit.providers.wire_bodies import JSON, RETRY_MARKERS, Case

DIALECTS: tuple[Dialect, ...] = ("openai", "anthropic", "bedrock")


@pytest.fixture(scope="module")
def server() -> Iterator[ModelServer]:
    """One server for this file."""
    with ModelServer() as running:
        yield running


@pytest.fixture(autouse=True)
def fresh(server: ModelServer) -> None:
    """Every test finds it without rules and counts."""
    server.reset()


def ask(
    server: ModelServer, dialect: Dialect, timeout: timedelta = ENOUGH, request: ModelRequest = REQUEST
) -> ModelReply | CallFailure:
    """One call, as a worker makes it."""

    async def run() -> ModelReply | CallFailure:
        async with speaking(dialect, server.base_url, model=STAND_IN_MODEL) as provider:
            try:
                reply = await provider.generate(request, KEY, timeout)
            except CallFailure as failure:
                return failure
        assert isinstance(reply, ModelReply)
        return reply

    return asyncio.run(run())


@pytest.mark.parametrize("case", [*OPENAI, *ANTHROPIC, *BEDROCK], ids=lambda case: case.id)
def test_the_model_server_s_answer_is_taken_for_what_it_is(server: ModelServer, case: Case) -> None:
    """PR-…: class, code and usage as at the scripted server; one request, without a mark of anybody's retries."""
    server.behave(status=case.status, body=case.body, headers={**JSON, **case.headers})
    outcome = ask(server, case.dialect)

    (seen,) = server.requests()
    assert set(RETRY_MARKERS).isdisjoint(seen["headers"])
    assert seen["headers"].get("amz-sdk-request") in {None, "attempt=1; max=1"}
    assert server.counts()["computations"] == 0
    if isinstance(outcome, CallFailure):
        assert (case.error_class, case.code, True) == (outcome.error_class, outcome.code, outcome.was_sent)
    else:
        assert (case.error_class, case.code) == ("", outcome.finish)
    assert case.usage == outcome.usage


@pytest.mark.parametrize("dialect", DIALECTS)
def test_a_model_server_that_holds_the_request_is_a_maybe(server: ModelServer, dialect: Dialect) -> None:
    """PR-62: it has the request and says nothing until the hard timeout; it was asked once and saw the caller leave."""
    server.behave(hold="mute")
    outcome = ask(server, dialect, SOON)
    server.wait_idle()

    assert isinstance(outcome, CallFailure)
    assert (outcome.error_class, outcome.code, outcome.was_sent) == ("outcome_unknown", "provider_timed_out", True)
    assert [one["outcome"] for one in server.requests()] == ["caller_left"]


@pytest.mark.parametrize("dialect", DIALECTS)
@pytest.mark.parametrize("drop", ["close", "reset", "partial"])
def test_an_answer_that_the_model_server_loses_is_a_maybe(server: ModelServer, dialect: Dialect, drop: str) -> None:
    """The model ran, and is paid; the connection ended before the answer, or in the middle of it."""
    server.behave(stage="after", drop=drop)
    outcome = ask(server, dialect)

    assert isinstance(outcome, CallFailure)
    assert (outcome.error_class, outcome.was_sent) == ("outcome_unknown", True)
    assert [server.counts()[name] for name in ("requests", "computations")] == [1, 1]


@pytest.mark.parametrize("dialect", DIALECTS)
def test_an_answer_of_the_model_server_is_text_with_its_usage(server: ModelServer, dialect: Dialect) -> None:
    """Each in the words of its API; the same counts, whoever asks."""
    reply = ask(server, dialect)

    assert isinstance(reply, ModelReply)
    assert (reply.text, reply.finish) == ("How are you?", "stop")
    assert reply.usage == Usage(input=7, output=3)
    assert reply.request_id


@pytest.mark.parametrize("dialect", DIALECTS)
def test_a_model_server_that_has_gone_was_sent_nothing(dialect: Dialect) -> None:
    """PR-63: it was there and is not any more; not connected is not sent, so it costs nothing and is tried again."""
    with ModelServer() as gone:
        assert isinstance(ask(gone, dialect), ModelReply)
        gone.stop()
        failure = ask(gone, dialect)

    assert isinstance(failure, CallFailure)
    assert (failure.error_class, failure.code, failure.was_sent) == ("transient", "provider_unreachable", False)


@pytest.mark.parametrize("dialect", DIALECTS)
@pytest.mark.parametrize(
    ("status", "error_class"),
    [(400, "permanent"), (403, "permanent"), (429, "rate_limited"), (500, "outcome_unknown"), (503, "transient")],
)
def test_an_error_of_the_model_server_s_own_is_spelled_as_its_api_does(
    server: ModelServer, dialect: Dialect, status: int, error_class: str
) -> None:
    """By a bare status: each provider's table reads the code that goes with it."""
    server.behave(status=status)
    failure = ask(server, dialect)

    assert isinstance(failure, CallFailure)
    assert (failure.error_class, failure.was_sent) == (error_class, True)


@pytest.mark.parametrize("dialect", DIALECTS)
def test_json_is_given_however_it_is_asked_for(server: ModelServer, dialect: Dialect) -> None:
    """By a field of the request, or by words."""
    schema = {"type": "object", "properties": {"said": {"type": "string"}}, "required": ["said"]}
    request = ModelRequest(
        messages=(("system", "Be brief."), ("user", "How are you?")),
        max_output_tokens=50,
        json_schema=json.dumps(schema),
    )
    reply = ask(server, dialect, request=request)

    assert isinstance(reply, ModelReply)
    assert json.loads(reply.text) == {"said": "How are you?"}
