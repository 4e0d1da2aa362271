"""How a job goes on when what should have gone on with it is gone; how long that takes is printed."""

from __future__ import annotations

import time
from datetime import UTC, datetime

import pytest

from onceward.domain.states import JobState
from tests.scenarios.conftest import TIMES
from tests.scenarios.lost_jobs import evidence_of
from tests.scenarios.stack import DeployedStack, until
from tests.scenarios.witness import Calls, Witness
from tests.scenarios.worker_processes import has_reached, holder_of, kill
from tests.support.model_server import ModelServer

pytestmark = [pytest.mark.thorough, pytest.mark.timeout(900)]  # many processes start, on however busy a machine

LEASE = float(TIMES["lease_seconds"])
SKEW = float(TIMES["skew_allowance_seconds"])
HIDDEN = LEASE + 2 * SKEW + 1  # seconds that a message stays hidden after its job's last heartbeat
LOCAL = 60.0  # seconds that a local cloud on a busy machine may need to start another process
DELIVERIES = 30
AT_ONCE = 10
UNKNOWN = "unknown_code"


def seconds_until_next_attempt(witness: Witness, job_id: str, since: datetime) -> float:
    """How long after the loss the next attempt began."""
    started = datetime.fromisoformat(witness.shown(job_id)["attempts"][1]["started_at"])
    return (started - since).total_seconds()


def lost_before_sent(witness: Witness, title: str) -> tuple[str, datetime]:
    """A job whose process is killed with nothing sent; its id and when that was."""
    job_id = witness.created("test.ask", f"{title} [[stop before_sent]]")
    until(lambda: has_reached(witness.stack, job_id) or None, "the job is at its place")
    kill(holder_of(witness.stack, job_id))
    return job_id, datetime.now(UTC)


def test_crash_is_retried_by_the_sweeper_alone(
    witness: Witness, model: ModelServer, capsys: pytest.CaptureFixture[str]
) -> None:
    """The message is lost with the process: the row is due, and the first pass after the lease's end wakes it."""
    job_id, lost_at = lost_before_sent(witness, "By the sweeper.")
    witness.stack.lose_messages()
    until(lambda: witness.stack.sweep().get("wake"), "the sweeper has woken it")
    job = witness.at_rest(job_id)
    took = seconds_until_next_attempt(witness, job_id, lost_at)
    with capsys.disabled():
        print(f"\n  recovery by the sweeper alone: {took:.1f} s (passes follow each other here; on AWS, one a minute)")

    assert job.state is JobState.SUCCEEDED
    assert witness.calls(job_id) == Calls(requests=1, computations=1)
    assert took <= HIDDEN + LOCAL


def deliveries_of(stack: DeployedStack, job_id: str, since_ms: int) -> int:
    """How many deliveries of a job the worker has logged as unknown to its code."""
    group = stack.log_group("WorkerFunction")
    pages = stack.aws("logs").get_paginator("filter_log_events").paginate(logGroupName=group, startTime=since_ms)
    return sum(job_id in event["message"] and UNKNOWN in event["message"] for page in pages for event in page["events"])


@pytest.mark.failure_mode("F82")
def test_kind_of_newer_code_waits_for_it(witness: Witness) -> None:
    """Thirty deliveries to a worker that does not know the kind: queued, no attempt, no dead letter."""
    began = time.time_ns() // 1_000_000
    job_id = witness.created("test.newer", "Of the next release.")
    body = f'{{"schema_version":1,"tenant_id":"{witness.tenant}","job_id":"{job_id}"}}'
    url = witness.stack.outputs["JobsQueueUrl"]
    for _ in range(AT_ONCE - 1):
        witness.stack.sqs.send_message(QueueUrl=url, MessageBody=body)
    until(
        lambda: deliveries_of(witness.stack, job_id, began) >= DELIVERIES or None,
        "it was delivered thirty times",
        pause=1,
    )
    found = evidence_of(witness, job_id)

    assert (found.row.state, found.row.attempts) == (JobState.QUEUED, 0)
    assert found.letters == []
    assert found.verbs == ["reserve"]

    assert witness.cancel(job_id)["status"] == "cancelled"
    witness.quiet()
