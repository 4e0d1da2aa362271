"""The accounts table, as far as one request reads or changes: accounts, lines of their books, tallies, switches."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from botocore.exceptions import ClientError

from onceward.adapters.dynamodb.account_codec import (
    count_arguments,
    from_account,
    from_entry,
    from_switches,
    limit_arguments,
    switch_arguments,
)
from onceward.adapters.dynamodb.keys import account_key, entry_range, switches_key
from onceward.adapters.dynamodb.table import Access
from onceward.domain.ledger import Account, Entry
from onceward.domain.names import TenantId
from onceward.domain.tally import Tally


@dataclass(frozen=True, slots=True)
class Accounts:
    """What is not part of a job's transaction."""

    access: Access

    async def get(self, tenant_id: TenantId) -> Account | None:
        """One consistent read."""
        reply = await self.access.call(
            self.access.client.get_item,
            TableName=self.access.tables.accounts,
            Key=account_key(tenant_id),
            ConsistentRead=True,
        )
        return from_account(tenant_id, reply["Item"]) if "Item" in reply else None

    async def entries(self, tenant_id: TenantId, prefix: str) -> tuple[Entry, ...]:
        """All lines under a prefix, over as many pages of 1 MB as they fill."""
        found: list[Entry] = []
        start: Mapping[str, Any] = {}
        while True:
            reply = await self.access.call(
                self.access.client.query,
                TableName=self.access.tables.accounts,
                KeyConditionExpression="pk = :pk AND begins_with(sk, :sk)",
                ExpressionAttributeValues=entry_range(tenant_id, prefix),
                ConsistentRead=True,
                **start,
            )
            found.extend(from_entry(tenant_id, item) for item in reply["Items"])
            if "LastEvaluatedKey" not in reply:
                return tuple(found)
            start = {"ExclusiveStartKey": reply["LastEvaluatedKey"]}

    async def limit(self, tenant_id: TenantId, most: int | None) -> Account | None:
        """One conditional update."""
        try:
            reply = await self.access.call(
                self.access.client.update_item,
                TableName=self.access.tables.accounts,
                ReturnValues="ALL_NEW",
                **limit_arguments(tenant_id, most),
            )
        except ClientError:
            return None
        return from_account(tenant_id, reply["Attributes"])

    async def count(self, tally: Tally) -> bool:
        """One conditional addition."""
        try:
            await self.access.call(
                self.access.client.update_item,
                TableName=self.access.tables.accounts,
                **count_arguments(tally),
            )
        except ClientError:
            return False
        return True

    async def switched_off(self) -> frozenset[str]:
        """One consistent read; without an item everything is on."""
        reply = await self.access.call(
            self.access.client.get_item,
            TableName=self.access.tables.accounts,
            Key=switches_key(),
            ConsistentRead=True,
        )
        return from_switches(reply.get("Item", {}))

    async def switch(self, name: str, *, is_on: bool) -> frozenset[str]:
        """Add to, or take from, the set of what is off."""
        reply = await self.access.call(
            self.access.client.update_item,
            TableName=self.access.tables.accounts,
            ReturnValues="ALL_NEW",
            **switch_arguments(name, is_on=is_on),
        )
        return from_switches(reply["Attributes"])
