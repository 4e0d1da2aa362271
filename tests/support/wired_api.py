"""The API over its real adapters, in this process: every request that they send to AWS is written down."""

from __future__ import annotations

import itertools
import json
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass
from functools import cached_property
from typing import Any

import boto3
from aws_lambda_powertools import Logger
from botocore.config import Config

from onceward.adapters.dynamodb.store import DynamoStore
from onceward.adapters.dynamodb.table import Tables
from onceward.adapters.s3 import CONFIG as S3
from onceward.adapters.s3 import S3Blob
from onceward.adapters.sqs import CONFIG as SQS
from onceward.adapters.sqs import SqsQueue
from onceward.domain.tally import Limits
from onceward.handlers.api_app import Api
from onceward.handlers.wiring import Wiring
from onceward.local.cloud import CloudAccess
from tests.support.api_world import SETTINGS, Reply, SteppingClock, a_registry, an_event, ask, claims_of
from tests.support.emulators import dynamodb_at, make_tables

BODY = '{"kind": "text.generate", "input": {"prompt": "hello"}}'
PATIENT = Config(connect_timeout=30, read_timeout=30, proxies={})  # a busy machine is no lost answer
_numbers = itertools.count(1)


class PatientWiring(Wiring):
    """The deployed wiring, but for how long it waits for an answer and where it asks."""

    access: CloudAccess
    clock: SteppingClock  # type: ignore[assignment]  # stands still: a slow machine is no lost message
    sent: list[str]

    @cached_property
    def store(self) -> DynamoStore:
        """The tables."""
        client = self._heard(dynamodb_at(self.access["endpoint_url"]))
        return DynamoStore(client, self._tables, self.threads, self.clock, self.ids)

    @cached_property
    def queue(self) -> SqsQueue:
        """The jobs queue."""
        client = self._heard(boto3.client("sqs", **_patient(self.access, SQS)))
        return SqsQueue(client, self.threads, jobs_url=self._jobs_url, dead_letters_url=None)

    @cached_property
    def blob(self) -> S3Blob:
        """The bucket."""
        client = self._heard(boto3.client("s3", **_patient(self.access, S3)))
        return S3Blob(client, self.threads, self._bucket)

    def _heard(self, client: Any) -> Any:
        """A client whose requests are written down, repeats included."""
        client.meta.events.register("request-created", lambda operation_name, **_: self.sent.append(operation_name))
        return client


@dataclass(frozen=True, slots=True)
class WiredApi:
    """The API over an emulated account; ``sent``: the operations of AWS, attempt by attempt."""

    api: Api
    tables: Tables
    queue_url: str
    access: CloudAccess
    clock: SteppingClock
    sent: list[str]

    def create(self, key: str, body: str = BODY, *, tenant: str = "acme") -> Reply:
        """Ask for a job."""
        headers = {"idempotency-key": key}
        return ask(self.api, an_event("POST", "/api/ai/jobs", body=body, headers=headers, claims=claims_of(tenant)))

    def get(self, job_id: str, *, tenant: str = "acme") -> Reply:
        """Read a job."""
        return ask(self.api, an_event("GET", f"/api/ai/jobs/{job_id}", claims=claims_of(tenant)))

    def log(self) -> list[str]:
        """What was sent since the last look."""
        sent = [*self.sent]
        self.sent.clear()
        return sent

    def put(self, table: str, item: Mapping[str, Any]) -> None:
        """Put an item as it is."""
        dynamodb_at(self.access["endpoint_url"]).put_item(TableName=table, Item=item)

    def items(self, table: str) -> list[dict[str, Any]]:
        """Everything in a table, as stored."""
        return dynamodb_at(self.access["endpoint_url"]).scan(TableName=table, ConsistentRead=True)["Items"]

    def messages(self) -> list[dict[str, Any]]:
        """The bodies that are in the queue now."""
        answer = boto3.client("sqs", **self.access).receive_message(QueueUrl=self.queue_url, MaxNumberOfMessages=10)
        return [json.loads(one["Body"]) for one in answer.get("Messages", [])]


@contextmanager
def wired_api(access: CloudAccess, endpoint_url: str, *, limits: Limits | None = None) -> Iterator[WiredApi]:
    """An API whose clients ask ``endpoint_url``, over new tables, bucket and queue behind ``access``."""
    name = f"wired-{next(_numbers)}"
    tables = make_tables(dynamodb_at(access["endpoint_url"]))
    boto3.client("s3", **access).create_bucket(Bucket=name)
    queue_url = boto3.client("sqs", **access).create_queue(QueueName=name)["QueueUrl"]
    world = PatientWiring.of_api(SETTINGS, a_registry())
    world._tables, world._bucket, world._jobs_url = tables, name, queue_url
    world._limits = limits or Limits()
    assert isinstance(world, PatientWiring)
    world.access, world.sent, world.clock = {**access, "endpoint_url": endpoint_url}, [], SteppingClock()
    yield WiredApi(Api(SETTINGS, world, Logger(service=name)), tables, queue_url, access, world.clock, world.sent)
    world._runner.close()


def _patient(access: CloudAccess, config: Config) -> CloudAccess:
    """A client's arguments with the adapter's own configuration, but for its time limits."""
    return {**access, "config": config.merge(PATIENT)}
