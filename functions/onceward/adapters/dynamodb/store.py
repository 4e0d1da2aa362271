"""The ``Store`` port over DynamoDB: each method is handed to the store of its concern."""

from __future__ import annotations

from collections.abc import Sequence
from datetime import datetime
from functools import partial
from typing import TYPE_CHECKING

from onceward.adapters.dynamodb.accounts import Accounts
from onceward.adapters.dynamodb.breakers import BreakerItems
from onceward.adapters.dynamodb.cold_items import ColdItems
from onceward.adapters.dynamodb.flights import Flights
from onceward.adapters.dynamodb.job_rows import JobRows
from onceward.adapters.dynamodb.patience import Patience
from onceward.adapters.dynamodb.table import Access, Tables
from onceward.adapters.dynamodb.transactions import Transactions
from onceward.adapters.threads import Threads
from onceward.domain.breaking import Breaker
from onceward.domain.change import RowChange
from onceward.domain.job import Job
from onceward.domain.ledger import Account, Entry
from onceward.domain.names import CoalesceKey, Identity, JobId, TenantId
from onceward.domain.records import ColdItem
from onceward.domain.tally import Tally
from onceward.domain.transaction import Op, WriteReply
from onceward.errors import StoreUnavailable
from onceward.usecases.ports import Clock, DueRow, Ids, Page

if TYPE_CHECKING:
    from mypy_boto3_dynamodb.client import DynamoDBClient


class DynamoStore:
    """The tables of one deployment. Holds no state: safe for any number of loops and threads."""

    def __init__(self, client: DynamoDBClient, tables: Tables, threads: Threads, clock: Clock, ids: Ids) -> None:
        """``client``: made with ``client.CONFIG``; ``clock`` and ``ids`` serve waiting with jitter, nothing else."""
        self._access = Access(client, tables, threads)
        self._patience = Patience(clock, ids)
        self._rows = JobRows(self._access)
        self._items = ColdItems(self._access)
        self._accounts = Accounts(self._access)
        self._breakers = BreakerItems(self._access)
        self._flights = Flights(self._access)
        self._transactions = Transactions(self._access, self._patience)

    async def get_job(self, tenant_id: TenantId, identity: Identity) -> Job | None:
        """The row, expired or not: TTL removes it days later."""
        return await self._rows.get(tenant_id, identity)

    async def update_job(self, tenant_id: TenantId, job_id: JobId, change: RowChange) -> WriteReply:
        """One conditional update, repeated with patience while a transaction holds the row."""
        return await self._patience.through(partial(self._rows.update, tenant_id, job_id, change))

    async def transact(self, ops: Sequence[Op], token: str) -> WriteReply:
        """One transaction, repeated under its token while others hold one of its items."""
        return await self._transactions.apply(ops, token)

    async def put_cold(self, item: ColdItem, expires_at: datetime) -> bool:
        """One conditional put."""
        return await self._patience.through(partial(self._items.put, item, expires_at))

    async def get_cold(self, tenant_id: TenantId, job_id: JobId, sort_key: str) -> ColdItem | None:
        """One consistent read."""
        return await self._items.get(tenant_id, job_id, sort_key)

    async def list_cold(self, tenant_id: TenantId, job_id: JobId, prefix: str) -> tuple[ColdItem, ...]:
        """One consistent query."""
        return await self._items.list(tenant_id, job_id, prefix)

    async def due_page(self, shard: str, until: datetime, limit: int) -> tuple[DueRow, ...]:
        """One query of the due index."""
        return await self._rows.due_page(shard, until, limit)

    async def count_due(self, shard: str) -> int:
        """Queries of the due index that return no item."""
        return await self._rows.count_due(shard)

    async def tenant_page(self, tenant_id: TenantId, start: str | None, limit: int) -> Page:
        """One query of the list's index."""
        return await self._rows.tenant_page(tenant_id, start, limit)

    async def get_account(self, tenant_id: TenantId) -> Account | None:
        """One consistent read."""
        return await self._accounts.get(tenant_id)

    async def list_entries(self, tenant_id: TenantId, prefix: str) -> tuple[Entry, ...]:
        """One consistent query."""
        return await self._accounts.entries(tenant_id, prefix)

    async def limit_account(self, tenant_id: TenantId, most: int | None) -> Account | None:
        """One update, repeated with patience while a transaction holds the account."""
        return await self._patience.through(partial(self._accounts.limit, tenant_id, most))

    async def get_flight(self, tenant_id: TenantId, key: CoalesceKey) -> JobId | None:
        """One consistent read."""
        return await self._flights.get(tenant_id, key)

    async def count(self, tally: Tally) -> bool:
        """One conditional update, repeated with patience while others count."""
        return await self._patience.through(partial(self._accounts.count, tally))

    async def switched_off(self) -> frozenset[str]:
        """One consistent read."""
        return await self._accounts.switched_off()

    async def switch(self, name: str, *, is_on: bool) -> frozenset[str]:
        """One update, which needs to know nothing of the others."""
        return await self._accounts.switch(name, is_on=is_on)

    async def get_breaker(self, name: str) -> Breaker | None:
        """One consistent read."""
        return await self._breakers.get(name)

    async def put_breaker(self, breaker: Breaker, seen: str | None) -> bool:
        """One conditional put."""
        return await self._breakers.put(breaker, seen)

    async def list_breakers(self) -> tuple[Breaker, ...]:
        """One consistent query."""
        return await self._breakers.list()

    async def grant(self, tenant_id: TenantId, micro_usd: int, entry: Entry) -> Account:
        """One transaction of account and entry, then the account as it is now."""
        await self._transactions.grant(tenant_id, micro_usd, entry)
        account = await self.get_account(tenant_id)
        if account is None:  # nobody deletes accounts; a restore of the tables might have
            raise StoreUnavailable("the account that was granted to is gone")
        return account
