"""A reset is about the epoch that its operator looked at, and about an action that this code knows."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import pytest

from tests.support.action_world import ActionWorld
from tests.support.actions import refused


@pytest.mark.parametrize("meanwhile", [{"epoch": 2}, {"kind_version": 9}], ids=["another epoch", "newer code"])
def test_a_reset_of_what_is_no_longer_what_was_looked_at_changes_nothing(meanwhile: dict[str, Any]) -> None:
    """It has failed again in its next epoch, or belongs to newer code: 409, and nothing is sent."""
    world = ActionWorld()
    world.target.before = [refused()]
    world.post()
    world.work()
    rows = world.world.store.rows
    (place,) = rows
    rows[place] = replace(rows[place], **meanwhile)
    before = rows[place]
    answer = world.say("reset", epoch=1, why="again")

    assert (answer.status, answer.json["code"]) == (409, "operation_not_failed")
    assert (rows[place], world.target.requests) == (before, 1)
