"""``onceward act`` and ``onceward action``: what they print and end with; repeating one changes nothing more."""

from __future__ import annotations

import json
import os
import signal
from collections.abc import Callable
from pathlib import Path
from threading import Event
from typing import Any

import pytest

from onceward.cli.exits import ExitCode
from tests.support.actions import lost, refused
from tests.unit.cli.command import Ended, run
from tests.unit.cli.test_commands import start
from tests.unit.client.live_api import LiveApi

TASK = '{"source_ticket": "481", "title": "Check"}'
OPERATION = "ticket-481:create-task:v1"


def act(live: LiveApi, *more: str, action: str = "create_task", operation: str = OPERATION, task: str = TASK) -> Ended:
    """Let it be done."""
    return run(live, "act", action, "--operation-id", operation, "--arguments", task, *more)


def posted(live: LiveApi, operation: str, **more: Any) -> dict[str, Any]:
    """A request that nobody waits for."""
    body = {"operation_id": operation, "action": "create_task", "arguments": json.loads(TASK), **more}
    headers = {"authorization": "Bearer acme-token"}
    told: dict[str, Any] = json.loads(live.answer("POST", "/agent-actions", headers, json.dumps(body).encode())[2])
    return told


def test_act_prints_what_the_target_answered_and_a_repeat_changes_nothing_more(live: LiveApi) -> None:
    """The same object each time; with ``--json`` the whole operation in one line."""
    first, again = act(live, "--run-id", "run-1"), act(live)
    told = json.loads(act(live, "--json").out)

    assert (first.code, json.loads(first.out), first.err) == (0, {"id": 1}, "")
    assert (again.code, again.out) == (0, first.out)
    assert (told["operation_id"], told["status"], told["response"]) == (
        OPERATION,
        "succeeded",
        {"status": 201, "body": {"id": 1}},
    )
    assert len(live.targets[0].effects) == 1


def test_arguments_come_from_a_file(live: LiveApi, tmp_path: Path) -> None:
    """``@file`` is read; one that is not there is told by its own option."""
    file = tmp_path / "task.json"
    file.write_text(TASK)
    absent = act(live, task="@absent.json")

    assert act(live, task=f"@{file}").code == 0
    assert (absent.code, "--arguments" in absent.err, "--input" in absent.err) == (ExitCode.USAGE, True, False)


def failed(live: LiveApi) -> Ended:
    """The target refuses for good."""
    live.targets[0].before = [refused()]
    return act(live, "--json")


def cancelled(live: LiveApi) -> Ended:
    """Somebody cancelled the operation's job."""
    live.is_working = False
    run(live, "cancel", posted(live, OPERATION)["job_id"])
    return act(live)


def parked(live: LiveApi) -> Ended:
    """An answer is lost, and the target promises nothing."""
    live.targets[2].after = [lost()]
    return act(live, action="create_nothing")


def unfinished(live: LiveApi) -> Ended:
    """Nobody works, and the time is over."""
    live.is_working = False
    return act(live, "--timeout", "0")


def conflicting(live: LiveApi) -> Ended:
    """Another payload under the same operation."""
    act(live)
    return act(live, task='{"source_ticket": "481", "title": "Delete all"}')


@pytest.mark.parametrize(
    ("end", "code", "told"),
    [
        (failed, ExitCode.JOB_FAILED, "create_task failed: target_refused"),
        (cancelled, ExitCode.JOB_CANCELLED, "create_task cancelled"),
        (parked, ExitCode.OUTCOME_UNKNOWN, "needs a person's review"),
        (unfinished, ExitCode.WAIT_TIMEOUT, "the action goes on"),
        (conflicting, ExitCode.API, "409 idempotency_key_reused"),
        (lambda live: act(live, action="delete_all"), ExitCode.API, "403 forbidden"),
        (lambda live: act(live, task="{}"), ExitCode.API, "422 invalid_input"),
        (lambda live: act(live, operation="a/b"), ExitCode.API, "422 invalid_input"),
        (lambda live: run(live, "action", "get", "absent"), ExitCode.API, "404 operation_not_found"),
    ],
)
def test_each_end_has_its_code_and_its_line(
    live: LiveApi, end: Callable[[LiveApi], Ended], code: ExitCode, told: str
) -> None:
    """Nothing on stdout; whatever was refused or lost, no more than one effect."""
    ended = end(live)

    assert (ended.code, ended.out) == (code, "")
    assert told in ended.err
    assert sum(len(one.effects) for one in live.targets) <= 1


@pytest.mark.parametrize(
    "arguments",
    [
        ("act", "create_task", "--arguments", TASK),
        ("act", "create_task", "--operation-id", OPERATION),
        ("act", "create_task", "--operation-id", OPERATION, "--arguments", "{"),
        ("act", "create_task", "--operation-id", OPERATION, "--arguments", "[]"),
        ("act", "create_task", "--operation-id", OPERATION, "--arguments", '{"title": NaN}'),
        ("act", "create_task", "--operation-id", "", "--arguments", TASK),
        ("act", "create_task", "--operation-id", OPERATION, "--arguments", TASK, "--timeout", "-1"),
        ("action", "get"),
        ("action", "list"),
        ("action", "approve", OPERATION, "--why", "x"),
        ("action", "approve", OPERATION, "--fingerprint", "0" * 64),
        ("action", "reset", OPERATION, "--why", "x"),
        ("action", "reset", OPERATION, "--epoch", "one", "--why", "x"),
    ],
)
def test_a_wrong_command_is_told_before_anything_is_sent(live: LiveApi, arguments: tuple[str, ...]) -> None:
    """A command that cannot be meant says why and asks nothing."""
    ended = run(live, *arguments)

    assert (ended.code, ended.out, live.seen) == (ExitCode.USAGE, "", [])
    assert ended.err.strip()


def test_get_tells_everything_as_json(live: LiveApi) -> None:
    """Each transport attempt too; with ``--json`` in one line."""
    act(live, "--run-id", "run-1")
    shown, line = run(live, "action", "get", OPERATION), run(live, "action", "get", OPERATION, "--json")
    told = json.loads(shown.out)

    assert (json.loads(line.out), line.out.count("\n")) == (told, 1)
    assert told["transport_attempts"][0]["came_to"] == "created"
    assert {one["run_id"] for one in told["transport_attempts"]} == {"run-1"}
    assert told["attempts"][0]["outcome"] == "succeeded"


def test_list_prints_a_run_newest_first_over_all_pages(live: LiveApi) -> None:
    """A line each, or a line of JSON each; another run's are not there."""
    live.is_working = False
    names = [f"o-{number}" for number in range(21)]
    for name in names:
        posted(live, name, run_id="run-1")
    posted(live, "other", run_id="run-2")
    shown = run(live, "action", "list", "run-1").out.splitlines()
    told = [json.loads(line) for line in run(live, "action", "list", "run-1", "--json").out.splitlines()]

    assert {one["operation_id"] for one in told} == set(names)
    assert [line.split()[0] for line in shown] == [one["operation_id"] for one in told]
    assert shown[0].endswith("create_task  queued  epoch 1")
    assert run(live, "action", "list", "run-3").out == ""


def test_approve_lets_exactly_what_was_looked_at_be_sent(live: LiveApi) -> None:
    """Another fingerprint approves nothing; the same command again changes nothing."""
    waiting = act(live, "--timeout", "0", action="create_approved")
    fingerprint = json.loads(run(live, "action", "get", OPERATION, "--json").out)["fingerprint"]
    approve = ("action", "approve", OPERATION, "--why", "checked", "--fingerprint")
    wrong = run(live, *approve, "0" * 64)
    before = len(live.targets[1].effects)
    first, again = run(live, *approve, fingerprint), run(live, *approve, fingerprint, "--json")

    assert (waiting.code, before) == (ExitCode.WAIT_TIMEOUT, 0)
    assert (wrong.code, "409 fingerprint_mismatch" in wrong.err) == (ExitCode.API, True)
    assert (first.code, first.out) == (0, f"{OPERATION}  create_approved  queued  epoch 1\n")
    assert "409 not_awaiting_approval" in run(live, *approve, fingerprint, "--epoch", "2").err
    assert json.loads(again.out)["status"] == "succeeded"
    assert len(live.targets[1].effects) == 1


def test_reset_opens_one_epoch_of_what_failed(live: LiveApi) -> None:
    """Of anything else it is refused."""
    live.targets[0].before = [refused()]
    act(live)
    reset = ("action", "reset", OPERATION, "--why", "mended", "--epoch")
    first, again, other = run(live, *reset, "1"), run(live, *reset, "1", "--json"), run(live, *reset, "2")

    assert (first.code, first.out) == (0, f"{OPERATION}  create_task  queued  epoch 2\n")
    assert (json.loads(again.out)["epoch"], json.loads(again.out)["status"]) == (2, "succeeded")
    assert (other.code, "409 operation_not_failed" in other.err) == (ExitCode.API, True)
    assert len(live.targets[0].effects) == 1


def test_interrupted_act_says_how_to_find_out(live: LiveApi) -> None:
    """Nobody knows then whether it goes on; the operation's id finds out, or does it."""
    live.is_working = False
    asked = Event()
    live.when_asked["/agent-actions"] = asked
    process = start(live, "act", "create_task", "--operation-id", OPERATION, "--arguments", TASK)
    assert asked.wait(60)
    os.kill(process.pid, signal.SIGINT)
    out, err = process.communicate(timeout=60)
    live.is_working = True

    assert (process.returncode, out) == (ExitCode.INTERRUPTED, "")
    assert f"the same command with --operation-id {OPERATION}" in err
    assert act(live).code == 0
    assert len(live.targets[0].effects) == 1
