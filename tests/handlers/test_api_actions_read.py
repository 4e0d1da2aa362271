"""Reading agents' operations: whose they are, who may see them, what a run's list and an erasure leave."""

from __future__ import annotations

import asyncio
import json
from datetime import timedelta

from onceward.domain.action_records import Seen
from onceward.handlers.action_views import MOST_SHOWN
from onceward.usecases.note_attempt import Transport, note_attempt
from tests.support.action_world import ARGUMENTS, OPERATION, ActionWorld
from tests.support.actions import lost
from tests.support.api_world import an_event, ask, claims_of


def test_another_tenants_operation_is_as_absent() -> None:
    """For reading, repeating and an operator's words alike."""
    world = ActionWorld()
    world.post(run_id="run-1")
    foreign = world.get(tenant="globex")
    absent = world.get("no-such-thing")
    own = world.post(tenant="globex")

    assert (
        (foreign.status, foreign.json["code"]) == (absent.status, absent.json["code"]) == (404, "operation_not_found")
    )
    assert own.status == 202
    assert own.json["job_id"] != world.get().json["job_id"]
    assert world.listed("run-1", tenant="globex").json["operations"] == []


def test_reading_needs_the_actions_own_scope_or_an_operator() -> None:
    """A token for another action sees nothing of it, in the list neither."""
    world = ActionWorld()
    world.post(run_id="run-1")

    assert world.get(scope="actions:other").status == 404
    assert world.get(scope="jobs:read").status == 403
    assert world.get(scope="ops").status == 200
    assert world.listed("run-1", scope="actions:other").json["operations"] == []
    assert len(world.listed("run-1", scope="ops").json["operations"]) == 1


def test_a_review_names_the_operation_whose_arguments_a_person_looks_at() -> None:
    """The review is of a job; what may have happened is known under the agent's name for it."""
    world = ActionWorld("nothing")
    world.target.after = [lost()]
    job_id = world.post().json["job_id"]
    world.work()
    review = ask(world.api, an_event("GET", f"/api/ai/reviews/{job_id}", claims=claims_of(scope="ops"))).json

    assert (review["is_open"], review["operation_id"]) == (True, OPERATION)
    assert world.get(review["operation_id"], scope="ops").json["arguments"] == ARGUMENTS


def test_a_runs_operations_are_listed_newest_first_and_page_by_page() -> None:
    """Each once, however often it was asked for; a cursor is of its own run."""
    world = ActionWorld()
    for name in ("a", "b", "c", "a"):
        world.post(name, run_id="run-1")
        world.world.clock.move(timedelta(seconds=1))
    first = world.listed("run-1", "&limit=2").json
    second = world.listed("run-1", f"&limit=2&cursor={first['next_cursor']}").json

    assert [one["operation_id"] for one in first["operations"]] == ["c", "b"]
    assert [one["operation_id"] for one in second["operations"]] == ["a"]
    assert second["next_cursor"] is None
    assert world.listed("run-2", f"&cursor={first['next_cursor']}").status == 422


def test_an_operation_that_was_asked_for_in_a_loop_can_still_be_read() -> None:
    """The last thousand requests are shown, and all are counted: an answer has six megabytes at most."""
    world = ActionWorld()
    world.post(attempt=1)
    job, store = world.row, world.world.store
    world.world.clock.move(timedelta(seconds=1))
    told = Transport(by="client-acme", attempt=2, run_id="r" * 128, tool_call_id="t" * 255)

    async def hammered() -> None:
        for _ in range(MOST_SHOWN + 5):
            await note_attempt(store, world.world.clock, world.world.ids, job, told, Seen.REPLAYED)

    asyncio.run(hammered())
    answer = world.get()

    assert answer.json["transport_attempts_seen"] == MOST_SHOWN + 6
    assert {one["attempt"] for one in answer.json["transport_attempts"]} == {2}
    assert len(answer.json["transport_attempts"]) == MOST_SHOWN
    assert len(json.dumps(answer.json)) < 1_000_000


def test_an_erased_operation_keeps_its_place_and_loses_its_words() -> None:
    """Arguments, answer and the agent's name for it are gone; the key still answers."""
    world = ActionWorld()
    job_id = world.post().json["job_id"]
    world.work()
    erased = ask(world.api, an_event("DELETE", f"/api/ai/jobs/{job_id}", claims=claims_of()))
    told = world.get().json

    assert erased.status == 204
    assert (told["operation_id"], told["response"], told["status"]) == (None, None, "succeeded")
    assert OPERATION not in repr(world.world.store.items)
