"""The worker's and the sweeper's Lambda as they are deployed: settings, wiring, real adapters, a real model server.

A worker's environment is kept over several invocations, as Lambda keeps it: its event loop and its clients are the
same ones, and after every call nothing runs that did not run before.
"""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import boto3
import pytest
from moto import mock_aws

from onceward.domain.names import JobId, identity_of
from onceward.handlers import api, sweeper, worker
from onceward.local.environment import REGION
from onceward.local.model import STAND_IN_MODEL
from tests.support.api_world import FakeContext, ask
from tests.support.emulators import dynamodb_at, make_tables
from tests.support.leftovers import running
from tests.support.model_server import ModelServer

EVENTS = Path(__file__).parents[2] / "events"
LIMITS = {
    "creates_per_minute": "0",
    "documents_per_day": "0",
    "participants_per_flight": "100",
    "flights_per_tenant": "100",
    "targets_are_local": "true",
}
SECONDS = {
    "breaker_failures": "0",
    "breaker_pause_seconds": "60",
    "due_grace_seconds": "0",
    "skew_allowance_seconds": "2",
    "lease_seconds": "60",
    "heartbeat_seconds": "20",
    "send_window_seconds": "10",
    "settle_seconds": "10",
    "infrastructure_backoff_seconds": "30",
    "infrastructure_backoff_max_seconds": "300",
}


@dataclass(frozen=True, slots=True)
class Deployed:
    """What the functions' variables name."""

    jobs_table: str
    jobs_url: str
    dead_letters_url: str
    model: ModelServer

    def create(self, prompt: str, key: str) -> str:
        """POST a job by the API's Lambda; its id."""
        event = json.loads((EVENTS / "api_create_job.json").read_text())
        body = json.dumps({"kind": "text.generate", "input": {"prompt": prompt}})
        event = {**event, "body": body, "headers": {**event["headers"], "idempotency-key": key}}
        job_id: str = ask(api.handler, event).json["job_id"]  # type: ignore[arg-type]  # called as an ``Api`` is
        return job_id

    def batch(self) -> dict[str, Any]:
        """What SQS would hand over now."""
        sample = json.loads((EVENTS / "worker_wakeup.json").read_text())["Records"][0]
        answer = boto3.client("sqs").receive_message(QueueUrl=self.jobs_url, MaxNumberOfMessages=10)
        told = [(one["MessageId"], one["ReceiptHandle"], one["Body"]) for one in answer.get("Messages", [])]
        return {
            "Records": [
                {**sample, "messageId": message_id, "receiptHandle": receipt, "body": body}
                for message_id, receipt, body in told
            ]
        }

    def row(self, job_id: str) -> Mapping[str, Any]:
        """A job's row, as stored."""
        key = {"pk": {"S": f"acme#{identity_of(JobId(job_id))}"}, "sk": {"S": "job"}}
        item: Mapping[str, Any] = boto3.client("dynamodb").get_item(TableName=self.jobs_table, Key=key)["Item"]
        return item

    def letters(self) -> list[dict[str, Any]]:
        """The dead letters."""
        answer = boto3.client("sqs").receive_message(QueueUrl=self.dead_letters_url, MaxNumberOfMessages=10)
        return [json.loads(one["Body"]) for one in answer.get("Messages", [])]


@pytest.fixture(scope="module")
def model_server() -> Iterator[ModelServer]:
    """One model server for all tests here."""
    with ModelServer() as server:
        yield server


@pytest.fixture
def deployed(model_server: ModelServer, monkeypatch: pytest.MonkeyPatch) -> Iterator[Deployed]:
    """An account inside this process; environments start cold."""
    model_server.reset()
    for name in ("AWS_ACCESS_KEY_ID", "AWS_SECRET_ACCESS_KEY"):
        monkeypatch.setenv(name, "test")
    monkeypatch.setenv("AWS_DEFAULT_REGION", REGION)
    monkeypatch.setenv("POWERTOOLS_SERVICE_NAME", "onceward")
    caches = (api._api, worker._worker, sweeper._passes)
    with mock_aws():
        tables = make_tables(dynamodb_at())
        boto3.client("s3").create_bucket(Bucket="bucket")
        queues = [boto3.client("sqs").create_queue(QueueName=name)["QueueUrl"] for name in ("jobs", "dead")]
        secret = boto3.client("secretsmanager").create_secret(Name="model", SecretString="none")["ARN"]
        settings = {
            "stage": "test",
            "jobs_table": tables.jobs,
            "accounts_table": tables.accounts,
            "bucket": "bucket",
            "jobs_queue_url": queues[0],
            "dead_letters_queue_url": queues[1],
            "max_receive_count": "50",
            "calls_per_provider": "10",
            "model_api": "openai",
            "model_url": model_server.base_url,
            "model_name": STAND_IN_MODEL,
            "model_secret_id": secret,
            "model_capability": "none",
            "lookup_lag_seconds": "1",
            "flights_table": tables.flights,
            "tenant_claim": "tenant",
            "scope_claim": "scope",
            **LIMITS,
            **SECONDS,
        }
        for name, value in settings.items():
            monkeypatch.setenv(f"ONCEWARD_{name.upper()}", value)
        for cache in caches:
            cache.cache_clear()
        yield Deployed(tables.jobs, queues[0], queues[1], model_server)
        for cache in caches:
            cache.cache_clear()


def work(event: Mapping[str, Any]) -> dict[str, Any]:
    """Call the worker's Lambda; nothing of the invocation may be left when it returns (invariant 17)."""
    before = running()
    reply: dict[str, Any] = worker.handler(event, FakeContext(remaining_ms=900_000))  # type: ignore[arg-type]

    assert running() == before
    return reply


def release_when_held(model: ModelServer, calls: int) -> None:
    """Let the model answer once so many calls wait for it together."""
    model.wait_for(held=calls)
    model.release()


@pytest.mark.failure_mode("F34", "F50")
def test_batch_runs_its_jobs_together_and_leaves_nothing(deployed: Deployed) -> None:
    """Three jobs of one event: three calls at once, three results, an empty list, no thread, task or child left."""
    deployed.model.behave(hold="batch")
    ids = [deployed.create(f"Sentence {number}.", f"key-{number}") for number in range(3)]
    with ThreadPoolExecutor(1) as beside:
        released = beside.submit(release_when_held, deployed.model, 3)
        reply = work(deployed.batch())
        released.result()

    assert reply == {"batchItemFailures": []}
    assert {deployed.row(job_id)["s"]["S"] for job_id in ids} == {"succeeded"}
    assert deployed.model.counts()["peak"] == 3


@pytest.mark.failure_mode("F39", "F40")
def test_warm_environment_serves_invocation_after_invocation(deployed: Deployed) -> None:
    """The environment's loop, clients and semaphores serve the second event as the first."""
    for number in range(2):
        job_id = deployed.create(f"Round {number}.", f"round-{number}")

        assert work(deployed.batch()) == {"batchItemFailures": []}
        assert deployed.row(job_id)["s"]["S"] == "succeeded"


@pytest.mark.failure_mode("F49")
def test_job_that_waits_comes_back_by_its_message(deployed: Deployed) -> None:
    """A refused call waits in the message's visibility: the answer names exactly this message."""
    deployed.model.behave(status=429, headers={"retry-after": "60"})
    job_id = deployed.create("Wait.", "waits")
    event = deployed.batch()

    assert work(event) == {"batchItemFailures": [{"itemIdentifier": event["Records"][0]["messageId"]}]}
    assert deployed.row(job_id)["s"]["S"] == "waiting"


@pytest.mark.parametrize(
    ("name", "is_returned"),
    [("worker_wakeup", False), ("worker_redriven_letter", False), ("worker_newer_message", True)],
)
def test_sample_event_of_a_job_that_is_not_there(deployed: Deployed, name: str, is_returned: bool) -> None:
    """An absent job's message ends; a body of newer code comes back for newer code. Neither becomes a letter."""
    event = json.loads((EVENTS / f"{name}.json").read_text())
    returned = [{"itemIdentifier": record["messageId"]} for record in event["Records"]] if is_returned else []

    assert work(event) == {"batchItemFailures": returned}
    assert deployed.letters() == []


@pytest.mark.failure_mode("F51")
def test_unreadable_body_is_kept_for_a_person(deployed: Deployed) -> None:
    """It goes to the dead letters with the reason, and its message ends."""
    event = json.loads((EVENTS / "worker_unreadable.json").read_text())

    assert work(event) == {"batchItemFailures": []}
    assert {letter["unreadable"] for letter in deployed.letters()} == {record["body"] for record in event["Records"]}


@pytest.mark.failure_mode("F55")
def test_sweeper_wakes_a_job_whose_message_was_lost(deployed: Deployed) -> None:
    """The scheduled event finds the due row and sends a fresh message; nothing is left of the pass."""
    job_id = deployed.create("Nobody was told.", "lost")
    boto3.client("sqs").purge_queue(QueueUrl=deployed.jobs_url)
    event = json.loads((EVENTS / "sweeper_schedule.json").read_text())
    before = running()

    assert sweeper.handler(event, FakeContext()) == {"wake": 1}  # type: ignore[arg-type]  # as Lambda calls it
    assert running() == before
    work(deployed.batch())
    assert deployed.row(job_id)["s"]["S"] == "succeeded"
