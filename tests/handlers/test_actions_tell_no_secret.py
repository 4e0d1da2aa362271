"""What agents send and targets answer is in no log, metric, message, letter, row or problem; nor is a credential."""

from __future__ import annotations

import json
from typing import Any

import pytest

from onceward.domain.states import JobState
from tests.support.action_world import ActionWorld
from tests.support.actions import lost, refused

ARGUMENT, OTHER, NAME, CALL = "canary-argument-1f", "canary-swapped-2a", "canary-operation-3b", "canary-call-4c"
CANARIES = (ARGUMENT, OTHER, NAME, CALL)


def given(title: str) -> dict[str, Any]:
    """Arguments with a canary in them."""
    return {"source_ticket": "481", "title": title}


def told(world: ActionWorld, caught: pytest.LogCaptureFixture, printed: pytest.CaptureFixture[str]) -> dict[str, str]:
    """All that operators, logs and other functions may read, as text; bodies of messages are kept before they go."""
    out, err = printed.readouterr()
    return {
        "logs": "\n".join(str(record.__dict__) for record in caught.records),
        "metrics": out + err,
        "letters": "\n".join(world.world.queue.dead_letters),
        "rows": repr(world.world.store.rows),
    }


@pytest.mark.parametrize("after", ["success", "refusal", "maybe"])
def test_nobody_is_told_what_an_agent_does(
    after: str, caplog: pytest.LogCaptureFixture, capsys: pytest.CaptureFixture[str]
) -> None:
    """However it ends; refused requests too, whose arguments are nowhere at all."""
    world = ActionWorld("nothing", check=lambda one: "too rude" if one.title == f"rude {ARGUMENT}" else None)
    world.target.before = [refused()] if after == "refusal" else []
    world.target.after = [lost()] if after == "maybe" else []
    accepted = world.post(NAME, given(ARGUMENT), tool_call_id=CALL, run_id="run-1")
    messages = [one.body for one in world.world.queue.receive(10)]
    world.deliver(world.row.job_id)
    world.work()
    problems = [
        world.post(NAME, given(OTHER)),
        world.post("other", {**given(OTHER), OTHER: OTHER}),
        world.post("other", given(f"rude {ARGUMENT}")),
        world.post("other", given(OTHER), scope="actions:another"),
        world.post(f"{NAME}/..", given(OTHER)),
        world.get(f"{NAME}-absent"),
    ]
    known = told(world, caplog, capsys) | {"messages": "\n".join(messages)}

    assert accepted.status == 202
    assert messages
    assert known["logs"]
    assert known["metrics"]
    assert all(400 <= one.status < 500 for one in problems)
    said = {**known, "problems": json.dumps([one.json for one in problems])}
    assert [(place, canary) for place, text in said.items() for canary in CANARIES if canary in text] == []
    expected = {"success": JobState.SUCCEEDED, "refusal": JobState.FAILED, "maybe": JobState.NEEDS_REVIEW}
    assert world.row.state is expected[after]
