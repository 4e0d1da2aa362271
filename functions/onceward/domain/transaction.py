"""What one atomic write over several items consists of, as data."""

from __future__ import annotations

from dataclasses import dataclass
from datetime import datetime

from onceward.domain.change import RowChange
from onceward.domain.job import Job
from onceward.domain.ledger import Account, AccountChange, Entry
from onceward.domain.names import CoalesceKey, JobId, TenantId
from onceward.domain.records import ColdItem


@dataclass(frozen=True, slots=True)
class CreateRow:
    """Put a new row where none is, or where one is past its retention at ``now``."""

    job: Job
    now: datetime


@dataclass(frozen=True, slots=True)
class UpdateRow:
    """Change a row under its conditions."""

    tenant_id: TenantId
    job_id: JobId
    change: RowChange


@dataclass(frozen=True, slots=True)
class PutCold:
    """Put a cold item, whatever is there: only for items that this very write makes reachable."""

    item: ColdItem
    expires_at: datetime


@dataclass(frozen=True, slots=True)
class ChangeAccount:
    """Move amounts of an account, none below zero."""

    change: AccountChange


@dataclass(frozen=True, slots=True)
class AddEntry:
    """Write a line of the book that can exist once."""

    entry: Entry


@dataclass(frozen=True, slots=True)
class PointFlight:
    """Let a coalesce key point to a flight, if it points to nothing, or still to ``seen``, which is over."""

    tenant_id: TenantId
    key: CoalesceKey
    flight: JobId
    seen: JobId | None
    expires_at: datetime


@dataclass(frozen=True, slots=True)
class CountFlight:
    """Count a tenant's flights under way: up only below ``most``, down always."""

    tenant_id: TenantId
    step: int
    most: int = 0


type Op = CreateRow | UpdateRow | PutCold | ChangeAccount | AddEntry | PointFlight | CountFlight


@dataclass(frozen=True, slots=True)
class Applied:
    """The write happened. ``before`` is the row as it was (``None`` for a create or where the store cannot tell)."""

    before: Job | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class Refused:
    """Nothing was written. ``row`` is the job's row as it is now, ``account`` the one that refused.

    Reasons are read in this order: the row's, then the budget's, then the entry's.
    """

    row: Job | None = None
    account: Account | None = None
    is_row_refused: bool = False
    is_account_refused: bool = False
    is_entry_refused: bool = False
    is_pointer_refused: bool = False
    is_count_refused: bool = False


type WriteReply = Applied | Refused
