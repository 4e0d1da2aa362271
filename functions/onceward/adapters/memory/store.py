"""The ``Store`` port in memory: domain objects in dictionaries, for users' tests and for simulation.

Check and effect of every write happen without an ``await`` in between, which on one event loop makes them atomic.
Not safe across threads. TTL is not simulated: an expired row stays until it is overwritten, as it may on AWS for days.
What is stored is public: a test may look at, and a simulation check, everything at once.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field, replace
from datetime import datetime
from operator import itemgetter
from typing import assert_never

from onceward.adapters.instants import from_expiry, to_expiry
from onceward.adapters.tenant_cursor import from_cursor, to_cursor
from onceward.domain.breaking import Breaker
from onceward.domain.change import RowChange
from onceward.domain.due import shard_after, shard_of_row
from onceward.domain.job import Job
from onceward.domain.ledger import Account, Entry
from onceward.domain.names import CoalesceKey, Identity, JobId, TenantId, identity_of
from onceward.domain.records import ColdItem
from onceward.domain.tally import Tally
from onceward.domain.transaction import (
    AddEntry,
    Applied,
    ChangeAccount,
    CountFlight,
    CreateRow,
    Op,
    PointFlight,
    PutCold,
    Refused,
    UpdateRow,
    WriteReply,
)
from onceward.errors import StoreUnavailable
from onceward.usecases.ports import DueRow, Page

type _Place = tuple[TenantId, Identity]


@dataclass(slots=True)
class MemoryStore:
    """All tables of one deployment; ``shards``: where the ``due`` index has each row; ``tokens``: what each did."""

    rows: dict[_Place, Job] = field(default_factory=dict)
    shards: dict[_Place, str] = field(default_factory=dict)
    items: dict[tuple[TenantId, JobId], dict[str, ColdItem]] = field(default_factory=dict)
    accounts: dict[TenantId, Account] = field(default_factory=dict)
    entries: dict[tuple[TenantId, str], Entry] = field(default_factory=dict)
    tokens: dict[str, tuple[Op, ...]] = field(default_factory=dict)
    tallies: dict[tuple[TenantId, str], int] = field(default_factory=dict)
    off: frozenset[str] = frozenset()
    breakers: dict[str, Breaker] = field(default_factory=dict)
    flights: dict[tuple[TenantId, CoalesceKey], JobId] = field(default_factory=dict)
    open_flights: dict[TenantId, int] = field(default_factory=dict)

    async def get_job(self, tenant_id: TenantId, identity: Identity) -> Job | None:
        """The row, expired or not."""
        return self.rows.get((tenant_id, identity))

    async def update_job(self, tenant_id: TenantId, job_id: JobId, change: RowChange) -> WriteReply:
        """One conditional write; the old row comes back either way."""
        op = UpdateRow(tenant_id, job_id, change)
        before = self.rows.get(_place(op))
        if not self._holds(op):
            return Refused(row=before, is_row_refused=True)
        self._apply(op)
        return Applied(before)

    async def transact(self, ops: Sequence[Op], token: str) -> WriteReply:
        """All or nothing; a token that was applied is answered as applied, and refused with other contents."""
        if token in self.tokens:
            if self.tokens[token] != tuple(ops):
                raise StoreUnavailable("the token of a transaction was used again with other contents")
            return Applied()
        refused = [op for op in ops if not self._holds(op)]
        if refused:
            rows = [op for op in refused if isinstance(op, CreateRow | UpdateRow)]
            moved = next((op.change.tenant_id for op in refused if isinstance(op, ChangeAccount)), None)
            return Refused(
                row=self.rows.get(_place(rows[0])) if rows else None,
                account=None if moved is None else self.accounts.get(moved),
                is_row_refused=bool(rows),
                is_account_refused=any(isinstance(op, ChangeAccount) for op in refused),
                is_entry_refused=any(isinstance(op, AddEntry) for op in refused),
                is_pointer_refused=any(isinstance(op, PointFlight) for op in refused),
                is_count_refused=any(isinstance(op, CountFlight) for op in refused),
            )
        for op in ops:
            self._apply(op)
        self.tokens[token] = tuple(ops)
        return Applied()

    async def put_cold(self, item: ColdItem, expires_at: datetime) -> bool:
        """The first one stays."""
        del expires_at  # TTL is not simulated
        items = self.items.setdefault((item.tenant_id, item.job_id), {})
        if item.sort_key in items:
            return False
        items[item.sort_key] = item
        return True

    async def get_cold(self, tenant_id: TenantId, job_id: JobId, sort_key: str) -> ColdItem | None:
        """One item."""
        return self.items.get((tenant_id, job_id), {}).get(sort_key)

    async def list_cold(self, tenant_id: TenantId, job_id: JobId, prefix: str) -> tuple[ColdItem, ...]:
        """Items in the order of their places."""
        items = sorted(self.items.get((tenant_id, job_id), {}).items())
        return tuple(item for sort_key, item in items if sort_key.startswith(prefix))

    async def due_page(self, shard: str, until: datetime, limit: int) -> tuple[DueRow, ...]:
        """The oldest first; the index is never behind here."""
        found = [
            DueRow(tenant_id, identity, job.due)
            for (tenant_id, identity), job in self.rows.items()
            if job.due is not None and job.due <= until and self.shards[tenant_id, identity] == shard
        ]
        return tuple(sorted(found, key=lambda row: row.due)[:limit])

    async def count_due(self, shard: str) -> int:
        """All that are due at some time."""
        return sum(job.due is not None and self.shards[place] == shard for place, job in self.rows.items())

    async def tenant_page(self, tenant_id: TenantId, start: str | None, limit: int) -> Page:
        """The newest first; a full page names where the next begins, which may turn out to be empty."""
        jobs = (job for job in self.rows.values() if job.tenant_id == tenant_id and not job.is_flight)
        places = sorted(((job.created_at, job.job_id) for job in jobs), reverse=True)
        if start is not None:
            behind = from_cursor(start)
            places = [place for place in places if place < behind]
        page = places[:limit]
        return Page(tuple(job_id for _, job_id in page), to_cursor(*page[-1]) if len(page) == limit else None)

    async def get_account(self, tenant_id: TenantId) -> Account | None:
        """The account, if one was opened."""
        return self.accounts.get(tenant_id)

    async def grant(self, tenant_id: TenantId, micro_usd: int, entry: Entry) -> Account:
        """Grant once per entry; the account as it is now comes back either way."""
        empty = Account(tenant_id=tenant_id, granted=0, available=0, reserved=0, captured=0)
        account = self.accounts.setdefault(tenant_id, empty)
        if self._holds(AddEntry(entry)):
            self._apply(AddEntry(entry))
            account = replace(account, granted=account.granted + micro_usd, available=account.available + micro_usd)
            self.accounts[tenant_id] = account
        return account

    async def list_entries(self, tenant_id: TenantId, prefix: str) -> tuple[Entry, ...]:
        """Entries in the order of their names."""
        found = sorted(
            ((name, entry) for (tenant, name), entry in self.entries.items() if tenant == tenant_id),
            key=itemgetter(0),
        )
        return tuple(entry for name, entry in found if name.startswith(prefix))

    async def limit_account(self, tenant_id: TenantId, most: int | None) -> Account | None:
        """The limit, on an account that was opened."""
        account = self.accounts.get(tenant_id)
        if account is None:
            return None
        self.accounts[tenant_id] = replace(account, most_in_flight=most)
        return self.accounts[tenant_id]

    async def get_flight(self, tenant_id: TenantId, key: CoalesceKey) -> JobId | None:
        """The flight that the key points to."""
        return self.flights.get((tenant_id, key))

    async def count(self, tally: Tally) -> bool:
        """Count up to the limit."""
        place = (tally.tenant_id, tally.name)
        if self.tallies.get(place, 0) >= tally.most:
            return False
        self.tallies[place] = self.tallies.get(place, 0) + 1
        return True

    async def switched_off(self) -> frozenset[str]:
        """What is off now."""
        return self.off

    async def switch(self, name: str, *, is_on: bool) -> frozenset[str]:
        """Take a name out of what is off, or put it in."""
        self.off = self.off - {name} if is_on else self.off | {name}
        return self.off

    async def get_breaker(self, name: str) -> Breaker | None:
        """As the last write left it."""
        return self.breakers.get(name)

    async def put_breaker(self, breaker: Breaker, seen: str | None) -> bool:
        """In place of what was seen."""
        present = self.breakers.get(breaker.name)
        if seen != (None if present is None else present.token):
            return False
        self.breakers[breaker.name] = breaker
        return True

    async def list_breakers(self) -> tuple[Breaker, ...]:
        """By name."""
        return tuple(breaker for _, breaker in sorted(self.breakers.items()))

    def _holds(self, op: Op) -> bool:
        """Whether the present state lets this part of a write happen."""
        match op:
            case CreateRow(now=now):
                present = self.rows.get(_place(op))
                return present is None or present.expires_at <= now
            case UpdateRow(change=change):
                present = self.rows.get(_place(op))
                return present is not None and change.holds(present)
            case PutCold():
                return True
            case ChangeAccount(change):
                return change.holds(self.accounts.get(change.tenant_id))
            case AddEntry(entry):
                return (entry.tenant_id, entry.name) not in self.entries
            case PointFlight(tenant_id, key, _, seen):
                return self.flights.get((tenant_id, key)) in (None, seen)
            case CountFlight(tenant_id, step, most):
                return step < 0 or self.open_flights.get(tenant_id, 0) < most
            case _:
                assert_never(op)

    def _apply(self, op: Op) -> None:
        """Make this part of a write happen."""
        match op:
            case CreateRow(job):
                # Whole seconds, as in the tables, whose TTL knows no others.
                self.rows[_place(op)] = replace(job, expires_at=from_expiry(to_expiry(job.expires_at)))
                self.shards[_place(op)] = shard_of_row(job)
            case UpdateRow(job_id=job_id, change=change):
                self.rows[_place(op)] = change.apply(self.rows[_place(op)])
                self.shards[_place(op)] = shard_after(change, job_id) or self.shards[_place(op)]
            case PutCold(item):
                self.items.setdefault((item.tenant_id, item.job_id), {})[item.sort_key] = item
            case ChangeAccount(change):
                self.accounts[change.tenant_id] = change.apply(self.accounts[change.tenant_id])
            case AddEntry(entry):
                self.entries[entry.tenant_id, entry.name] = entry
            case PointFlight(tenant_id, key, flight):
                self.flights[tenant_id, key] = flight
            case CountFlight(tenant_id, step):
                self.open_flights[tenant_id] = self.open_flights.get(tenant_id, 0) + step
            case _:
                assert_never(op)


def _place(op: CreateRow | UpdateRow) -> _Place:
    """Where the row of a write is."""
    if isinstance(op, CreateRow):
        return op.job.tenant_id, op.job.identity
    return op.tenant_id, identity_of(op.job_id)
