"""An agent's requests: every answer that the door may give, and that the world changes once."""

from __future__ import annotations

import json
from dataclasses import replace
from datetime import datetime, timedelta
from typing import Any

import pytest

from onceward.domain.job import Job
from onceward.domain.states import JobState
from onceward.errors.sentences import SENTENCES
from tests.support.action_world import ARGUMENTS, ActionWorld
from tests.support.actions import an_action, lost, refused
from tests.support.api_world import create


def test_a_first_request_is_accepted_and_a_finished_one_answers_the_same_object() -> None:
    """202 with where to ask, then 200 with the stored response, marked as a replay."""
    world = ActionWorld()
    first = world.post(run_id="run-1", attempt=1)
    world.work()
    second, third = world.post(run_id="run-1", attempt=2), world.post(run_id="run-1", attempt=3)

    assert (first.status, first.json["status"], first.headers["retry-after"]) == (202, "queued", "1")
    assert first.headers["location"] == "/agent-actions/ticket-481%3Acreate-task%3Av1"
    assert (second.status, second.headers["idempotent-replayed"]) == (200, "true")
    assert second.json["response"] == {"status": 201, "body": {"id": 1}}
    assert second.json == third.json
    assert second.json["job_id"] == first.json["job_id"]
    assert world.effects == 1


def test_in_progress_is_a_409_with_the_rest_of_the_lease() -> None:
    """Queued: soon. Running: when the lease ends, a minute at most. Waiting: when it wakes."""
    world = ActionWorld()
    world.post()
    queued = world.post()
    row = world.row
    world.world.keep(_running(row, world.world.clock.now()))
    running = world.post()
    seen = world.get()

    assert (queued.status, queued.json["code"], queued.headers["retry-after"]) == (409, "operation_in_progress", "1")
    assert (running.status, running.headers["retry-after"]) == (409, "42")
    assert "x-should-retry" not in running.headers
    assert (seen.status, seen.headers["retry-after"]) == (200, "2"), "who only looks is not held up by a lease"
    assert world.effects == 0


def _running(row: Job, now: datetime) -> Job:
    """The row as a worker holds it, for another 41.5 seconds."""
    return replace(row, state=JobState.RUNNING, lease_until=now + timedelta(seconds=41.5))


def test_a_preference_to_wait_gets_the_answer_or_a_202() -> None:
    """``Prefer: wait`` never gets a 409 for being early."""
    world = ActionWorld()
    world.post()
    waited = world.post(prefer="wait=5")
    queued = world.row
    world.world.keep(_running(queued, world.world.clock.now()))
    running = world.post(prefer="wait=5")
    world.world.keep(queued)
    world.work()
    in_time = world.post(prefer="wait=5")

    assert (waited.status, waited.headers["preference-applied"]) == (202, "wait=5")
    assert (running.status, running.headers["retry-after"]) == (202, "2")
    assert (in_time.status, in_time.json["status"]) == (200, "succeeded")


def test_another_payload_under_the_key_is_a_conflict_before_anything_else() -> None:
    """Checked before in-progress, and after the end too; not worth a retry; nothing is sent."""
    world = ActionWorld()
    world.post(attempt=1)
    early = world.post(arguments={**ARGUMENTS, "title": "Delete all"}, attempt=2)
    world.work()
    late = world.post(arguments={**ARGUMENTS, "title": "Delete all"})

    for answer in (early, late):
        assert (answer.status, answer.json["code"]) == (409, "idempotency_key_reused")
        assert answer.headers["x-should-retry"] == "false"
    assert [given["title"] for _, given in world.target.effects] == ["Check"]
    assert world.target.requests == 1


def test_attempt_run_and_transport_ids_are_recorded_and_make_nothing_another_request() -> None:
    """Every transport attempt is listed on the record, refused ones too; the hot row does not grow."""
    world = ActionWorld()
    world.post(run_id="run-1", attempt=1, tool_call_id="call_a")
    size = len(repr(world.row))
    world.post(run_id="run-2", attempt=7, tool_call_id="call_b")
    world.post(arguments={**ARGUMENTS, "title": "x"}, attempt=8)
    told = world.get().json["transport_attempts"]

    assert [(one["came_to"], one["attempt"], one["run_id"], one["tool_call_id"]) for one in told] == [
        ("created", 1, "run-1", "call_a"),
        ("replayed", 7, "run-2", "call_b"),
        ("refused", 8, None, None),
    ]
    assert len(repr(world.row)) == size
    assert {one["by"] for one in told} == {"client-acme"}


def test_the_header_alone_or_the_same_in_both_is_the_key() -> None:
    """The first three members are optional where the header is there."""
    world = ActionWorld()
    first = world.post(None, key="ticket-7")
    both, quoted, body = (
        world.post("ticket-7", key="ticket-7"),
        world.post(None, key='"ticket-7"'),
        world.post("ticket-7"),
    )

    assert first.status == 202
    assert {both.status, quoted.status, body.status} == {409}
    assert world.get("ticket-7").json["operation_id"] == "ticket-7"
    assert len(world.world.store.rows) == 1


@pytest.mark.parametrize(
    ("operation_id", "key", "status", "code"),
    [
        ("a", "b", 400, "idempotency_key_disagrees"),
        (None, None, 400, "idempotency_key_missing"),
        (None, "a,b", 400, "idempotency_key_malformed"),
        (None, "a/b", 400, "idempotency_key_malformed"),
        (None, "..", 400, "idempotency_key_malformed"),
        ("a/b", None, 422, "invalid_input"),
        ("a%2Fb", None, 422, "invalid_input"),
    ],
)
def test_a_key_that_is_none_or_two_is_refused(
    operation_id: str | None, key: str | None, status: int, code: str
) -> None:
    """Nothing is stored."""
    world = ActionWorld()
    answer = world.post(operation_id, key=key)

    assert (answer.status, answer.json["code"]) == (status, code)
    assert _is_empty(world)


def test_a_failure_is_stored_and_answered_until_it_is_reset() -> None:
    """The same failure each time, and no second request."""
    world = ActionWorld()
    world.target.before = [refused()]
    world.post()
    world.work()
    answers = [world.post() for _ in range(2)]

    for answer in answers:
        assert (answer.status, answer.json["status"], answer.json["error"]) == (
            200,
            "failed",
            {"code": "target_refused", "message": SENTENCES["target_refused"]},
        )
        assert answer.headers["idempotent-replayed"] == "true"
    assert (world.target.requests, world.effects) == (1, 0)


def test_a_reset_is_an_operators_word_on_record_and_a_new_epoch() -> None:
    """Asked twice it is one; an agent may not; what is not failed cannot be."""
    world = ActionWorld()
    world.post()
    early = world.say("reset", epoch=1, why="again")
    world.target.before = [refused()]
    world.work()
    forbidden = world.say("reset", scope="actions:create_task", epoch=1, why="again")
    first, second = (world.say("reset", epoch=1, why="the tracker was down") for _ in range(2))
    world.work()
    told = world.get().json

    assert (early.status, early.json["code"]) == (409, "operation_not_failed")
    assert forbidden.status == 403
    assert (first.status, first.json["epoch"], second.json["epoch"]) == (202, 2, 2)
    assert (told["status"], told["response"]["status"], world.effects) == ("succeeded", 201, 1)
    assert [(one["word"], one["epoch"], one["by"], one["why"]) for one in told["words"]] == [
        ("reset", 1, "client-acme", "the tracker was down")
    ]
    assert [(one["epoch"], one["outcome"]) for one in told["attempts"]] == [(1, "failed"), (2, "succeeded")]


@pytest.mark.parametrize(
    ("fields", "status", "code"),
    [
        ({"scope": "onceward/jobs:read onceward/jobs:write"}, 403, "forbidden"),
        ({"scope": "actions:other"}, 403, "forbidden"),
        ({"scope": "actions"}, 403, "forbidden"),
        ({"action": "other", "scope": "actions:other"}, 422, "unknown_action"),
        ({"arguments": {"source_ticket": "481"}}, 422, "invalid_input"),
        ({"arguments": {**ARGUMENTS, "extra": 1}}, 422, "invalid_input"),
        ({"arguments": {"source_ticket": "481", "title": "forbidden"}}, 422, "not_admissible"),
        ({"attempt": 0}, 422, "invalid_input"),
        ({"surprise": 1}, 422, "invalid_input"),
    ],
)
def test_permission_arguments_and_admissibility_come_before_anything_is_registered(
    fields: dict[str, Any], status: int, code: str
) -> None:
    """403 or 422, and nothing stored; the same operation is then free for a right request."""
    world = ActionWorld(check=lambda given: "not that" if given.title == "forbidden" else None)
    answer = world.post(**fields)

    assert (answer.status, answer.json["code"]) == (status, code)
    assert _is_empty(world)
    assert world.post().status == 202


def test_arguments_that_cannot_stand_in_the_targets_address_are_refused_at_the_door() -> None:
    """They would make it another address; nothing is stored."""
    endpoint = an_action().endpoint
    world = ActionWorld(endpoint=replace(endpoint, name="create_task", url=f"{endpoint.url}/{{source_ticket}}"))
    answers = [world.post(arguments={**ARGUMENTS, "source_ticket": one}) for one in ("..", ".")]

    assert [(one.status, one.json["code"]) for one in answers] == [(422, "not_admissible")] * 2
    assert _is_empty(world)


def test_faults_in_arguments_are_told_by_their_place() -> None:
    """As in a job's input, below ``/arguments``."""
    answer = ActionWorld().post(arguments={"source_ticket": "", "title": "x"})

    assert [fault["pointer"] for fault in answer.json["errors"]] == ["/arguments/source_ticket"]


def test_an_actions_own_rate_limits_its_creates_and_not_its_replays() -> None:
    """A minute's worth of one tenant; a repeat is no new one."""
    world = ActionWorld(per_minute=1)
    first, replay, second = world.post("a"), world.post("a"), world.post("b")
    others = world.post("b", tenant="globex")

    assert (first.status, replay.status, second.status, others.status) == (202, 409, 429, 202)
    assert int(second.headers["retry-after"]) <= 60
    assert len(world.world.store.rows) == 2


def test_a_job_of_an_actions_kind_cannot_be_made_at_the_jobs_door() -> None:
    """There it would pass by permission, approval and rate."""
    world = ActionWorld()
    body = json.dumps({"kind": "action.create_task", "input": ARGUMENTS})
    answer = create(world.api, "k", body)

    assert (answer.status, answer.json["code"]) == (422, "unknown_kind")
    assert _is_empty(world)


def test_a_parked_operation_says_so_and_is_not_repeated() -> None:
    """A target that promises nothing, and an answer that never came."""
    world = ActionWorld("nothing")
    world.target.after = [lost()]
    world.post()
    world.work()
    answer = world.post()

    assert (answer.status, answer.json["code"], answer.headers["retry-after"]) == (409, "operation_in_progress", "60")
    assert world.get().json["status"] == "needs_review"
    assert (world.target.requests, world.effects) == (1, 1)
    assert [json.loads(one)["reason"] for one in world.world.queue.dead_letters] == ["needs_review"]


def _is_empty(world: ActionWorld) -> bool:
    """Whether nothing was stored and nothing sent."""
    store = world.world.store
    return not (store.rows or store.items or world.world.queue.receive(1))
