"""The story of an action driven by hand: one key, a rising attempt, and what each answer is taken for."""

from __future__ import annotations

import json
from collections.abc import Mapping
from datetime import timedelta
from typing import Any

import pytest

from onceward.client import ActionCancelled, ActionFailed, ActionParked, ActionUnfinished, ApiError, ConnectionFailed
from onceward.client.acting import act
from onceward.client.answers import Reply
from onceward.client.stories import Send
from onceward.errors import MalformedKey
from onceward.wire.action_views import ActionAnswer
from tests.unit.client.test_stories import LOST, NOW, a_reply, a_target, drive

ARGUMENTS = {"source_ticket": "481", "title": "Check"}


def an_operation(status: str = "succeeded", **changed: object) -> dict[str, object]:
    """An operation as the API answers it."""
    return {
        "operation_id": "o-1",
        "action": "create_task",
        "job_id": "J",
        "status": status,
        "epoch": 1,
        "fingerprint": "f",
        "created_at": NOW.isoformat(),
        "deadline_at": NOW.isoformat(),
        "response": {"status": 201, "body": {"id": 7}} if status == "succeeded" else None,
        **changed,
    }


def in_progress(retry_after: str = "3") -> Reply:
    """What a repeat is told while the operation goes on."""
    return a_reply({"code": "operation_in_progress", "title": "x", "status": 409}, 409, {"retry-after": retry_after})


def acted(*came: Any, timeout: float | None = None, clock: Any = None) -> tuple[list[Send], ActionAnswer]:
    """One action to its end."""
    return drive(act(a_target(clock), "create_task", ARGUMENTS, "o-1", "run-1", timeout), *came)


def body_of(send: Send) -> Mapping[str, Any]:
    """What was sent."""
    told: Mapping[str, Any] = json.loads(send.request.content or b"")
    return told


def test_what_is_lost_or_early_is_asked_again_under_the_same_key_with_a_rising_attempt() -> None:
    """Lost, refused for load, in progress, accepted and not ended: until the record answers."""
    sent, told = acted(LOST, Reply(503), in_progress(), a_reply(an_operation("running"), 202), a_reply(an_operation()))

    assert [body_of(one)["attempt"] for one in sent] == [1, 2, 3, 4, 5]
    assert {(one.request.headers["idempotency-key"], body_of(one)["operation_id"]) for one in sent} == {
        ('"o-1"', "o-1")
    }
    assert {body_of(one)["run_id"] for one in sent} == {"run-1"}
    assert [one.after for one in sent][3:] == [3.0, 1.0]  # as asked, and the usual pause
    assert told.response is not None
    assert told.response.body == {"id": 7}


def test_it_asks_the_server_to_wait() -> None:
    """So that a finished action costs one request."""
    sent, _ = acted(a_reply(an_operation()))

    assert sent[0].request.headers["prefer"] == "wait=20"
    assert sent[0].request.hold == 20


@pytest.mark.parametrize(
    ("status", "error"), [("failed", ActionFailed), ("cancelled", ActionCancelled), ("needs_review", ActionParked)]
)
def test_a_stored_end_that_is_no_success_is_raised(status: str, error: type[Exception]) -> None:
    """And not asked for again."""
    with pytest.raises(error):
        acted(a_reply(an_operation(status, error={"code": "target_refused"})))


@pytest.mark.parametrize("status", [400, 403, 409, 422])
def test_a_conflict_and_a_refusal_are_final(status: int) -> None:
    """Another payload under the key never becomes right by asking again."""
    with pytest.raises(ApiError) as raised:
        acted(a_reply({"code": "idempotency_key_reused", "title": "x", "status": status, "type": "t"}, status))

    assert raised.value.status == status


def test_no_answer_after_all_tries_says_so() -> None:
    """The operation may be there; the same call finds it."""
    with pytest.raises(ConnectionFailed):
        acted(LOST, LOST, LOST)


def test_a_time_that_is_over_leaves_the_operation_going_on() -> None:
    """Whoever asks again with the same id is told how it ended."""
    clock = iter([0.0, 0.0, 1.0, 1.0, 6.0, 6.0])
    with pytest.raises(ActionUnfinished) as raised:
        acted(in_progress(), in_progress(), timeout=5.0, clock=clock)

    assert raised.value.operation_id == "o-1"


@pytest.mark.parametrize(("asked", "is_tried_again"), [("4", True), ("30", False)])
def test_whoever_would_have_to_wait_past_the_time_is_told_at_once(asked: str, is_tried_again: bool) -> None:
    """A pause that the server asks for is kept whole or not begun: never cut short, never slept past the end."""
    busy = a_reply({"code": "rate_limited", "title": "x", "status": 429, "type": "t"}, 429, {"retry-after": asked})
    story = act(a_target(iter([0.0] * 9)), "create_task", ARGUMENTS, "o-1", None, 5.0)
    next(story)

    if is_tried_again:
        assert story.send(busy).after == 4.25
    else:
        with pytest.raises(ApiError) as raised:
            story.send(busy)
        assert raised.value.retry_after == timedelta(seconds=30)


def test_an_id_that_no_header_can_carry_is_refused_before_anything_is_sent() -> None:
    """As a job's key is."""
    with pytest.raises(MalformedKey):
        drive(act(a_target(), "create_task", ARGUMENTS, "", None, None), a_reply(an_operation()))
