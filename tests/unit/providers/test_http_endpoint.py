"""A declared HTTP target at a scripted server: what is sent, what each answer means, where it never goes."""

from __future__ import annotations

import json
from asyncio import StreamWriter
from dataclasses import replace
from datetime import timedelta
from typing import Any

import pytest

from onceward.domain.endpoint import Auth, Dedupe, Endpoint, IdempotencyHeader, Lookup, NaturalKey, Nothing
from onceward.domain.names import DownstreamKey
from onceward.domain.recovery import LookupReply
from onceward.errors import CallFailure
from onceward.providers.http import make_client
from onceward.providers.http_endpoint import MOST_BYTES, HttpEndpoint, Reach
from onceward.usecases.attempt_context import ANSWER
from onceward.usecases.ports import ModelReply
from onceward.wire.action_views import TargetResponse
from tests.unit.providers.asking import ENOUGH, KEY, SECRET, FixedClock, secret
from tests.unit.providers.scripted_server import Respond, Seen, answering, hang_up, reset, serving, silence

pytestmark = pytest.mark.anyio

HOST = "tracker.example"
ARGUMENTS: dict[str, Any] = {"project": "a/b", "title": "Check"}
FIND = Lookup(address=f"https://{HOST}/tasks/{{key}}", id_field="external_id", absent_code="task_not_found")
READ_BACK = NaturalKey(read_back=f"https://{HOST}/p/{{project}}")


def an_endpoint(dedupe: Dedupe | None = None, **fields: Any) -> Endpoint:
    """A target with a credential."""
    made = Endpoint(
        name="create_task",
        method="POST",
        url=f"https://{HOST}/p/{{project}}/tasks",
        allowed_hosts=(HOST,),
        dedupe=dedupe or IdempotencyHeader(),
        auth=Auth(secret="tracker"),
    )
    return replace(made, **fields)


def reach_of(seen: Seen, **fields: Any) -> Reach:
    """Where the tracker is: on this machine."""
    return replace(Reach(origins={HOST: seen.url.removesuffix("/v1")}, is_local=True), **fields)


async def send(respond: Respond, endpoint: Endpoint, *, timeout: Any = ENOUGH) -> tuple[ModelReply | CallFailure, Seen]:
    """One request; what it came to, and what the server saw."""
    async with serving(respond) as seen, make_client() as client:
        target = HttpEndpoint(client, endpoint, secret, FixedClock(), reach_of(seen))
        try:
            return await target.send(ARGUMENTS, KEY, timeout), seen
        except CallFailure as failure:
            return failure, seen


def in_turn(*each: Respond) -> Respond:
    """Each request gets the next answer."""
    left = iter(each)

    async def respond(writer: StreamWriter) -> None:
        await next(left)(writer)

    return respond


def body_of(seen: Seen, request: int = 0) -> Any:
    """What was sent."""
    return json.loads(seen.bodies[request])


async def test_a_request_is_filled_in_and_its_success_is_the_answer() -> None:
    """Path arguments stay inside their segment; the rest is the body; key, credential and host are headers."""
    reply, seen = await send(answering(201, {"id": 7}), an_endpoint())

    assert isinstance(reply, ModelReply)
    assert json.loads(reply.text) == {"status": 201, "body": {"id": 7}}
    assert seen.heads[0].startswith("POST /p/a%2Fb/tasks HTTP/1.1")
    assert body_of(seen) == {"title": "Check"}
    assert seen.header("idempotency-key") == KEY
    assert seen.header("authorization") == f"Bearer {SECRET}"


async def test_another_origin_is_another_target() -> None:
    """A stage that puts another host in its place has asked nothing there yet."""
    async with make_client() as client:
        here, there = (
            HttpEndpoint(client, an_endpoint(), secret, FixedClock(), Reach(origins=origins)).route
            for origins in ({}, {HOST: "https://elsewhere.example"})
        )

    assert here != there


async def test_a_looked_up_target_gets_our_id_in_its_body_and_no_header() -> None:
    """What is found later is found by it."""
    _, seen = await send(answering(201, {}), an_endpoint(FIND))

    assert body_of(seen) == {"title": "Check", "external_id": KEY}
    assert seen.header("idempotency-key") is None


async def test_a_get_carries_its_arguments_in_the_query() -> None:
    """Text as it is, anything else as JSON."""
    async with serving(answering(200, [])) as seen, make_client() as client:
        endpoint = an_endpoint(Nothing(), method="GET", url=f"https://{HOST}/tasks")
        target = HttpEndpoint(client, endpoint, secret, FixedClock(), reach_of(seen))
        await target.send({"q": "a&b", "open": True}, KEY, ENOUGH)

    assert seen.heads[0].startswith("GET /tasks?q=a%26b&open=true HTTP/1.1")


async def test_an_argument_cannot_change_what_the_declaration_says_in_its_query() -> None:
    """And one that is null is none."""
    async with serving(answering(200, [])) as seen, make_client() as client:
        endpoint = an_endpoint(Nothing(), method="GET", url=f"https://{HOST}/tasks?account=ours")
        target = HttpEndpoint(client, endpoint, secret, FixedClock(), reach_of(seen))
        await target.send({"account": "theirs", "q": "x", "page": None}, KEY, ENOUGH)

    assert seen.heads[0].startswith("GET /tasks?account=ours&q=x HTTP/1.1")


@pytest.mark.parametrize(
    ("status", "error_class", "code"),
    [
        (400, "permanent", "target_refused"),
        (401, "permanent", "target_auth"),
        (403, "permanent", "target_forbidden"),
        (404, "permanent", "target_refused"),
        (408, "outcome_unknown", "target_timed_out"),
        (409, "permanent", "target_conflict"),
        (422, "permanent", "target_refused"),
        (425, "transient", "target_unavailable"),
        (429, "rate_limited", "rate_limited"),
        (500, "outcome_unknown", "target_error"),
        (502, "outcome_unknown", "target_error"),
        (503, "transient", "target_unavailable"),
        (504, "outcome_unknown", "target_timed_out"),
    ],
)
async def test_each_refusal_has_its_meaning(status: int, error_class: str, code: str) -> None:
    """Invalid arguments, authentication, permission and conflict are final; after 408, 502, 504 nobody knows."""
    failure, _ = await send(answering(status, {"code": "x"}, {"retry-after": "3"}), an_endpoint())

    assert isinstance(failure, CallFailure)
    assert (failure.error_class, failure.code, failure.was_sent) == (error_class, code, True)
    assert (failure.retry_after is not None) == (error_class in {"transient", "rate_limited"})


@pytest.mark.parametrize("respond", [hang_up, reset, answering(201, {"id": 7}, cut=2)])
async def test_a_connection_that_breaks_after_the_send_leaves_a_maybe(respond: Respond) -> None:
    """Also one that breaks in the middle of a success: what it made is not known."""
    failure, _ = await send(respond, an_endpoint())

    assert isinstance(failure, CallFailure)
    assert (failure.error_class, failure.was_sent) == ("outcome_unknown", True)


async def test_a_timeout_after_the_send_leaves_a_maybe() -> None:
    """The target may still be at it."""
    timeout = timedelta(seconds=3)  # half of it may go into connecting, which a busy machine draws out
    failure, _ = await send(silence, an_endpoint(), timeout=timeout)

    assert isinstance(failure, CallFailure)
    assert (failure.error_class, failure.code) == ("outcome_unknown", "target_timed_out")


@pytest.mark.parametrize(("status", "error_class"), [(307, "permanent"), (308, "permanent"), (303, "outcome_unknown")])
async def test_no_redirect_is_followed(status: int, error_class: str) -> None:
    """The request and its credential go where the declaration says, and nowhere else."""
    failure, seen = await send(answering(status, "", {"location": "http://169.254.169.254/"}), an_endpoint())

    assert isinstance(failure, CallFailure)
    assert (failure.error_class, failure.code, seen.connections) == (error_class, "target_redirects", 1)


async def test_a_success_too_large_or_unreadable_is_one_without_a_body() -> None:
    """It has happened, whatever it says."""
    for body in ("x" * (MOST_BYTES + 1), "<html>", '{"n": NaN}', "[" * 65 + "]" * 65, "[" * 5000):
        reply, _ = await send(answering(201, body), an_endpoint())
        assert isinstance(reply, ModelReply)
        assert json.loads(reply.text) == {"status": 201, "body": None}


async def test_what_can_be_read_by_all_is_kept_to_the_last_level() -> None:
    """A kind, the API and its clients read it again, each with a limit of depth of its own."""
    told = "[" * 64 + "]" * 64
    reply, _ = await send(answering(201, told), an_endpoint())

    assert isinstance(reply, ModelReply)
    answer = ANSWER.validate_json(reply.text)
    assert json.dumps(TargetResponse(status=answer.status, body=answer.body).model_dump(mode="json")["body"]) == told


async def test_a_natural_keys_conflict_is_done_already_and_is_read_back() -> None:
    """The second request asks for what is there."""
    async with serving(answering(409, {})) as seen, make_client() as client:
        target = HttpEndpoint(client, an_endpoint(READ_BACK), secret, FixedClock(), reach_of(seen))
        with pytest.raises(CallFailure) as unread:
            await target.send(ARGUMENTS, KEY, ENOUGH)

    assert [head.split()[0:2] for head in seen.heads] == [["POST", "/p/a%2Fb/tasks"], ["GET", "/p/a%2Fb"]]
    assert unread.value.error_class == "outcome_unknown"  # the reading back met a conflict too


@pytest.mark.parametrize(
    ("there", "is_done"),
    [
        ({"id": 7, "project": "A/B"}, True),  # some keep it in small letters
        ({"data": [{"id": 7, "project": "a/b"}]}, True),
        ({"data": [], "total": 0}, False),
        ([], False),
        ({"id": 8, "project": "c"}, False),
        ("", False),
    ],
)
async def test_what_is_read_back_is_what_was_asked_for_or_nobody_knows(there: Any, *, is_done: bool) -> None:
    """A conflict can be about anything; an empty list, or another's object, does not make it a success."""
    came, seen = await send(in_turn(answering(409, {}), answering(200, there)), an_endpoint(READ_BACK))

    if is_done:
        assert isinstance(came, ModelReply)
        assert json.loads(came.text) == {"status": 200, "body": there}
    else:
        assert isinstance(came, CallFailure)
        assert (came.error_class, came.code, came.was_sent) == ("outcome_unknown", "target_told_of_another", True)
    assert seen.connections == 2


@pytest.mark.parametrize(
    ("respond", "found"),
    [
        (answering(404, {"code": "task_not_found"}), LookupReply.NOT_FOUND),
        (answering(404, {"error": {"code": "task_not_found"}}), LookupReply.NOT_FOUND),
        (answering(404, {"code": "unknown_url"}), LookupReply.UNREACHABLE),
        (answering(404, "<html>"), LookupReply.UNREACHABLE),
        (answering(500, {}), LookupReply.UNREACHABLE),
        (answering(204, ""), LookupReply.UNREACHABLE),
        (answering(200, []), LookupReply.UNREACHABLE),
        (answering(200, {"data": [], "url": f"/tasks?external_id={KEY}"}), LookupReply.UNREACHABLE),
        (answering(200, {"query": KEY, "data": []}), LookupReply.UNREACHABLE),
        (answering(200, {"data": [{"id": 7, "external_id": "another"}]}), LookupReply.UNREACHABLE),
        (answering(200, "<html>"), LookupReply.UNREACHABLE),
        (answering(302, "", {"location": "/"}), LookupReply.UNREACHABLE),
        (hang_up, LookupReply.UNREACHABLE),
    ],
)
async def test_only_the_lookups_own_word_says_that_nothing_happened(respond: Respond, found: LookupReply) -> None:
    """The 404 of a wrong address would otherwise be a second effect, and an empty list the success of what is lost."""
    async with serving(respond) as seen, make_client() as client:
        target = HttpEndpoint(client, an_endpoint(FIND), secret, FixedClock(), reach_of(seen))

        assert await target.lookup(KEY, ENOUGH) == found
    assert seen.heads[0].startswith(f"GET /tasks/{KEY} ")


@pytest.mark.parametrize("made", [{"id": 7, "external_id": "a/b"}, {"data": [{"id": 7, "external_id": "A/B"}]}])
async def test_a_lookup_finds_what_was_made(made: Any) -> None:
    """Read as the first answer would have been; a search may list it."""
    async with serving(answering(200, made)) as seen, make_client() as client:
        target = HttpEndpoint(client, an_endpoint(FIND), secret, FixedClock(), reach_of(seen))
        found = await target.lookup(DownstreamKey("a/b"), ENOUGH)

    assert isinstance(found, ModelReply)
    assert json.loads(found.text) == {"status": 200, "body": made}
    assert seen.heads[0].startswith("GET /tasks/a%2Fb ")
