"""The worker's Lambda with a kind of several steps and a model that answers later, over moto and the model server."""

from __future__ import annotations

import json
import time
from typing import Any

import boto3
import pytest

from onceward.domain.names import TenantId
from onceward.handlers import api
from onceward.usecases.documents import document_key
from tests.handlers.test_worker import EVENTS, Deployed, deployed, model_server, work
from tests.support.api_world import ask

__all__ = ["deployed", "model_server"]  # fixtures: one account, one server

FIRST = "FIRSTDOCUMENTAAAAAAAAAAAAA"
SECOND = "SECONDDOCUMENTAAAAAAAAAAAA"
TEXT = "# Agreement\n\nThe Client shall pay a monthly fee of EUR {fee} by 31 May 2026.\n"
PATIENCE = 60.0  # seconds; the first poll comes two seconds after the submission


def put_document(document_id: str, fee: str) -> None:
    """Upload one as a form would."""
    key = document_key(TenantId("acme"), document_id)
    body = TEXT.format(fee=fee).encode()
    boto3.client("s3").put_object(Bucket="bucket", Key=key, Body=body, ContentType="text/markdown")


def wake(deployed: Deployed, job_id: str) -> dict[str, Any]:
    """One delivery of the job, as the sweeper would send it."""
    event = json.loads((EVENTS / "worker_wakeup.json").read_text())
    [record] = event["Records"][:1]
    body = json.dumps({**json.loads(record["body"]), "job_id": job_id, "tenant_id": "acme"})
    work({"Records": [{**record, "body": body}]})
    return dict(deployed.row(job_id))


@pytest.mark.parametrize("answers", ["now", "later", "batch"])
def test_two_documents_are_compared(deployed: Deployed, monkeypatch: pytest.MonkeyPatch, answers: str) -> None:
    """From the sample event to the result: three calls, one attempt, whether or not anybody waits for them."""
    monkeypatch.setenv("ONCEWARD_MODEL_ANSWERS", answers)
    put_document(FIRST, "1,200.50")
    put_document(SECOND, "1,350.00")
    event = json.loads((EVENTS / "api_create_comparison.json").read_text())
    job_id = ask(api.handler, event).json["job_id"]  # type: ignore[arg-type]  # called as an ``Api`` is
    states = [wake(deployed, job_id)["s"]["S"]]
    until = time.monotonic() + PATIENCE
    while states[-1] == "waiting" and time.monotonic() < until:
        time.sleep(0.2)
        states.append(wake(deployed, job_id)["s"]["S"])
    row = deployed.row(job_id)

    assert (row["s"]["S"], row["a"]["N"]) == ("succeeded", "1")
    assert ("waiting" in states) is (answers != "now")
    assert deployed.model.counts()["computations"] == 3
