"""Dead letters on the deployed stack: each opens its exhausted job once, however often and whenever it comes back."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from onceward.domain.job import Job
from onceward.domain.states import JobState
from onceward.local.message_moves import MessageMoves
from tests.scenarios.lost_jobs import evidence_of
from tests.scenarios.operator import Operator
from tests.scenarios.stack import DeployedStack, until
from tests.scenarios.witness import Calls, Witness, assert_books_agree
from tests.support.deployed.terms import MAX_ATTEMPTS
from tests.support.model_server import ModelServer

pytestmark = [pytest.mark.thorough, pytest.mark.timeout(900)]  # many processes start, on however busy a machine

VERSION = {"schema_version": 1}


def exhausted(witness: Witness, title: str) -> str:
    """A job whose attempts are all refused."""
    witness.stack.model.behave(text=title, status=429, times=MAX_ATTEMPTS)
    return witness.created("test.ask", title)


def letter_of(witness: Witness, job_id: str) -> dict[str, Any]:
    """A job's letter once it is there; it stays there."""
    return until(lambda: witness.stack.letter_of(job_id), "its dead letter is there")


def arn_of(stack: DeployedStack, output: str) -> str:
    """A queue's ARN."""
    told = stack.sqs.get_queue_attributes(QueueUrl=stack.outputs[output], AttributeNames=["QueueArn"])
    arn: str = told["Attributes"]["QueueArn"]
    return arn


def assert_succeeded_in_second_epoch(witness: Witness, job_id: str) -> None:
    """Two epochs: the first exhausted and released, the second answered once and charged once."""
    found = evidence_of(witness, job_id)

    assert (found.row.state, found.row.epoch) == (JobState.SUCCEEDED, 2), found.shown
    assert found.outcomes == ("failed", "failed", "succeeded")
    assert found.calls == Calls(requests=MAX_ATTEMPTS + 1, computations=1)
    assert found.verbs == ["release", "reserve", "capture", "reserve"]


@pytest.mark.failure_mode("F59")
def test_letter_opens_its_job_once_however_it_comes_back(witness: Witness, model: ModelServer, tmp_path: Path) -> None:
    """By command, by SQS's move with the jobs queue as destination, thrice at once, and once more when all is over."""
    stack = witness.stack
    stack.sqs.purge_queue(QueueUrl=stack.outputs["DeadLettersQueueUrl"])
    ids = {way: exhausted(witness, f"<redriven {way}>") for way in ("command", "move", "thrice")}
    letters = {way: letter_of(witness, job_id) for way, job_id in ids.items()}
    for _ in range(2):
        witness.redeliver(letters["thrice"])
    (told,) = Operator.of(stack, tmp_path).told("dlq", "redrive", ids["command"], "--yes", "--json")
    moves = MessageMoves(stack.sqs, tmp_path / "moves")
    moved = moves.start(arn_of(stack, "DeadLettersQueueUrl"), arn_of(stack, "JobsQueueUrl"))
    for job_id in ids.values():
        witness.when(job_id, lambda job: job.state is JobState.SUCCEEDED, "it has succeeded")
    witness.quiet()

    assert (told["selected"], told["sent"], told["removed"], told["reopened"]) == (1, 1, 1, 1)
    assert (moved.status, moved.moved) == ("COMPLETED", 2)
    for job_id in ids.values():
        assert_succeeded_in_second_epoch(witness, job_id)

    rows = [witness.row(job_id) for job_id in ids.values()]
    for letter in letters.values():
        witness.redeliver(letter)
    witness.quiet()

    assert [witness.row(job_id) for job_id in ids.values()] == rows
    assert [witness.letters(job_id) for job_id in ids.values()] == [[], [], []]
    assert_books_agree(witness.account)


@pytest.mark.failure_mode("F57")
def test_letter_of_a_job_that_is_not_exhausted_changes_nothing(witness: Witness, model: ModelServer) -> None:
    """Succeeded, cancelled or in review: a letter of its epoch is a wake-up for which there is nothing to do."""
    model.behave(drop="reset", stage="after", text="<in review>")
    with witness.stack.queue_closed():
        cancelled = witness.created("test.ask", "<cancelled>")
        witness.cancel(cancelled)
    ids = [cancelled, witness.created("test.ask", "<succeeded>"), witness.created("test.ask", "<in review>")]
    for job_id in ids:
        witness.at_rest(job_id)
    witness.quiet()
    before = [_facts(witness, job_id) for job_id in ids]
    for job_id in ids:
        witness.redeliver({"tenant_id": witness.tenant, "job_id": job_id, "epoch": 1, "reason": "by hand"} | VERSION)
    witness.quiet()

    assert [_facts(witness, job_id) for job_id in ids] == before

    witness.cancel(ids[2])
    witness.when(ids[2], lambda job: job.state is JobState.CANCELLED, "it has been cancelled")


def _facts(witness: Witness, job_id: str) -> tuple[Job, Calls, list[str]]:
    """Row, calls and the book's lines."""
    return witness.row(job_id), witness.calls(job_id), witness.entries(job_id)


def test_letter_lost_between_settle_and_send_is_sent_by_the_sweeper(witness: Witness, model: ModelServer) -> None:
    """The process dies when the job has ended exhausted and its letter is not sent: the row is still due."""
    model.behave(status=429, text="<letter lost>", times=MAX_ATTEMPTS)
    job_id = witness.created("test.ask", f"<letter lost> [[kill after_settle @{MAX_ATTEMPTS}]]")
    witness.when(job_id, lambda job: job.state is JobState.FAILED, "it has ended")
    witness.quiet()
    assert witness.letters(job_id) == []

    until(lambda: witness.stack.sweep().get("dead_letter"), "the sweeper has sent a letter")

    assert [letter["reason"] for letter in witness.letters(job_id)] == ["attempts_exhausted"]
    assert witness.row(job_id).due is None
