"""Answers that come later, on the deployed stack: the row waits, no Lambda does, and what is stored outlives the day.

Thirteen hours pass by moving every stored time of a job back, while nobody holds it. The model server's count says
that the work was bought once, and how often it was asked for.
"""

from __future__ import annotations

from dataclasses import replace
from datetime import UTC, datetime, timedelta

import pytest

from onceward.adapters.dynamodb.row_codec import to_row
from onceward.domain.job import Job
from onceward.domain.states import CallState, JobState, WaitingFor
from tests.scenarios.stack import until
from tests.scenarios.witness import Calls, Witness, assert_books_agree
from tests.support.deployed.terms import LATER, LATER_BATCH
from tests.support.model_server import ModelServer

pytestmark = [pytest.mark.thorough, pytest.mark.timeout(900)]

QUARTER = timedelta(minutes=16)  # past a Lambda's end
HALF_DAY = timedelta(hours=13)  # past a message's longest hiding
BOUGHT_ONCE = Calls(requests=1, computations=1)


def is_waiting(job: Job) -> bool:
    """Whether it waits for its provider, in nobody's hands."""
    return (job.state, job.waiting_for) == (JobState.WAITING, WaitingFor.PROVIDER)


def aged(job: Job, by: timedelta) -> Job:
    """The same job, if all of it had happened so much earlier."""

    def back(at: datetime | None) -> datetime | None:
        return None if at is None else at - by

    calls = (replace(call, sent_at=call.sent_at - by, first_sent_at=call.first_sent_at - by) for call in job.open)
    assert job.attempt is not None
    return replace(
        job,
        created_at=job.created_at - by,
        deadline_at=job.deadline_at - by,
        expires_at=job.expires_at - by,
        wake_at=back(job.wake_at),
        due=back(job.due),
        lease_until=back(job.lease_until),
        attempt=replace(job.attempt, started_at=job.attempt.started_at - by),
        open=tuple(calls),
    )


def let_pass(witness: Witness, job_id: str, by: timedelta) -> Job:
    """Move a waiting job's times back in the table, unless a poll moves it just then; as it is stored now."""

    def look() -> Job | None:
        job = witness.row(job_id)
        older = aged(job, by)
        try:
            witness.stack.dynamodb.put_item(
                TableName=witness.stack.outputs["JobsTable"],
                Item=to_row(older),
                ConditionExpression="s = :waiting AND n = :seen",
                ExpressionAttributeValues={":waiting": {"S": str(JobState.WAITING)}, ":seen": {"N": str(job.seq)}},
            )
        except witness.stack.dynamodb.exceptions.ConditionalCheckFailedException:
            return None
        return older

    return until(look, f"the times of {job_id} are moved back")


def woken_by_sweeper(witness: Witness, job_id: str, seen: Job) -> Job:
    """The row once the sweeper has woken it and it was polled."""

    def look() -> Job | None:
        witness.stack.sweep()
        job = witness.row(job_id)
        return job if job.seq > seen.seq and job.state is not JobState.RUNNING else None

    return until(look, f"{job_id} was polled", pause=0.5)


def submitted(witness: Witness, kind: str, prompt: str) -> str:
    """A job whose provider works on it until the test lets it."""
    witness.stack.model.behave(text=prompt, hold=prompt)
    job_id = witness.created(kind, prompt)
    witness.when(job_id, is_waiting, "it waits for its provider")
    return job_id


@pytest.mark.parametrize("kind", [LATER, LATER_BATCH])
def test_a_job_outlives_lambda_and_queue_while_its_provider_works(
    witness: Witness, model: ModelServer, kind: str
) -> None:
    """Past 15 minutes and 12 hours it is polled by its reference, in its one attempt; one call, one charge."""
    job_id = submitted(witness, kind, f"<long work of {kind}>")
    polled = witness.row(job_id)
    for hours in (QUARTER, HALF_DAY):
        polls = model.later_counts()["polls"]
        older = let_pass(witness, job_id, hours)
        assert older.created_at <= datetime.now(UTC) - hours
        polled = woken_by_sweeper(witness, job_id, older)

        assert is_waiting(polled), polled
        assert [call.state for call in polled.open] == [CallState.SUBMITTED]
        assert model.later_counts()["polls"] > polls
    assert polled.wake_at is not None
    assert polled.wake_at - datetime.now(UTC) > timedelta(minutes=1)  # ever more rarely
    assert witness.calls(job_id) == Calls(requests=1)

    model.release(f"<long work of {kind}>")
    model.wait_idle()
    woken_by_sweeper(witness, job_id, let_pass(witness, job_id, QUARTER))
    job = witness.at_rest(job_id)
    shown = witness.shown(job_id)

    assert (job.state, job.epoch, job.attempts) == (JobState.SUCCEEDED, 1, 1), shown
    assert datetime.fromisoformat(shown["finished_at"]) - datetime.fromisoformat(shown["created_at"]) > HALF_DAY
    assert witness.calls(job_id) == BOUGHT_ONCE
    assert witness.entries(job_id) == ["capture", "reserve"]
    witness.stack.lose_messages()  # the sweeper's wake ended it; the first message is hidden for minutes yet
    witness.quiet()
    assert_books_agree(witness.account)


def test_a_reference_that_is_kept_no_longer_is_a_maybe(witness: Witness, model: ModelServer) -> None:
    """The provider knows nothing of it any more: that does not say that it never was; a person decides."""
    job_id = submitted(witness, LATER, "<forgotten work>")
    model.later(forget=True)
    woken_by_sweeper(witness, job_id, let_pass(witness, job_id, QUARTER))
    job = witness.at_rest(job_id)

    assert job.state is JobState.NEEDS_REVIEW
    assert [call.state for call in job.open] == [CallState.UNKNOWN]
    assert witness.calls(job_id) == Calls(requests=1)
    assert witness.shown(job_id)["provider_cost"]["exact_micro_usd"] is None
    assert witness.entries(job_id) == ["reserve"]

    witness.cancel(job_id)
    witness.when(job_id, lambda row: row.state is JobState.CANCELLED, "it has been cancelled")
    model.release()
    witness.stack.lose_messages()  # the sweeper's wake ended it; the first message is hidden for minutes yet
    witness.quiet()


@pytest.mark.parametrize(("kind", "said"), [(LATER, "confirmed"), (LATER_BATCH, "confirmed")])
def test_a_cancel_reaches_the_provider_and_its_word_is_kept(
    witness: Witness, model: ModelServer, kind: str, said: str
) -> None:
    """Its work is stopped, what it said is shown, what it may have cost has bounds, and the money is free."""
    job_id = submitted(witness, kind, f"<stopped work of {kind}>")
    witness.cancel(job_id)
    job = witness.at_rest(job_id)
    shown = witness.shown(job_id)

    assert job.state is JobState.CANCELLED, shown
    assert shown["cancel"]["provider"] == said
    assert model.later_counts()["cancelled"] == 1
    assert witness.calls(job_id) == Calls(requests=1)
    assert witness.entries(job_id) == ["release", "reserve"]
    witness.stack.lose_messages()  # the sweeper's wake ended it; the first message is hidden for minutes yet
    witness.quiet()
    assert_books_agree(witness.account)
