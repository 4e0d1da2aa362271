"""The rows of jobs: read one, change one, and find them by the two indexes."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from datetime import datetime
from typing import Any

from botocore.exceptions import ClientError

from onceward.adapters.dynamodb.changes import update_arguments
from onceward.adapters.dynamodb.keys import DUE_INDEX, TENANT_INDEX, listed_job, owner_of, row_key, tenant_index_key
from onceward.adapters.dynamodb.row_codec import from_row
from onceward.adapters.dynamodb.table import Access
from onceward.adapters.dynamodb.values import to_item
from onceward.adapters.instants import from_ms, to_ms
from onceward.adapters.tenant_cursor import from_cursor, to_cursor
from onceward.domain.change import RowChange
from onceward.domain.job import Job
from onceward.domain.names import Identity, JobId, TenantId
from onceward.domain.transaction import Applied, Refused, WriteReply
from onceward.usecases.ports import DueRow, Page


@dataclass(frozen=True, slots=True)
class JobRows:
    """The jobs table, as far as it holds rows."""

    access: Access

    async def get(self, tenant_id: TenantId, identity: Identity) -> Job | None:
        """The row, consistently read, expired or not."""
        reply = await self.access.call(
            self.access.client.get_item,
            TableName=self.access.tables.jobs,
            Key=row_key(tenant_id, identity),
            ConsistentRead=True,
        )
        return from_row(reply["Item"]) if "Item" in reply else None

    async def update(self, tenant_id: TenantId, job_id: JobId, change: RowChange) -> WriteReply:
        """One conditional update; the row as it was comes back either way, in the same answer."""
        try:
            reply = await self.access.call(
                self.access.client.update_item,
                TableName=self.access.tables.jobs,
                ReturnValues="ALL_OLD",
                **update_arguments(tenant_id, job_id, change),
            )
        except ClientError as refused:
            return Refused(row=from_refused(refused.response), is_row_refused=True)
        return Applied(from_row(reply["Attributes"]))

    async def due_page(self, shard: str, until: datetime, limit: int) -> tuple[DueRow, ...]:
        """The oldest entries of one partition of the due index."""
        reply = await self.access.call(
            self.access.client.query,
            TableName=self.access.tables.jobs,
            IndexName=DUE_INDEX,
            KeyConditionExpression="due_shard = :shard AND due <= :until",
            ExpressionAttributeValues=to_item({":shard": shard, ":until": to_ms(until)}),
            ScanIndexForward=True,
            Limit=limit,
        )
        return tuple(_due_row(item) for item in reply["Items"])

    async def count_due(self, shard: str) -> int:
        """The entries of one partition of the due index, over as many pages of 1 MB as they fill."""
        counted = 0
        start: Mapping[str, Any] = {}
        while True:
            reply = await self.access.call(
                self.access.client.query,
                TableName=self.access.tables.jobs,
                IndexName=DUE_INDEX,
                KeyConditionExpression="due_shard = :shard",
                ExpressionAttributeValues=to_item({":shard": shard}),
                Select="COUNT",
                **start,
            )
            counted += reply["Count"]
            if "LastEvaluatedKey" not in reply:
                return counted
            start = {"ExclusiveStartKey": reply["LastEvaluatedKey"]}

    async def tenant_page(self, tenant_id: TenantId, start: str | None, limit: int) -> Page:
        """The newest entries of one tenant's partition of the list's index, from a cursor on."""
        behind = {} if start is None else {"ExclusiveStartKey": tenant_index_key(tenant_id, *from_cursor(start))}
        reply = await self.access.call(
            self.access.client.query,
            TableName=self.access.tables.jobs,
            IndexName=TENANT_INDEX,
            KeyConditionExpression="tenant_id = :tenant",
            ExpressionAttributeValues=to_item({":tenant": tenant_id}),
            ScanIndexForward=False,
            Limit=limit,
            **behind,
        )
        listed = [listed_job(item) for item in reply["Items"]]
        more = "LastEvaluatedKey" in reply and bool(listed)
        return Page(tuple(job_id for _, job_id in listed), to_cursor(*listed[-1]) if more else None)


def from_refused(answer: Mapping[str, Any]) -> Job | None:
    """The row that a refused write left as it is; ``None``: there is none."""
    return from_row(answer["Item"]) if answer.get("Item") else None


def _due_row(item: Mapping[str, Mapping[str, Any]]) -> DueRow:
    """What the index's keys tell."""
    tenant_id, identity = owner_of(item)
    return DueRow(tenant_id, Identity(identity), from_ms(int(item["due"]["N"])))
