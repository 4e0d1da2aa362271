"""A deploy finds agents' operations as older code left them: approved, asked for again and reset as its own."""

from __future__ import annotations

from datetime import timedelta

import pytest

from tests.support.action_world import ActionWorld
from tests.support.api_world import CountingIds
from tests.support.stored_items import STATES, load, stored_states

FILES = sorted(path.name for path in STATES.iterdir())
FURTHER_ON = 500  # tokens that older processes made


def a_world(file: str, name: str, *, requires_approval: bool = False) -> ActionWorld:
    """Today's API and worker over the stored items, some minutes later."""
    world = ActionWorld(requires_approval=requires_approval)
    load(world.world.store, stored_states(file)[name])
    world.world.ids.made = FURTHER_ON
    world.world.clock.move(timedelta(minutes=20))
    return world


@pytest.mark.invariant(18)
@pytest.mark.parametrize("file", FILES)
def test_older_operation_is_approved_and_sent_once(file: str) -> None:
    """It waited for a person before the deploy."""
    world = a_world(file, "waiting for an approval", requires_approval=True)
    told = world.get().json
    approved = world.say("approve", fingerprint=told["fingerprint"], why="looked at it")
    world.work()

    assert (told["waiting_for"], approved.status) == ("approval", 202)
    assert (world.get().json["status"], world.effects) == ("succeeded", 1)


@pytest.mark.parametrize("file", FILES)
def test_older_failure_is_answered_until_it_is_reset(file: str) -> None:
    """The stored failure, for the same request; then a new epoch with one effect."""
    world = a_world(file, "an action that failed")
    replayed = world.post(run_id="run-1")
    reset = world.say("reset", epoch=1, why="the tracker is back")
    world.work()

    assert (replayed.status, replayed.json["status"], replayed.headers["idempotent-replayed"]) == (
        200,
        "failed",
        "true",
    )
    assert (reset.status, reset.json["epoch"]) == (202, 2)
    assert (world.get().json["status"], world.effects) == ("succeeded", 1)


@pytest.mark.parametrize("file", FILES)
def test_older_reset_is_carried_out(file: str) -> None:
    """Queued in its second epoch before the deploy, and on record."""
    world = a_world(file, "an action that was reset")
    world.deliver(world.row.job_id)
    world.work()
    told = world.get().json

    assert (told["status"], told["epoch"], world.effects) == ("succeeded", 2, 1)
    assert [(one["word"], one["epoch"]) for one in told["words"]] == [("reset", 1)]
    assert world.listed("run-1").json["operations"][0]["status"] == "succeeded"


def test_tokens_of_the_deploy_are_not_those_of_before() -> None:
    """Else a row of older code would be taken for one's own write."""
    fresh, further = CountingIds(), CountingIds()
    further.made = FURTHER_ON

    assert fresh.token() != further.token()
