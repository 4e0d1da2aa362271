"""A deploy in the middle of the work: what runs ends with the code that it began with, and nothing is lost."""

from __future__ import annotations

import pytest

from onceward.domain.states import JobState
from tests.scenarios.releases import releases
from tests.scenarios.stack import PATIENCE_WITH_STARTS, until
from tests.scenarios.witness import Witness
from tests.scenarios.worker_settings import told
from tests.support.model_server import ModelServer

pytestmark = [pytest.mark.thorough, pytest.mark.timeout(900)]  # many processes start, on however busy a machine

JOBS = 20
# The local cloud answers nobody while it takes a bundle in: for longer than this stack's usual lease.
LEASE, BEAT = "60", "5"


def test_worker_updated_with_twenty_jobs_at_the_model_loses_nothing(witness: Witness, model: ModelServer) -> None:
    """Twenty succeed with twenty calls; the job after them is run by the new code."""
    model.behave(hold="old", text="<old>")
    with told(witness, ONCEWARD_LEASE_SECONDS=LEASE, ONCEWARD_HEARTBEAT_SECONDS=BEAT), releases(witness.stack) as code:
        with witness.stack.queue_closed():
            ids = [witness.created("test.patient", f"<old> {number}") for number in range(JOBS)]
            until(lambda: witness.visible() >= JOBS or None, "all messages are there")
        model.wait_for(PATIENCE_WITH_STARTS, held=JOBS)
        code.deploy_next("second")
        newer = witness.created("test.ask", "<new>")
        assert witness.at_rest(newer).state is JobState.SUCCEEDED
        model.release()
        ended = [witness.at_rest(job_id) for job_id in ids]
        witness.quiet()

    assert witness.shown(newer)["result"]["text"].startswith("second: ")
    assert {job.state for job in ended} == {JobState.SUCCEEDED}
    assert {job.attempts for job in ended} == {1}
    assert [witness.calls(job_id).requests for job_id in ids] == [1] * JOBS
    assert all(witness.shown(job_id)["result"]["text"].startswith("first: ") for job_id in (ids[0], ids[-1]))
