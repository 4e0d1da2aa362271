"""One call is one request on one connection, and every way it can end is told truthfully."""

from __future__ import annotations

import asyncio
import json
import time
from collections.abc import Awaitable, Callable
from datetime import timedelta

import httpx
import pytest

from onceward.domain.policy import Capability
from onceward.domain.records import ANSWER_LIMIT, Usage
from onceward.errors import CallFailure, SecretUnavailable
from onceward.providers.http import exchange, make_client
from onceward.providers.openai_chat import ChatTarget, OpenAIChat
from onceward.usecases.ports import ModelReply
from tests.unit.providers.asking import ENOUGH, KEY, REQUEST, SECRET, SOON, FixedClock, ask, provider_at, secret
from tests.unit.providers.scripted_server import (
    Respond,
    answering,
    completion,
    error,
    hang_up,
    reset,
    serving,
    silence,
)


def failed(respond: Respond, timeout: timedelta = ENOUGH) -> tuple[str, str, bool]:
    """Class, code and whether it was sent, of a call that must fail; one request, and no key in the error."""
    outcome, seen = ask(respond, timeout)
    assert isinstance(outcome, CallFailure)
    assert seen.connections == 1
    assert SECRET not in repr(outcome.args) + outcome.detail
    return outcome.error_class, outcome.code, outcome.was_sent


def test_a_call_is_one_request_with_its_key() -> None:
    """The downstream key and the secret go in headers, the question in the body, once."""
    reply, seen = ask(answering(200, completion()))

    assert reply == ModelReply(
        text="Fine.",
        finish="stop",
        model="gpt-4o-mini-2024-07-18",
        usage=Usage(input=12, output=5),
        request_id="chatcmpl-1",
    )
    assert seen.heads[0].startswith("POST /v1/chat/completions HTTP/1.1\r\n")
    assert (KEY, f"Bearer {SECRET}") == (seen.header("idempotency-key"), seen.header("authorization"))
    assert json.loads(seen.bodies[0])["messages"] == [{"role": "user", "content": "How are you?"}]
    assert len(seen.heads) == 1


@pytest.mark.failure_mode("F25")
def test_an_error_answer_is_one_call_too() -> None:
    """No retry of the client's own: the retry decision is made from the journal."""
    for status in (429, 500, 503):
        _, seen = ask(answering(status, error(None), {"retry-after": "0"}))
        assert (seen.connections, len(seen.heads)) == (1, 1)


def test_no_connection_is_used_twice() -> None:
    """A server may close an idle connection just as the next paid request leaves on it."""

    async def run() -> int:
        async with serving(answering(200, completion())) as seen, make_client() as client:
            for _ in range(3):
                await provider_at(seen.url, client).generate(REQUEST, KEY, ENOUGH)
            return seen.connections

    assert asyncio.run(run()) == 3


@pytest.mark.failure_mode("F26")
@pytest.mark.parametrize("respond", [hang_up, reset, answering(200, completion(), cut=5)])
def test_a_connection_lost_after_the_send_leaves_a_maybe(respond: Respond) -> None:
    """The model may have run, and what it said is lost."""
    assert failed(respond) == ("outcome_unknown", "connection_lost", True)


def test_a_silent_server_is_left_at_the_hard_timeout_with_a_maybe() -> None:
    """PR-62: the request was sent; nothing is known of it."""
    assert failed(silence, SOON) == ("outcome_unknown", "provider_timed_out", True)


def test_an_answer_that_drips_cannot_outlast_the_hard_timeout() -> None:
    """Each piece comes in time for a read timeout; the whole does not."""

    async def drip(writer: asyncio.StreamWriter) -> None:
        writer.write(b"HTTP/1.1 200 OK\r\ncontent-length: 100000\r\n\r\n")
        while True:
            writer.write(b" ")
            await writer.drain()
            await asyncio.sleep(0.01)

    started = time.monotonic()

    assert failed(drip, SOON) == ("outcome_unknown", "provider_timed_out", True)
    assert time.monotonic() - started < 10


def test_a_refusal_whose_body_breaks_off_is_still_that_refusal() -> None:
    """Its status is the answer; only a success needs its body to be one."""
    assert failed(answering(429, error("rate_limit_exceeded"), cut=5)) == ("rate_limited", "rate_limited", True)


def test_an_answer_without_end_is_cut_off() -> None:
    """A provider's output is as untrusted as anybody's; what it cost is then unpriced."""
    assert failed(answering(200, "x" * (ANSWER_LIMIT + 1))) == ("invalid_output", "answer_too_large", True)
    outcome, _ = ask(answering(200, "x" * (ANSWER_LIMIT + 1)))
    assert isinstance(outcome, CallFailure)
    assert outcome.model is not None
    assert failed(answering(503, "x" * (ANSWER_LIMIT + 1))) == ("transient", "provider_overloaded", True)


def test_a_redirect_is_not_followed_with_the_key() -> None:
    """Another host must never see it."""
    respond = answering(307, "", {"location": "http://127.0.0.1:9/elsewhere"})

    assert failed(respond) == ("permanent", "provider_redirects", True)


def test_a_refused_connection_was_not_sent() -> None:
    """PR-63: nothing can have been bought."""

    async def run() -> CallFailure:
        async with serving(silence) as seen:
            url = seen.url
        async with make_client() as client:
            with pytest.raises(CallFailure) as caught:
                await provider_at(url, client).generate(REQUEST, KEY, ENOUGH)
        return caught.value

    failure = asyncio.run(run())
    assert (failure.error_class, failure.code, failure.was_sent) == ("transient", "provider_unreachable", False)


def test_a_handshake_that_hangs_until_the_hard_timeout_was_not_sent() -> None:
    """The transport tells that no byte of the request has left, so a timeout is no maybe."""

    async def run() -> CallFailure:
        async with serving(silence) as seen, make_client() as client:
            with pytest.raises(CallFailure) as caught:
                await provider_at(seen.url.replace("http:", "https:"), client).generate(REQUEST, KEY, SOON)
        return caught.value

    failure = asyncio.run(run())
    assert (failure.error_class, failure.code, failure.was_sent) == ("transient", "provider_unreachable", False)


@pytest.mark.failure_mode("F26")
@pytest.mark.parametrize(
    ("told", "was_sent"),
    [
        ((), True),
        (("connection.connect_tcp.started", "connection.start_tls.started"), False),
        (("connection.connect_tcp.complete", "http11.send_request_headers.started"), True),
    ],
)
def test_what_the_transport_told_decides_whether_it_was_sent(told: tuple[str, ...], was_sent: bool) -> None:
    """Connecting is not sending; silence about the wire is no proof that nothing left."""

    class Telling(httpx.AsyncBaseTransport):
        async def handle_async_request(self, request: httpx.Request) -> httpx.Response:
            trace: Callable[[str, object], Awaitable[None]] = request.extensions["trace"]
            for event in told:
                await trace(event, {})
            await asyncio.Event().wait()
            raise AssertionError

    async def run() -> CallFailure:
        async with httpx.AsyncClient(transport=Telling()) as client:
            with pytest.raises(CallFailure) as caught:
                await exchange(client, client.build_request("GET", "http://x/"), SOON)
        return caught.value

    assert asyncio.run(run()).was_sent == was_sent


def test_a_cancelled_call_closes_its_connection() -> None:
    """The provider learns that nobody waits, and the caller's cancel arrives unchanged."""

    async def run() -> None:
        async with serving(silence) as seen, make_client() as client:
            asking = asyncio.ensure_future(provider_at(seen.url, client).generate(REQUEST, KEY, ENOUGH))
            await seen.arrived.wait()
            asking.cancel()
            with pytest.raises(asyncio.CancelledError):
                await asking
            async with asyncio.timeout(5):
                await seen.left.wait()

    asyncio.run(run())


def test_without_a_key_no_authorization_is_sent() -> None:
    """A server of one's own needs none."""

    async def no_key() -> str:
        return ""

    async def run() -> str | None:
        async with serving(answering(200, completion())) as seen, make_client() as client:
            await provider_at(seen.url, client, no_key).generate(REQUEST, KEY, ENOUGH)
            return seen.header("authorization")

    assert asyncio.run(run()) is None


@pytest.mark.parametrize("broken", ["sk\nbroken", "sk-ключ", "a\x00b"])
def test_a_key_that_no_header_can_carry_is_refused_before_anything_is_sent(broken: str) -> None:
    """A client library would fail in the middle of sending, and leave a maybe; the error does not show the key."""

    async def key() -> str:
        return broken

    async def run() -> tuple[CallFailure, int]:
        async with serving(silence) as seen, make_client() as client:
            with pytest.raises(CallFailure) as caught:
                await provider_at(seen.url, client, key).generate(REQUEST, KEY, ENOUGH)
            return caught.value, seen.connections

    failure, connections = asyncio.run(run())
    assert (failure.code, failure.was_sent, connections) == ("provider_auth", False, 0)
    assert broken not in failure.detail


def test_a_secret_that_cannot_be_read_is_infrastructure_and_nothing_is_sent() -> None:
    """The attempt is given back, not failed."""

    async def key() -> str:
        raise SecretUnavailable("down")

    async def run() -> int:
        async with serving(silence) as seen, make_client() as client:
            with pytest.raises(SecretUnavailable):
                await provider_at(seen.url, client, key).generate(REQUEST, KEY, ENOUGH)
            return seen.connections

    assert asyncio.run(run()) == 0


def test_the_environment_s_proxy_is_not_used(monkeypatch: pytest.MonkeyPatch) -> None:
    """What the settings do not know changes nothing."""
    monkeypatch.setenv("HTTP_PROXY", "http://127.0.0.1:9")
    monkeypatch.setenv("ALL_PROXY", "http://127.0.0.1:9")
    reply, _ = ask(answering(200, completion()))

    assert isinstance(reply, ModelReply)


@pytest.mark.parametrize("url", ["", "api.openai.com/v1", "ftp://host/v1", "http:///v1"])
def test_an_address_that_is_none_is_refused_when_the_provider_is_made(url: str) -> None:
    """At cold start, not in the middle of a job."""

    async def run() -> None:
        async with make_client() as client:
            provider_at(url, client)

    with pytest.raises(ValueError, match="address"):
        asyncio.run(run())


def test_a_provider_says_its_name_its_promises_and_its_prices() -> None:
    """All three come from configuration."""

    async def run() -> OpenAIChat:
        capability = Capability(dedup_window=timedelta(hours=1))
        target = ChatTarget(base_url="http://127.0.0.1/v1", model="m", capability=capability, name="gateway")
        async with make_client() as client:
            return OpenAIChat(client, target, secret, FixedClock())

    provider = asyncio.run(run())
    assert (provider.name, provider.capability.dedup_window) == ("gateway", timedelta(hours=1))
    assert (provider.price("gpt-4o-mini", Usage(input=1_000_000)), provider.price("m", Usage())) == (150_000, None)
