"""The worker's Lambda with a model behind Bedrock: real boto3 at the model server's socket, the rest over moto."""

from __future__ import annotations

import pytest

from onceward.adapters.dynamodb.row_codec import from_row
from onceward.domain.states import JobState
from tests.handlers.test_worker import Deployed, deployed, model_server, work

__all__ = ["deployed", "model_server"]  # fixtures: one account, one server


@pytest.mark.parametrize("address", ["the stage's own", "AWS's variable"])
def test_job_is_done_by_converse(deployed: Deployed, monkeypatch: pytest.MonkeyPatch, address: str) -> None:
    """One signed request, an accepted answer, and its exact cost; the endpoint is told by either way."""
    monkeypatch.setenv("ONCEWARD_MODEL_API", "bedrock")
    monkeypatch.setenv("ONCEWARD_MODEL_URL", deployed.model.url if address == "the stage's own" else "")
    if address != "the stage's own":
        monkeypatch.setenv("AWS_ENDPOINT_URL_BEDROCK_RUNTIME", deployed.model.url)
    job_id = deployed.create("The rent is due on 31 May 2026.", "one")
    work(deployed.batch())
    row = from_row(deployed.row(job_id))
    (seen,) = deployed.model.requests()

    assert (row.state, row.attempts) == (JobState.SUCCEEDED, 1)
    assert (seen["headers"]["amz-sdk-request"], seen["authorised"]) == ("attempt=1; max=1", True)
    assert row.spent.is_exact
    assert row.spent.low > 0
    assert deployed.model.counts()["computations"] == 1
