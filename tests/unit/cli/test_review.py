"""The operator's commands for reviews, over an emulated AWS account."""

from __future__ import annotations

import json
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any

import pytest

from onceward.adapters.dynamodb.row_codec import to_row
from onceward.domain.job import PresentAttempt
from onceward.domain.states import AttemptOutcome, CallState, JobState
from onceward.local.cloud import LocalCloud
from tests.support.builders import JOB_ID, TENANT, a_job, an_answer, an_open_call
from tests.support.operator_stack import OperatorStack
from tests.unit.cli.command import Ended, command

NOW = datetime.now(UTC).replace(microsecond=0)
OTHER_JOB = "Z" * 26 + "-ABCDEFGH"
RESULT = {"text": "found at the provider", "model": "m-1"}


@pytest.fixture
def stack(ministack: LocalCloud, tmp_path: Path) -> OperatorStack:
    """A stack with one job in review for an hour, which holds its tariff."""
    made = OperatorStack(ministack, tmp_path)
    made.keep(in_review())
    made.open_account(5_000, reserved=5_000)
    return made


def in_review(**fields: Any) -> Any:
    """A job in review of a kind that ships."""
    attempt = PresentAttempt(
        started_at=NOW - timedelta(hours=2), ended_at=NOW - timedelta(hours=1), outcome=AttemptOutcome.UNKNOWN
    )
    given: dict[str, Any] = {
        "state": JobState.NEEDS_REVIEW,
        "attempts": 1,
        "attempt": attempt,
        "created_at": NOW - timedelta(hours=2),
        "deadline_at": NOW + timedelta(days=1),
        "expires_at": NOW + timedelta(days=89),
        "review_until": NOW + timedelta(days=29),
        "wake_at": NOW + timedelta(hours=1),
        "due": NOW + timedelta(hours=1),
        "open": (an_open_call(state=CallState.UNKNOWN, sent_at=NOW - timedelta(hours=1)),),
        "reserved_micro_usd": 5_000,
    }
    return a_job(**{**given, **fields})


def review(stack: OperatorStack, *arguments: str) -> Ended:
    """Run one of the commands."""
    return command("--stack", str(stack.file), "review", *arguments)


def test_list_tells_tenant_job_age_step_and_bound_of_all_tenants(stack: OperatorStack) -> None:
    """For a person and for a program; what is not in review is not there."""
    stack.keep(in_review(job_id=OTHER_JOB, tenant_id="globex"))
    stack.keep(a_job(job_id="Y" * 26 + "-ABCDEFGH"))
    shown = review(stack, "list")
    told = [json.loads(line) for line in review(stack, "list", "--json").out.splitlines()]
    one = review(stack, "list", "--tenant", "globex").out.splitlines()

    none = review(stack, "list", "--tenant", "initech")

    assert (shown.code, len(shown.out.splitlines()), len(one)) == (0, 2, 1)
    assert (shown.err.split()[:3], none.out, none.err) == (["tenant", "job", "epoch"], "", "none\n")
    assert f"{JOB_ID}    1     1 h  generate/1  $0.001000 at most" in shown.out
    assert {(line["tenant_id"], line["job_id"], line["epoch"]) for line in told} == {
        (TENANT, JOB_ID, 1),
        ("globex", OTHER_JOB, 1),
    }


def test_a_review_that_cannot_be_read_hides_no_other(stack: OperatorStack) -> None:
    """It is said to be missing, and the rest is there to be decided."""
    broken = in_review(job_id=OTHER_JOB, tenant_id="globex")
    item = {**to_row(broken), "ca": {"S": "yesterday"}}  # when it was created
    stack.dynamodb.put_item(TableName=stack.tables.jobs, Item=item)
    shown = review(stack, "list", "--limit", "2")

    assert (shown.code, [line.split()[0] for line in shown.out.splitlines()]) == (0, [TENANT])
    assert "1 cannot be read by this version" in shown.err
    assert "looked at 2; --limit looks at more" in shown.err


def test_show_tells_what_a_person_asks_the_provider_with(stack: OperatorStack) -> None:
    """The downstream key, when it was sent, and what it may have cost; the tenant is found by itself."""
    shown = review(stack, "show", JOB_ID)
    told = json.loads(review(stack, "show", JOB_ID, "--tenant", TENANT, "--json").out)

    assert (shown.code, f"key {JOB_ID}-1-generate_1" in shown.out) == (0, True)
    assert "cost      $0.000000 to $0.001000" in shown.out
    assert (told["is_open"], told["open_calls"][0]["state"]) == (True, "unknown")


def test_accept_takes_the_result_once_and_says_who_and_why(stack: OperatorStack, tmp_path: Path) -> None:
    """The record names the caller as AWS knows it; the same command again writes nothing."""
    file = tmp_path / "f.json"
    file.write_text(json.dumps(RESULT))
    arguments = ("accept", JOB_ID, "--result", str(file), "--why", "ticket 7", "--tenant", TENANT)
    first, again = review(stack, *arguments), review(stack, *arguments)
    assert first.code == 0, first.err
    record = json.loads(review(stack, *arguments, "--json").out)
    row = stack.row(JOB_ID)

    assert (first.code, again.code, first.out) == (0, 0, again.out)
    assert first.out.startswith("verdict   accept of epoch 1 by arn:aws:")
    assert "given already" in again.err
    assert (record["verdict"], record["by"].startswith("arn:aws:"), record["why"]) == ("accept", True, "ticket 7")
    assert (row.state, row.charge_micro_usd) == (JobState.SUCCEEDED, 5_000)


def test_result_that_breaks_the_model_is_told_by_its_place(stack: OperatorStack, tmp_path: Path) -> None:
    """Exit code 6; nothing changed, and nothing of it is printed."""
    file = tmp_path / "f.json"
    file.write_text('{"CANARY": 1}')
    ended = review(stack, "accept", JOB_ID, "--result", str(file), "--why", "w")

    assert (ended.code, ended.out, "CANARY" in ended.err) == (6, "", False)
    assert stack.row(JOB_ID).state is JobState.NEEDS_REVIEW


def test_fail_releases(stack: OperatorStack) -> None:
    """And another verdict afterwards is refused with its reason."""
    ended = review(stack, "fail", JOB_ID, "--why", "the provider has nothing of it")
    other = review(stack, "retry", JOB_ID, "--yes-i-may-pay-twice", "--why", "w", "--tenant", TENANT)

    assert (ended.code, stack.row(JOB_ID).error_code) == (0, "review_failed")
    assert f"{JOB_ID} is failed in epoch 1" in ended.err
    assert (other.code, "resolved otherwise" in other.err) == (6, True)


def test_retry_opens_the_next_epoch_and_wakes_it(stack: OperatorStack) -> None:
    """The open call goes along; a message is on its way; repeated, it is the same verdict."""
    arguments = ("retry", JOB_ID, "--yes-i-may-pay-twice", "--why", "w", "--tenant", TENANT)
    first, again = review(stack, *arguments), review(stack, *arguments)
    row = stack.row(JOB_ID)

    assert (first.code, again.code, first.out == again.out) == (0, 0, True)
    assert (row.state, row.epoch, row.reserved_micro_usd, len(row.open)) == (JobState.QUEUED, 2, 5_000, 1)
    assert len(stack.bodies(stack.jobs_url)) == 1


def test_late_answer_decides_first_and_the_command_says_so(stack: OperatorStack) -> None:
    """Nothing is written but the time of the next look, which is now."""
    stack.keep(in_review(), an_answer())
    ended = review(stack, "fail", JOB_ID, "--why", "w")

    assert (ended.code, "has come by itself" in ended.err) == (6, True)
    assert stack.row(JOB_ID).state is JobState.NEEDS_REVIEW
    assert len(stack.bodies(stack.jobs_url)) == 1


@pytest.mark.parametrize(
    "arguments",
    [
        ("retry", JOB_ID, "--why", "w"),
        ("fail", JOB_ID),
        ("fail", JOB_ID, "--why", " "),
        ("fail", "ABC", "--why", "w"),
        ("accept", JOB_ID, "--why", "w"),
        ("show", JOB_ID, "--tenant", "a#b"),
    ],
)
def test_command_that_cannot_be_meant_changes_nothing(stack: OperatorStack, arguments: tuple[str, ...]) -> None:
    """Exit code 2 and one reason; money is risked on purpose or not at all."""
    ended = review(stack, *arguments)

    assert (ended.code, ended.out) == (2, "")
    assert stack.row(JOB_ID) == in_review()


def test_job_that_is_no_review_is_not_found_without_its_tenant(stack: OperatorStack) -> None:
    """And the command says what would help."""
    ended = review(stack, "show", OTHER_JOB)

    assert (ended.code, "--tenant" in ended.err) == (6, True)


def test_a_deployment_must_be_named(monkeypatch: pytest.MonkeyPatch) -> None:
    """A stage or a stack's file says where it is."""
    monkeypatch.setenv("AWS_REGION", "us-east-1")
    ended = command("review", "list")

    assert (ended.code, "say which deployment" in ended.err) == (2, True)
