"""The sweeper's own schedule: the one scenario that waits for the minute."""

from __future__ import annotations

from datetime import UTC, datetime

from onceward.adapters.dynamodb.row_codec import from_row
from tests.scenarios.stack import DeployedStack, until
from tests.support.model_server import ModelServer

TWO_MINUTES = 130  # seconds: the schedule's next minute, and one that it may miss on a busy machine


def test_schedule_wakes_a_job_that_nobody_was_told_of(stack: DeployedStack, model: ModelServer) -> None:
    """Nobody invokes the sweeper: the rule does, and the job whose message was lost is run once."""
    with stack.queue_closed():
        job_id = stack.created("text.generate", {"prompt": "Wait for the minute."}, key="scheduled")
        stack.lose_messages()
    due = from_row(stack.row(job_id)).due
    assert due is not None
    until(lambda: datetime.now(UTC) > due or None, "it is due: a minute that comes before would pass it by")
    stack.schedule(is_on=True)
    try:
        job = stack.ended(job_id, patience=TWO_MINUTES)
    finally:
        stack.schedule(is_on=False)

    assert job["status"] == "succeeded", job
    assert model.counts()["requests"] == 1
