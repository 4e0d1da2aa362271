"""What really happened, from those who cannot be talked into anything: tables, queues and the model's own count."""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from typing import Any
from uuid import uuid4

from onceward.adapters.dynamodb.account_codec import from_account, from_entry, grant_arguments
from onceward.adapters.dynamodb.keys import account_key, cold_pk, entry_range, row_key
from onceward.adapters.dynamodb.row_codec import from_row, to_row
from onceward.domain.job import Job
from onceward.domain.ledger import Account
from onceward.domain.names import JobId, TenantId, identity_of
from onceward.domain.states import JobState
from tests.scenarios.stack import PATIENCE_WITH_STARTS, DeployedStack, until

REST = frozenset({JobState.SUCCEEDED, JobState.FAILED, JobState.CANCELLED, JobState.NEEDS_REVIEW})
PLENTY = 10**9  # micro-USD: no test runs out of it


@dataclass(frozen=True, slots=True, kw_only=True)
class Calls:
    """What the model server counted for one job, over all its attempts."""

    requests: int = 0
    computations: int = 0


@dataclass(kw_only=True)
class Witness:
    """The evidence about the jobs of one tenant, which has an account with plenty."""

    stack: DeployedStack
    tenant: TenantId
    _letters: list[dict[str, Any]] = field(default_factory=list)

    def open_account(self, micro_usd: int = PLENTY) -> None:
        """Give the tenant something to spend, as an operator does."""
        self.stack.dynamodb.update_item(
            TableName=self.stack.outputs["AccountsTable"], **grant_arguments(self.tenant, micro_usd)
        )

    def created(self, kind: str, prompt: str) -> str:
        """POST a job of this tenant under a key of its own; its id."""
        return self.stack.created(kind, {"prompt": prompt}, key=str(uuid4()), tenant=self.tenant)

    def cancel(self, job_id: str) -> dict[str, Any]:
        """POST a cancel; what the API answers."""
        answer = self.stack.http.post(f"/api/ai/jobs/{job_id}/cancel", headers=self.stack.headers(self.tenant))
        assert answer.is_success, answer.text
        shown: dict[str, Any] = answer.json()
        return shown

    def shown(self, job_id: str) -> dict[str, Any]:
        """A job as the API shows it to its tenant."""
        return self.stack.get(job_id, tenant=self.tenant)

    def row(self, job_id: str) -> Job:
        """A job's row, consistently read."""
        key = row_key(self.tenant, identity_of(JobId(job_id)))
        item = self.stack.dynamodb.get_item(TableName=self.stack.outputs["JobsTable"], Key=key, ConsistentRead=True)
        return from_row(item["Item"])

    def overwrite(self, job: Job) -> None:
        """Put a row as a test wants it: time that has passed, and nothing else."""
        self.stack.dynamodb.put_item(TableName=self.stack.outputs["JobsTable"], Item=to_row(job))

    def at_rest(self, job_id: str, *, patience: float = PATIENCE_WITH_STARTS) -> Job:
        """A job's row once it is terminal or in review."""
        return self.when(job_id, lambda job: job.state in REST, "it is at rest", patience=patience)

    def when(self, job_id: str, holds: Any, what: str, *, patience: float = PATIENCE_WITH_STARTS) -> Job:
        """A job's row once it is as wanted."""

        def look() -> Job | None:
            job = self.row(job_id)
            return job if holds(job) else None

        return until(look, f"{job_id}: {what}", patience)

    def items(self, job_id: str) -> list[str]:
        """The places of a job's cold items."""
        pages = self.stack.dynamodb.get_paginator("query").paginate(
            TableName=self.stack.outputs["JobsTable"],
            KeyConditionExpression="pk = :pk",
            ExpressionAttributeValues={":pk": {"S": cold_pk(self.tenant, JobId(job_id))}},
            ConsistentRead=True,
        )
        return [item["sk"]["S"] for page in pages for item in page["Items"]]

    def calls(self, job_id: str) -> Calls:
        """What the model server counted under the keys of a job."""
        counted = [one for key, one in self.stack.model.counts()["by_key"].items() if key.startswith(job_id)]
        return Calls(
            requests=sum(one["requests"] for one in counted), computations=sum(one["computations"] for one in counted)
        )

    def entries(self, job_id: str) -> list[str]:
        """The verbs of the lines that a job has in its tenant's book, in the order of their names."""
        return [verb for verb, _ in self._lines(job_id)]

    def amounts(self, job_id: str) -> dict[str, int]:
        """What each verb moved."""
        return dict(self._lines(job_id))

    def _lines(self, prefix: str) -> Iterator[tuple[str, int]]:
        pages = self.stack.dynamodb.get_paginator("query").paginate(
            TableName=self.stack.outputs["AccountsTable"],
            KeyConditionExpression="pk = :pk AND begins_with(sk, :sk)",
            ExpressionAttributeValues=entry_range(self.tenant, prefix),
            ConsistentRead=True,
        )
        for page in pages:
            for item in page["Items"]:
                entry = from_entry(self.tenant, item)
                yield str(entry.verb), entry.micro_usd

    @property
    def account(self) -> Account:
        """The tenant's account as it stands."""
        item = self.stack.dynamodb.get_item(
            TableName=self.stack.outputs["AccountsTable"], Key=account_key(self.tenant), ConsistentRead=True
        )
        return from_account(self.tenant, item["Item"])

    def quiet(self, *, patience: float = PATIENCE_WITH_STARTS) -> None:
        """Wait until no message is left in the jobs queue, neither waiting nor in a worker's hands."""
        until(lambda: sum(self.messages()) == 0 or None, "the jobs queue is empty", patience)

    def visible(self) -> int:
        """How many messages could be delivered now."""
        return self.messages()[0]

    def messages(self) -> tuple[int, int]:
        """How many messages wait, and how many are in a worker's hands or hidden."""
        names = ["ApproximateNumberOfMessages", "ApproximateNumberOfMessagesNotVisible"]
        told = self.stack.sqs.get_queue_attributes(QueueUrl=self.stack.outputs["JobsQueueUrl"], AttributeNames=names)
        waiting, hidden = (int(told["Attributes"][name]) for name in names)
        return waiting, hidden

    def redeliver(self, letter: Mapping[str, Any]) -> None:
        """Put a letter's body into the jobs queue, as SQS does when it moves one."""
        self.stack.sqs.send_message(QueueUrl=self.stack.outputs["JobsQueueUrl"], MessageBody=json.dumps(letter))

    def letters(self, job_id: str) -> list[dict[str, Any]]:
        """The dead letters of a job so far; they are taken off the queue, which shows ten at a time."""
        url = self.stack.outputs["DeadLettersQueueUrl"]
        while taken := self.stack.sqs.receive_message(QueueUrl=url, MaxNumberOfMessages=10).get("Messages", []):
            for message in taken:
                self._letters.append(json.loads(message["Body"]))
                self.stack.sqs.delete_message(QueueUrl=url, ReceiptHandle=message["ReceiptHandle"])
        return [letter for letter in self._letters if letter.get("job_id") == job_id]


def assert_books_agree(account: Account) -> None:
    """Invariant 7: what was granted is free, held or charged, and nothing is negative."""
    assert account.available + account.reserved + account.captured == account.granted
    assert min(account.available, account.reserved, account.captured) >= 0
