"""The provider against the local model server: what one believes of the other is true."""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable, Iterator
from datetime import timedelta

import pytest

from onceward.domain.names import DownstreamKey
from onceward.domain.recovery import LookupReply
from onceward.errors import CallFailure
from onceward.providers.anthropic_messages import AnthropicMessages, MessagesTarget
from onceward.providers.capabilities import DEDUP_WINDOW, LOOKUP_LAG, STORED_LAG, capability_of
from onceward.providers.http import make_client
from onceward.providers.openai_chat import ChatTarget, OpenAIChat
from onceward.usecases.ports import ModelReply, ModelRequest
from tests.support.model_server import ModelServer
from tests.unit.providers.asking import FixedClock

MODEL = "onceward-stand-in-1"
REQUEST = ModelRequest(messages=(("user", "Say something."),), max_output_tokens=50)
KEY = DownstreamKey("JOB-1-generate_1")
ENOUGH = timedelta(seconds=20)


@pytest.fixture(scope="module")
def model() -> Iterator[ModelServer]:
    """One server for this file."""
    with ModelServer() as server:
        yield server


@pytest.fixture(autouse=True)
def fresh(model: ModelServer) -> None:
    """Every test finds it without rules, counts and answers."""
    model.reset()


def with_provider[T](model: ModelServer, use: Callable[[OpenAIChat], Awaitable[T]]) -> T:
    """Run ``use`` with a provider of the server."""

    async def no_key() -> str:
        return ""

    async def run() -> T:
        async with make_client() as client:
            target = ChatTarget(base_url=model.base_url, model=MODEL)
            return await use(OpenAIChat(client, target, no_key, FixedClock()))

    return asyncio.run(run())


async def generate(provider: OpenAIChat) -> ModelReply:
    """One call."""
    return await provider.generate(REQUEST, KEY, ENOUGH)


async def look_up(provider: OpenAIChat) -> ModelReply | LookupReply:
    """One lookup of that call."""
    return await provider.lookup(KEY, ENOUGH)


def test_the_stand_in_answers_with_a_usage_that_has_a_price(model: ModelServer) -> None:
    """The demonstration has figures in its books."""

    async def use(provider: OpenAIChat) -> tuple[ModelReply, int | None]:
        reply = await generate(provider)
        return reply, provider.price(reply.model, reply.usage)

    reply, price = with_provider(model, use)
    assert (reply.finish, reply.model) == ("stop", MODEL)
    assert price is not None
    assert price > 0
    assert model.counts()["by_key"][KEY]["requests"] == 1


def with_messages[T](model: ModelServer, use: Callable[[AnthropicMessages], Awaitable[T]]) -> T:
    """Run ``use`` with a provider that speaks the other API to the same server."""

    async def a_key() -> str:
        return "sk-ant"

    async def run() -> T:
        async with make_client() as client:
            target = MessagesTarget(base_url=model.base_url, model=MODEL)
            return await use(AnthropicMessages(client, target, a_key, FixedClock()))

    return asyncio.run(run())


async def say(provider: AnthropicMessages) -> ModelReply:
    """One call."""
    return await provider.generate(REQUEST, KEY, ENOUGH)


def test_the_stand_in_speaks_both_apis_with_the_same_words(model: ModelServer) -> None:
    """One request each, text, usage, price and name; the key and the version reach it."""
    chat, message = with_provider(model, generate), with_messages(model, say)
    (_, seen) = model.requests()

    assert (message.text, message.finish, message.usage) == (chat.text, chat.finish, chat.usage)
    assert (message.model, message.request_id) == (MODEL, seen["request_id"])
    assert (seen["authorised"], seen["headers"]["anthropic-version"]) == (True, "2023-06-01")


@pytest.mark.parametrize(
    ("form", "code"),
    [
        ("truncated", "truncated_output"),
        ("refusal", "model_refused"),
        ("content_filter", "model_refused"),
        ("empty_choices", "empty_answer"),
        ("empty_content", "empty_answer"),
    ],
)
def test_awkward_answers_are_awkward_in_both(model: ModelServer, form: str, code: str) -> None:
    """Charged, and no result."""
    model.behave(form=form)
    with pytest.raises(CallFailure) as caught:
        with_messages(model, say)

    assert caught.value.code == code
    assert caught.value.usage is not None


@pytest.mark.parametrize(
    ("status", "error_class"), [(429, "rate_limited"), (529, "transient"), (503, "transient"), (500, "outcome_unknown")]
)
def test_errors_are_spelt_as_each_api_spells_them(model: ModelServer, status: int, error_class: str) -> None:
    """The stand-in's own in its dialect; a test's own body as it is."""
    model.behave(status=status, times=1)
    with pytest.raises(CallFailure) as caught:
        with_messages(model, say)
    body = {"type": "error", "error": {"type": "invalid_request_error", "message": "credit balance is too low"}}
    model.behave(status=400, body=body, times=1)
    with pytest.raises(CallFailure) as poor:
        with_messages(model, say)

    assert (caught.value.error_class, poor.value.error_class) == (error_class, "quota_exhausted")


def test_an_unknown_model_is_named_so_in_both(model: ModelServer) -> None:
    """A configuration fault, one call."""

    async def use(provider: AnthropicMessages) -> ModelReply:
        other = MessagesTarget(base_url=model.base_url, model="claude-none")
        return await AnthropicMessages(provider._client, other, provider._secret, FixedClock()).generate(
            REQUEST, KEY, ENOUGH
        )

    with pytest.raises(CallFailure) as caught:
        with_messages(model, use)

    assert (caught.value.code, caught.value.error_class) == ("model_not_found", "permanent")


def test_an_answer_lost_on_the_way_can_be_looked_up(model: ModelServer) -> None:
    """The maybe of a dropped connection ends by a lookup, not by a second purchase."""
    model.behave(times=1, stage="after", drop="close")
    with pytest.raises(CallFailure) as caught:
        with_provider(model, generate)

    assert caught.value.error_class == "outcome_unknown"
    assert isinstance(with_provider(model, look_up), ModelReply)
    assert model.counts()["computations"] == 1


def test_a_call_that_never_was_is_not_found(model: ModelServer) -> None:
    """The server's word for it is the one that the provider believes."""
    assert with_provider(model, look_up) is LookupReply.NOT_FOUND


def test_a_second_send_within_the_window_computes_nothing(model: ModelServer) -> None:
    """The key reaches a server that dedupes by it."""
    model.behave(dedupe_s=60)

    assert with_provider(model, generate).text == with_provider(model, generate).text
    assert model.counts()["computations"] == 1


def with_stored[T](model: ModelServer, use: Callable[[OpenAIChat], Awaitable[T]]) -> T:
    """Run ``use`` with a provider whose completions are kept there."""

    async def no_key() -> str:
        return ""

    async def run() -> T:
        async with make_client() as client:
            target = ChatTarget(base_url=model.base_url, model=MODEL, is_stored=True)
            return await use(OpenAIChat(client, target, no_key, FixedClock()))

    return asyncio.run(run())


def test_a_stored_completion_is_found_by_its_metadata(model: ModelServer) -> None:
    """The answer was lost on its way: it is found, and bought once; another key's is not."""
    model.behave(times=1, stage="after", drop="close")
    with pytest.raises(CallFailure) as caught:
        with_stored(model, generate)

    async def other(provider: OpenAIChat) -> ModelReply | LookupReply:
        return await provider.lookup(DownstreamKey("JOB-2-x_1"), ENOUGH)

    assert caught.value.error_class == "outcome_unknown"
    assert isinstance(with_stored(model, look_up), ModelReply)
    assert with_stored(model, other) is LookupReply.NOT_FOUND
    assert model.counts()["computations"] == 1


def test_completion_that_was_not_stored_is_not_found(model: ModelServer) -> None:
    """Only what was sent to be kept is listed."""
    with_provider(model, generate)

    assert with_stored(model, look_up) is LookupReply.NOT_FOUND


def test_a_declared_promise_is_what_recovery_reads() -> None:
    """Nothing is promised unless the deployment says so."""
    none, dedupes, lookup = capability_of("none"), capability_of("dedupes"), capability_of("lookup")

    assert (none.dedup_window, none.lookup_lag) == (None, None)
    assert (dedupes.dedup_window, dedupes.lookup_lag) == (DEDUP_WINDOW, None)
    assert (lookup.dedup_window, lookup.lookup_lag) == (None, LOOKUP_LAG)
    assert capability_of("stored").lookup_lag == STORED_LAG
