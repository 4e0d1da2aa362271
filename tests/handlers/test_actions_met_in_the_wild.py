"""What agents' frameworks did to other people's tools, each by its case's id: the same requests, the right answers."""

from __future__ import annotations

from concurrent.futures import ThreadPoolExecutor
from typing import Any

from onceward.domain.states import JobState
from tests.support.action_world import ActionWorld
from tests.support.actions import refused

OPERATION = "ticket-481:create-task:v1"
ARGUMENTS = {"source_ticket": "481", "title": "Check"}


def ask(world: ActionWorld, **more: Any) -> Any:
    """The request of all cases, but for what a case changes."""
    return world.post(OPERATION, **{"arguments": ARGUMENTS, "run_id": "run-1", "attempt": 1, **more})


def test_ag_01_a_new_tool_call_id_in_each_turn_is_the_same_intention() -> None:
    """One effect; the second answer is the stored result."""
    world = ActionWorld()
    first = ask(world, tool_call_id="call_a")
    world.work()
    second = ask(world, attempt=2, tool_call_id="call_b")

    assert (first.status, second.status, second.headers["idempotent-replayed"]) == (202, 200, "true")
    assert (second.json["response"]["body"], world.effects) == ({"id": 1}, 1)


def test_ag_02_a_run_that_is_retried_replays_what_had_succeeded() -> None:
    """The stored result, and the executor is not called again; also when another action of the run has failed."""
    world = ActionWorld()
    ask(world)
    world.work()
    world.target.before = [refused()]
    world.post("ticket-481:notify:v1", run_id="run-1")
    world.work()
    again = ask(world, attempt=2)

    assert (again.status, again.json["status"], world.effects, world.target.requests) == (200, "succeeded", 1, 2)


def test_ag_04_the_attempt_is_no_part_of_the_fingerprint() -> None:
    """Attempt 1 and attempt 7 are one request: no 409 for a changed key."""
    world = ActionWorld()
    ask(world)
    world.work()
    seventh = ask(world, attempt=7)

    assert (seventh.status, world.effects) == (200, 1)
    assert len(world.world.store.rows) == 1


def test_ag_07_a_payload_that_is_swapped_on_a_retry_is_a_conflict() -> None:
    """Also where the first one was approved: 409, and no effect of the other payload."""
    for needs_approval in (False, True):
        world = ActionWorld(requires_approval=needs_approval)
        fingerprint = ask(world).json["fingerprint"]
        if needs_approval:
            world.say("approve", OPERATION, fingerprint=fingerprint, why="x")
        swapped = ask(world, attempt=2, arguments={"source_ticket": "481", "title": "Delete all"})
        world.work()

        assert (swapped.status, swapped.json["code"]) == (409, "idempotency_key_reused")
        assert [given["title"] for _, given in world.target.effects] == ["Check"]


def test_ag_08_two_agents_at_the_same_moment_make_one_effect() -> None:
    """The other is told that it is in progress, or gets the stored result; never a second row."""
    world = ActionWorld()
    with ThreadPoolExecutor(1) as pool:  # the environment of one function takes one request at a time
        first, second = pool.map(lambda run: ask(world, run_id=run), ("run-1", "run-2"))
    world.work()
    later = ask(world, run_id="run-2", attempt=2)

    assert (first.status, second.status, second.json["code"]) == (202, 409, "operation_in_progress")
    assert (later.status, world.row.state, world.effects) == (200, JobState.SUCCEEDED, 1)
