"""The operator's commands for dead letters, over emulated queues; SQS's own move task by the shape of its request."""

from __future__ import annotations

import json
import re
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any

import boto3
import pytest
from botocore.stub import Stubber

from onceward.cli.dlq import start_move
from onceward.cli.queues import Queues
from onceward.domain.states import JobState
from onceward.local.cloud import LocalCloud
from onceward.wire.messages import dead_letter_body, unreadable_body, wakeup_body
from tests.support.builders import JOB_ID, TENANT, a_job
from tests.support.operator_stack import OperatorStack
from tests.unit.cli.command import Ended, command

OTHER_JOB = "Z" * 26 + "-ABCDEFGH"
THIRD_JOB = "Y" * 26 + "-ABCDEFGH"
SOON = datetime.now(UTC).replace(microsecond=0) + timedelta(days=20)


class Stack(OperatorStack):
    """A stack whose letters a command is about."""

    def dlq(self, *arguments: str) -> Ended:
        """Run one of the commands."""
        return command("--stack", str(self.file), "dlq", *arguments)


@pytest.fixture
def stack(ministack: LocalCloud, tmp_path: Path) -> Stack:
    """Queues of their own."""
    return Stack(ministack, tmp_path)


def exhausted(**fields: Any) -> Any:
    """A job that ended because no attempt was left."""
    given: dict[str, Any] = {"state": JobState.FAILED, "error_code": "attempts_exhausted", "due": None}
    return a_job(**{**given, "expires_at": SOON, **fields})


def a_letter(job_id: str = JOB_ID, epoch: int = 1, reason: str = "attempts_exhausted") -> str:
    """A letter as the worker writes it."""
    return dead_letter_body(TENANT, job_id, epoch, reason)  # type: ignore[arg-type]


def test_list_tells_reason_job_epoch_and_age_and_takes_nothing(stack: Stack) -> None:
    """Whoever lists again sees the same letters at once."""
    stack.put(a_letter(epoch=2), a_letter(OTHER_JOB, reason="needs_review"))
    shown = stack.dlq("list")
    told = [json.loads(line) for line in stack.dlq("list", "--json").out.splitlines()]

    assert shown.code == 0
    assert f"{JOB_ID}    2" in shown.out
    assert "attempts_exhausted" in shown.out
    assert {(one["job_id"], one["epoch"], one["reason"]) for one in told} == {
        (JOB_ID, 2, "attempts_exhausted"),
        (OTHER_JOB, 1, "needs_review"),
    }
    assert all(0 <= one["age_seconds"] < 600 and one["tenant_id"] == TENANT for one in told)
    assert len(stack.bodies(stack.dead_url)) == 2


def test_list_never_shows_what_nobody_could_read(stack: Stack) -> None:
    """Invariant 12: the body may hold anything; only the reason that was written down is told."""
    stack.put(unreadable_body("my SECRET document", "not JSON"), "raw SECRET body", wakeup_body(TENANT, JOB_ID))
    shown = stack.dlq("list")
    told = [json.loads(line) for line in stack.dlq("list", "--json").out.splitlines()]

    assert "SECRET" not in shown.out + shown.err
    assert sorted(one["reason"] for one in told) == ["not_handled", "unreadable", "unreadable: not JSON"]


def test_list_says_when_it_shows_not_all(stack: Stack) -> None:
    """A bound is told, never silent."""
    stack.put(*(a_letter(epoch=epoch) for epoch in (1, 2, 3)))
    shown = stack.dlq("list", "--limit", "2")

    assert len(shown.out.splitlines()) == 2
    assert "2 shown of about 3" in shown.err


def test_a_redrive_tells_first_and_moves_only_when_it_is_meant(stack: Stack) -> None:
    """The dry run is the default; what would open, what is left alone and why, what a person must decide first."""
    stack.keep(exhausted())
    stack.keep(exhausted(job_id=OTHER_JOB, state=JobState.NEEDS_REVIEW, review_until=SOON, error_code=None))
    stack.keep(exhausted(job_id=THIRD_JOB, epoch=2))
    letters = [a_letter(), a_letter(OTHER_JOB, reason="needs_review"), a_letter(THIRD_JOB), "raw"]
    stack.put(*letters)
    told = stack.dlq("redrive", "--all", "--json")
    counted = {
        "selected": 4,
        "would_reopen": 1,
        "would_wake": 0,
        "skipped": {"another_epoch": 1, "unreadable": 1},
        "refused": {"in_review": 1},
    }

    assert (told.code, json.loads(told.out)) == (0, {"is_dry_run": True, **counted})
    assert "--yes" in told.err
    assert stack.bodies(stack.jobs_url) == []
    done = stack.dlq("redrive", "--all", "--yes", "--watch", "0", "--rate", "100", "--json")
    assert json.loads(done.out) == {"is_dry_run": False, **counted, "sent": 1, "removed": 1, "reopened": 0}
    assert "moved 1 of 1" in done.err
    assert stack.bodies(stack.jobs_url) == [a_letter()]
    assert stack.bodies(stack.dead_url) == sorted(letters[1:])


def test_letters_are_selected_by_job_reason_kind_tenant_and_age(stack: Stack) -> None:
    """Each narrows; a letter that names no job is only among all."""
    stack.keep(exhausted())
    stack.keep(exhausted(job_id=OTHER_JOB, tenant_id="globex", kind="document.analyze"))
    globexs = dead_letter_body("globex", OTHER_JOB, 1, "budget_exceeded")  # type: ignore[arg-type]
    stack.put(a_letter(), globexs, "raw")

    def selected(*options: str) -> int:
        count: int = json.loads(stack.dlq("redrive", *options, "--json").out)["selected"]
        return count

    assert [selected(JOB_ID), selected("--reason", "budget_exceeded"), selected("--kind", "text.generate")] == [1, 1, 1]
    assert [selected("--tenant", "globex"), selected("--tenant", "initech"), selected("--all")] == [1, 0, 3]
    assert [selected("--older-than", "1h"), selected("--younger-than", "1h")] == [0, 3]


def test_job_whose_budget_is_too_small_is_refused_before_anything_is_moved(stack: Stack) -> None:
    """Grant first, then redrive: its letter stays where it is."""
    stack.keep(exhausted(reserved_micro_usd=5_000))
    stack.open_account(4_999)
    stack.put(a_letter())
    told = json.loads(stack.dlq("redrive", "--all", "--yes", "--watch", "0", "--json").out)

    assert (told["refused"], told["sent"]) == ({"budget_exceeded": 1}, 0)
    assert stack.bodies(stack.dead_url) == [a_letter()]


def test_prune_removes_what_has_moved_on_and_nothing_else(stack: Stack) -> None:
    """A job that is gone, in a later epoch, or ended otherwise; never a letter that somebody may still need."""
    stack.keep(exhausted())
    stack.keep(exhausted(job_id=OTHER_JOB, state=JobState.SUCCEEDED, error_code=None))
    stack.put(a_letter(), a_letter(OTHER_JOB), a_letter(THIRD_JOB), "raw")
    told = json.loads(stack.dlq("prune", "--json").out)
    done = json.loads(stack.dlq("prune", "--yes", "--json").out)

    assert told == {"is_dry_run": True, "moved_on": {"job_gone": 1, "succeeded": 1}, "removed": 0}
    assert done == {**told, "is_dry_run": False, "removed": 2}
    assert stack.bodies(stack.dead_url) == sorted([a_letter(), "raw"])


def test_everything_is_moved_by_the_task_on_the_local_cloud(stack: Stack) -> None:
    """By the stand-in for SQS's task, to the jobs queue, without a look at the jobs."""
    stack.put(a_letter(), a_letter(OTHER_JOB))
    ended = stack.dlq("redrive", "--all", "--yes", "--by-move-task", "--json")

    assert (ended.code, json.loads(ended.out)) == (0, {"status": "COMPLETED", "moved": 2})
    assert len(stack.bodies(stack.jobs_url)) == 2
    assert stack.bodies(stack.dead_url) == []


def test_on_aws_the_move_task_gets_the_jobs_queue_as_destination(capsys: pytest.CaptureFixture[str]) -> None:
    """The request's shape, as botocore checks it: source, custom destination, and a rate if one was asked for."""
    client = boto3.client("sqs", region_name="us-east-1", aws_access_key_id="test", aws_secret_access_key="test")
    arns = {"dead": "arn:aws:sqs:us-east-1:123456789012:dead", "jobs": "arn:aws:sqs:us-east-1:123456789012:jobs"}
    with Stubber(client) as stub:
        for name in ("dead", "jobs"):
            asked = {"QueueUrl": name, "AttributeNames": ["QueueArn"]}
            stub.add_response("get_queue_attributes", {"Attributes": {"QueueArn": arns[name]}}, asked)
        task = {"SourceArn": arns["dead"], "DestinationArn": arns["jobs"], "MaxNumberOfMessagesPerSecond": 50}
        stub.add_response("start_message_move_task", {"TaskHandle": "handle-1"}, task)
        start_move(Queues(client=client, jobs_url="jobs", dead_letters_url="dead", is_local=False), 50, as_json=True)
        stub.assert_no_pending_responses()

    assert json.loads(capsys.readouterr().out) == {"task": "handle-1"}


@pytest.mark.parametrize(
    "arguments",
    [
        ("redrive",),
        ("redrive", JOB_ID, "--all"),
        ("redrive", "ABC"),
        ("redrive", "--tenant", "acme/../globex"),
        ("redrive", "--all", "--kind", "text.generate"),
        ("redrive", JOB_ID, "--by-move-task"),
        ("redrive", "--all", "--by-move-task"),
        ("redrive", "--older-than", "soon"),
        ("list", "--limit", "0"),
    ],
)
def test_command_that_cannot_be_meant_moves_nothing(stack: Stack, arguments: tuple[str, ...]) -> None:
    """Exit code 2 and one reason."""
    stack.put(a_letter())
    ended = stack.dlq(*arguments)

    assert (ended.code, ended.out) == (2, "")
    assert len(stack.bodies(stack.dead_url)) == 1


def test_queues_must_be_named(monkeypatch: pytest.MonkeyPatch) -> None:
    """A stage or a stack's file says where they are."""
    monkeypatch.setenv("AWS_REGION", "us-east-1")
    ended = command("dlq", "list")

    assert (ended.code, "say which queues" in ended.err) == (2, True)


def test_a_person_reads_lines_and_what_is_empty_is_said(stack: Stack) -> None:
    """Without ``--json``: heads and "none" beside the data, a report as facts."""
    empty = stack.dlq("list")
    assert (empty.out, empty.err) == ("", "none\n")
    stack.put(a_letter())
    shown, told = stack.dlq("list"), stack.dlq("redrive", "--all")

    assert re.fullmatch(r"job +epoch +age +reason\n", shown.err)
    assert re.search(r"^selected +1$", told.out, re.MULTILINE)
    assert re.search(r"^refused +none$", told.out, re.MULTILINE)
