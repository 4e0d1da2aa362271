"""The operator's commands on the review of a flight, which is decided once for all that wait for it."""

from __future__ import annotations

import json
from datetime import timedelta
from pathlib import Path
from typing import Any

import pytest

from onceward.adapters.dynamodb.flights import OPEN
from onceward.adapters.dynamodb.keys import open_flights_key
from onceward.domain.job import FLIGHT_SCHEMA
from onceward.domain.names import JobId
from onceward.domain.records import Participant
from onceward.domain.states import JobState
from onceward.local.cloud import LocalCloud
from tests.support.builders import TENANT
from tests.support.operator_stack import OperatorStack
from tests.unit.cli.command import Ended
from tests.unit.cli.test_review import NOW, in_review, review

FLIGHT = JobId("F" * 26 + "-ABCDEFGH")
JOBS = (JobId("G" * 26 + "-ABCDEFGH"), JobId("H" * 26 + "-ABCDEFGH"))


@pytest.fixture
def stack(ministack: LocalCloud, tmp_path: Path) -> OperatorStack:
    """A flight in review, and two jobs that went there with it; both hold their tariff."""
    made = OperatorStack(ministack, tmp_path)
    flight = in_review(job_id=FLIGHT, participants=len(JOBS), schema_version=FLIGHT_SCHEMA, reserved_micro_usd=None)
    members = (Participant(tenant_id=TENANT, job_id=FLIGHT, participant=job, joined_at=NOW) for job in JOBS)
    made.keep(flight, *members)
    for job in JOBS:
        made.keep(in_review(job_id=job, open=(), flight=FLIGHT))
    made.open_account(10_000, reserved=10_000)
    return made


def woken(stack: OperatorStack) -> list[Any]:
    """Whom a message was sent for."""
    return sorted(json.loads(body)["job_id"] for body in stack.bodies(stack.jobs_url))


def flights_under_way(stack: OperatorStack) -> str:
    """The tenant's count, which began at nothing here."""
    item = stack.dynamodb.get_item(TableName=stack.tables.flights, Key=open_flights_key(TENANT), ConsistentRead=True)
    return str(item["Item"][OPEN]["N"])


def test_list_and_show_say_which_one_decides(stack: OperatorStack) -> None:
    """One line has the unknown call; the others name it."""
    lines = review(stack, "list").out.splitlines()
    shown, member = review(stack, "show", FLIGHT), review(stack, "show", JOBS[0])

    assert len(lines) == 3
    assert [line for line in lines if "generate/1  $0.001000 at most  for 2 jobs" in line and FLIGHT in line]
    assert sum(f"decided with its flight {FLIGHT}" in line for line in lines) == 2
    assert (shown.code, "for       2 jobs that wait for it" in shown.out) == (0, True)
    assert (member.code, f"flight    {FLIGHT}: resolve that one" in member.out) == (0, True)


def test_job_that_only_waits_is_not_decided_apart(stack: OperatorStack) -> None:
    """The refusal says what to do, and nothing changes."""
    ended = review(stack, "fail", JOBS[0], "--why", "w")

    assert (ended.code, "resolve the flight" in ended.err) == (6, True)
    assert stack.row(JOBS[0]).state is JobState.NEEDS_REVIEW


@pytest.mark.parametrize(
    ("arguments", "state", "epoch"),
    [
        (("fail", FLIGHT, "--why", "w"), JobState.FAILED, 1),
        (("accept", FLIGHT, "--why", "w", "--result"), JobState.SUCCEEDED, 1),
        (("retry", FLIGHT, "--yes-i-may-pay-twice", "--why", "w"), JobState.QUEUED, 2),
    ],
)
def test_verdict_on_a_flight_is_taken_and_its_participants_are_woken(
    stack: OperatorStack, tmp_path: Path, arguments: tuple[str, ...], state: JobState, epoch: int
) -> None:
    """Each follows in a run of its own; the account moves then, for each by its own tariff."""
    file = tmp_path / "f.json"
    file.write_text('{"text": "found", "model": "m-1"}')
    ended: Ended = review(stack, *arguments, *([str(file)] if arguments[-1] == "--result" else []), "--json")
    assert ended.code == 0, ended.err
    row = stack.row(FLIGHT)

    assert (json.loads(ended.out)["verdict"], row.state, row.epoch) == (arguments[0], state, epoch)
    assert set(woken(stack)) >= set(JOBS)
    for job in JOBS:
        member = stack.row(job)
        assert member.state is JobState.NEEDS_REVIEW
        assert member.wake_at is not None
        assert member.wake_at < NOW + timedelta(minutes=30)  # it was to look again in an hour
    if state.is_terminal:
        assert flights_under_way(stack) == "-1"
