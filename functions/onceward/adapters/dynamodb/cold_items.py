"""The cold items beside a job's row: put one where nothing is, read one, read many."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from datetime import datetime
from typing import Any

from botocore.exceptions import ClientError

from onceward.adapters.dynamodb.cold_codec import from_cold, to_cold
from onceward.adapters.dynamodb.keys import cold_key, cold_pk
from onceward.adapters.dynamodb.table import Access
from onceward.adapters.dynamodb.values import to_item
from onceward.domain.names import JobId, TenantId
from onceward.domain.records import ColdItem


@dataclass(frozen=True, slots=True)
class ColdItems:
    """The jobs table, as far as it holds cold items."""

    access: Access

    async def put(self, item: ColdItem, expires_at: datetime) -> bool:
        """Put it if its place is free. After a lost answer the SDK's repeat finds our own item, and says ``False``."""
        try:
            await self.access.call(
                self.access.client.put_item,
                TableName=self.access.tables.jobs,
                Item=to_cold(item, expires_at),
                ConditionExpression="attribute_not_exists(pk)",
            )
        except ClientError:
            return False
        return True

    async def get(self, tenant_id: TenantId, job_id: JobId, sort_key: str) -> ColdItem | None:
        """One item, consistently read."""
        reply = await self.access.call(
            self.access.client.get_item,
            TableName=self.access.tables.jobs,
            Key=cold_key(tenant_id, job_id, sort_key),
            ConsistentRead=True,
        )
        return from_cold(reply["Item"]) if "Item" in reply else None

    async def list(self, tenant_id: TenantId, job_id: JobId, prefix: str) -> tuple[ColdItem, ...]:
        """All items under a prefix, over as many pages of 1 MB as they fill; those of newer code are left out."""
        found: list[ColdItem | None] = []
        place, given = "pk = :pk", {":pk": cold_pk(tenant_id, job_id)}
        if prefix:  # an empty string may not be compared with a key
            place, given = f"{place} AND begins_with(sk, :prefix)", {**given, ":prefix": prefix}
        start: Mapping[str, Any] = {}
        while True:
            reply = await self.access.call(
                self.access.client.query,
                TableName=self.access.tables.jobs,
                KeyConditionExpression=place,
                ExpressionAttributeValues=to_item(given),
                ConsistentRead=True,
                **start,
            )
            found.extend(from_cold(item) for item in reply["Items"])
            if "LastEvaluatedKey" not in reply:
                return tuple(item for item in found if item is not None)
            start = {"ExclusiveStartKey": reply["LastEvaluatedKey"]}
