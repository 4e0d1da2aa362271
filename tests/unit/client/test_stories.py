"""The stories driven by hand: what is sent, when, and what each answer is taken for. No socket, no waiting."""

import json
from collections.abc import Iterator, Mapping
from datetime import UTC, datetime, timedelta

import httpx
import pytest

from onceward.client import ApiError, ConnectionFailed, JobView, WaitTimeout, result_of
from onceward.client.answers import NoAnswer, Reply
from onceward.client.request import read_job
from onceward.client.stories import Send, Story, Told, advance, exchange, get, submit, wait
from onceward.client.target import Target

NOW = datetime(2026, 3, 1, 12, 0, tzinfo=UTC)
COST = {"exact_micro_usd": 0, "low_micro_usd": 0, "high_micro_usd": 0, "unpriced": False}
LOST = NoAnswer(httpx.ReadError("secret words"))


def a_target(clock: Iterator[float] | None = None, *, max_retries: int = 2, draw: float = 0.5) -> Target:
    """A target whose clock and chance are known."""
    return Target(
        base_url="http://api.test",
        token="t",
        max_retries=max_retries,
        monotonic=lambda: next(clock) if clock else 0.0,
        now=lambda: NOW,
        draw=lambda: draw,
    )


def a_reply(body: object, status: int = 200, headers: Mapping[str, str] | None = None) -> Reply:
    """An answer."""
    return Reply(status, headers or {}, json.dumps(body).encode())


def a_view(**changed: object) -> dict[str, object]:
    """A job as the API answers it."""
    return {
        "job_id": "J",
        "kind": "text.generate",
        "status": "running",
        "created_at": NOW.isoformat(),
        "deadline_at": NOW.isoformat(),
        "created_by": "client",
        "epoch": 1,
        "expires_at": NOW.isoformat(),
        "attempts": [],
        "provider_cost": COST,
        **changed,
    }


def drive[Result](story: Story[Result], *came: Reply | NoAnswer) -> tuple[list[Send], Result]:
    """Give a story its answers, one for each send; what it sent, and what it made of it."""
    sent: list[Send] = []
    step = advance(story, None)
    for one in came:
        assert isinstance(step, Send), "the story ended before its last answer"
        sent.append(step)
        step = advance(story, one)
    assert isinstance(step, Told), "the story wants more answers"
    return sent, step.result


@pytest.mark.parametrize("status", [408, 429, 502, 503, 504])
def test_busy_is_asked_again_after_a_jittered_pause(status: int) -> None:
    """What may be better the next time is sent again, later and later, each time the same."""
    busy = Reply(status)
    sent, reply = drive(exchange(a_target(), read_job("J")), busy, busy, a_reply({}))

    assert reply.status == 200
    assert [one.after for one in sent] == [0.0, 0.25, 0.5]
    assert all(one.request is sent[0].request for one in sent)


@pytest.mark.parametrize("status", [400, 401, 402, 403, 404, 409, 413, 422, 500, 301])
def test_final_answers_are_not_asked_for_again(status: int) -> None:
    """What cannot be better the next time comes back at once."""
    sent, reply = drive(exchange(a_target(), read_job("J")), Reply(status))

    assert (len(sent), reply.status) == (1, status)


def test_server_may_forbid_to_ask_again() -> None:
    """``x-should-retry: false`` holds whatever the status."""
    sent, _ = drive(exchange(a_target(), read_job("J")), Reply(503, {"x-should-retry": "False"}))

    assert len(sent) == 1


@pytest.mark.parametrize(
    ("asked", "pause"),
    [
        ("3", 3.25),
        ("Sun, 01 Mar 2026 12:00:07 GMT", 7.25),
        ("Sun, 01 Mar 2026 11:59:00 GMT", 0.25),
        ("soon", 0.25),
        ("-5", 0.25),
        ("60", 60.25),
    ],
)
def test_retry_after_is_a_floor(asked: str, pause: float) -> None:
    """The server's wish is kept, and jitter lies on top of it; what is malformed is no wish."""
    sent, _ = drive(exchange(a_target(), read_job("J")), Reply(429, {"retry-after": asked}), a_reply({}))

    assert sent[1].after == pause


def test_long_wish_is_the_caller_s_to_decide() -> None:
    """Nobody sleeps an hour inside a call: the answer is told at once, with the wish."""
    with pytest.raises(ApiError) as told:
        drive(get(a_target(), "J"), Reply(429, {"retry-after": "3600"}))

    assert told.value.retry_after is not None
    assert (told.value.code, told.value.retry_after.total_seconds()) == ("rate_limited", 3600)


def test_last_answer_is_told_when_patience_ends() -> None:
    """After the last retry the answer is told as it is."""
    sent, reply = drive(exchange(a_target(max_retries=1), read_job("J")), Reply(503), Reply(502))

    assert (len(sent), reply.status) == (2, 502)


def test_lost_answers_end_in_a_failure_that_quotes_nothing() -> None:
    """Transport errors are retried like busy answers; their text, which may hold a header, is not repeated."""
    with pytest.raises(ConnectionFailed) as failed:
        drive(exchange(a_target(), read_job("J")), LOST, LOST, LOST)

    assert str(failed.value) == "no answer from http://api.test (ReadError, 3 tries)"


def test_key_is_made_once_before_the_first_send() -> None:
    """Each try of one submission has one and the same key and body; the answer's handle names it."""
    accepted = a_reply(a_view(status="queued"), 202, {"idempotent-replayed": "true"})
    sent, job = drive(submit(a_target(), "text.generate", {"prompt": "é"}, None), LOST, Reply(503), accepted)

    assert {one.request.headers["idempotency-key"] for one in sent} == {f'"{job.idempotency_key}"'}
    assert {one.request.content for one in sent} == {b'{"kind": "text.generate", "input": {"prompt": "\\u00e9"}}'}
    assert job.is_replay


def test_wait_holds_pauses_and_looks_at_the_end() -> None:
    """Each request is held as long as the API allows, pauses are the API's, and the last look is at the last moment."""
    clock = iter([0.0, 0.0, 20.0, 20.0, 24.0, 24.0, 25.0])  # at the start, then before and after each request
    running = a_reply(a_view(), headers={"retry-after": "2"})
    story = wait(a_target(clock), "J", 25.0)

    sent = [next(story), story.send(running), story.send(running)]
    with pytest.raises(WaitTimeout, match="running and goes on"):
        story.send(running)
    assert [(one.after, one.request.path.partition("?")[2]) for one in sent] == [
        (0.0, "wait=20.000"),
        (2.0, "wait=3.000"),
        (1.0, ""),
    ]


def test_waiting_sleeps_no_longer_than_its_time_whatever_a_busy_server_asks_for() -> None:
    """The refusal is told, with what it asked for."""
    story = wait(a_target(iter([0.0] * 9)), "J", 25.0)
    next(story)

    with pytest.raises(ApiError) as raised:
        story.send(a_reply({"code": "rate_limited", "title": "x", "status": 429}, 429, {"retry-after": "50"}))
    assert raised.value.retry_after == timedelta(seconds=50)


@pytest.mark.parametrize("status", ["succeeded", "failed", "cancelled", "needs_review"])
def test_wait_ends_where_nothing_more_happens_by_itself(status: str) -> None:
    """A job in review is no reason to wait on: a person decides."""
    _, job = drive(wait(a_target(), "J", None), a_reply(a_view()), a_reply(a_view(status=status)))

    assert job.status == status


def test_newer_server_is_understood() -> None:
    """Members and words that this version does not know pass; an unknown state is not taken for an end."""
    newer = a_view(status="hibernating", waiting_for="spring", mood="good")
    _, job = drive(get(a_target(), "J"), a_reply(newer))

    assert (job.status, job.waiting_for) == ("hibernating", "spring")
    with pytest.raises(WaitTimeout):
        result_of(job)


@pytest.mark.parametrize("body", [b"", b"<html>", b"[]", b'{"job_id": "J"}', b"\xff"])
def test_unreadable_success_is_an_error(body: bytes) -> None:
    """A 200 that is not the API's answer is never taken for one."""
    with pytest.raises(ApiError, match="unreadable_answer"):
        drive(get(a_target(), "J"), Reply(200, {}, body))


@pytest.mark.parametrize(
    ("status", "body", "told"),
    [
        (500, b'{"message":"Internal Server Error"}', "500 internal_error: Internal Server Error"),
        (413, b'{"message":"Request Entity Too Large"}', "413 body_too_large: Request Entity Too Large"),
        (403, b"<html>Forbidden by a proxy</html>", "403 forbidden"),
        (418, b'{"message": 7}', "418 http_418"),
    ],
)
def test_answers_of_others_are_told_shortly(status: int, body: bytes, told: str) -> None:
    """What the gateway or a proxy says has a code too; only a gateway's message is repeated."""
    with pytest.raises(ApiError) as error:
        drive(get(a_target(), "J"), Reply(status, {}, body))

    assert str(error.value) == told


def test_view_is_the_wire_s_own() -> None:
    """What ``get`` returns is the model that the server answers with."""
    _, job = drive(get(a_target(), "J"), a_reply(a_view(status="succeeded", result={"text": "HI"})))

    assert job == JobView.model_validate(a_view(status="succeeded", result={"text": "HI"}))


@pytest.mark.parametrize(("wish", "told"), [({}, None), ({"coalesce": True}, None), ({"coalesce": False}, False)])
def test_another_variant_is_asked_for_in_the_request(wish: dict[str, bool], told: bool | None) -> None:
    """``coalesce=False`` is sent; what is the server's default is not, so that older servers understand it too."""
    step = advance(submit(a_target(), "text.generate", {"prompt": "hi"}, "key-1", **wish), None)
    assert isinstance(step, Send)

    assert json.loads(step.request.content or b"{}").get("coalesce") is told
