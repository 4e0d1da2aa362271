"""The parts of a local stack that an operator's commands work on, and the file that names them."""

from __future__ import annotations

import itertools
import json
from collections.abc import Mapping
from pathlib import Path
from typing import TYPE_CHECKING

import boto3

from onceward.adapters.dynamodb.account_codec import grant_arguments
from onceward.adapters.dynamodb.cold_codec import to_cold
from onceward.adapters.dynamodb.keys import row_key
from onceward.adapters.dynamodb.row_codec import from_row, to_row
from onceward.domain.job import Job
from onceward.domain.names import TenantId, identity_of
from onceward.domain.records import ColdItem
from onceward.local.cloud import LocalCloud
from tests.support.builders import TENANT
from tests.support.emulators import dynamodb_at, make_tables

if TYPE_CHECKING:
    from mypy_boto3_sqs import SQSClient

_numbers = itertools.count(1)


class OperatorStack:
    """Tables, bucket and queues of their own in a local cloud."""

    def __init__(self, cloud: LocalCloud, folder: Path) -> None:
        """Make them, and write the file."""
        number = next(_numbers)
        self.dynamodb = dynamodb_at(cloud.endpoint_url)
        self.tables = make_tables(self.dynamodb)
        self.bucket = f"operator-{number}"
        boto3.client("s3", **cloud.access).create_bucket(Bucket=self.bucket)
        self.sqs: SQSClient = boto3.client("sqs", **cloud.access)
        self.dead_url = self.sqs.create_queue(QueueName=f"dlq-dead-{number}")["QueueUrl"]
        told = self.sqs.get_queue_attributes(QueueUrl=self.dead_url, AttributeNames=["QueueArn"])
        policy = json.dumps({"deadLetterTargetArn": told["Attributes"]["QueueArn"], "maxReceiveCount": "50"})
        made = self.sqs.create_queue(QueueName=f"dlq-jobs-{number}", Attributes={"RedrivePolicy": policy})
        self.jobs_url = made["QueueUrl"]
        self.file = folder / "stack.json"
        known = {
            "aws_endpoint_url": cloud.endpoint_url,
            "region": "us-east-1",
            "queues": {"jobs": self.jobs_url, "dead_letters": self.dead_url},
            "tables": {
                "jobs": self.tables.jobs,
                "accounts": self.tables.accounts,
                "flights": self.tables.flights,
            },
            "bucket": self.bucket,
            "tokens": {"acme": "SECRET"},
        }
        self.file.write_text(json.dumps(known))

    def keep(self, job: Job, *items: ColdItem) -> None:
        """Put a row as it is, and what lies beside it."""
        self.dynamodb.put_item(TableName=self.tables.jobs, Item=to_row(job))
        for item in items:
            self.dynamodb.put_item(TableName=self.tables.jobs, Item=to_cold(item, job.expires_at))

    def row(self, job_id: str, tenant: str = TENANT) -> Job:
        """A row, consistently read."""
        key = row_key(TenantId(tenant), identity_of(job_id))  # type: ignore[arg-type]  # a job's id
        return from_row(self.dynamodb.get_item(TableName=self.tables.jobs, Key=key, ConsistentRead=True)["Item"])

    def open_account(self, micro_usd: int, *, reserved: int = 0, tenant: str = TENANT) -> None:
        """Grant a tenant something, some of which is held already."""
        tenant_id = TenantId(tenant)
        self.dynamodb.update_item(TableName=self.tables.accounts, **grant_arguments(tenant_id, micro_usd))
        held: Mapping[str, str] = {":less": str(-reserved), ":more": str(reserved)}
        self.dynamodb.update_item(
            TableName=self.tables.accounts,
            Key={"pk": {"S": f"account#{tenant}"}, "sk": {"S": "account"}},
            UpdateExpression="ADD available :less, reserved :more",
            ExpressionAttributeValues={name: {"N": number} for name, number in held.items()},
        )

    def put(self, *bodies: str) -> None:
        """Send letters."""
        for body in bodies:
            self.sqs.send_message(QueueUrl=self.dead_url, MessageBody=body, MessageGroupId=TENANT)

    def bodies(self, url: str) -> list[str]:
        """What can be received there now; it stays hidden for a while."""
        answer = self.sqs.receive_message(QueueUrl=url, MaxNumberOfMessages=10, WaitTimeSeconds=1)
        return sorted(one["Body"] for one in answer.get("Messages", []))
