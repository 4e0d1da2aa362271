"""Accounts and entries: a tenant's budget, and what was done to it, each thing once.

Invariant 7: available + reserved + captured = granted, none negative. Each move is one change of the account and one
entry whose name can exist once, in the transaction that moves the job. A tenant without an account is unlimited; its
captures are entered all the same. Amounts are integer micro-USD.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from datetime import datetime
from enum import StrEnum

from onceward.domain.names import JobId, TenantId


class Verb(StrEnum):
    """What an entry did."""

    GRANT = "grant"
    RESERVE = "reserve"
    CAPTURE = "capture"
    RELEASE = "release"
    CARRY = "carry"


@dataclass(frozen=True, slots=True, kw_only=True)
class Account:
    """A tenant's budget: what is free, what is held for open jobs, what was charged.

    ``in_flight``: jobs that hold a reservation; ``most_in_flight``: so many may, ``None`` for any number.
    """

    tenant_id: TenantId
    granted: int
    available: int
    reserved: int
    captured: int
    in_flight: int = 0
    most_in_flight: int | None = None

    @property
    def is_full(self) -> bool:
        """Whether no further job may be created before one of those in flight has ended."""
        return self.most_in_flight is not None and self.in_flight >= self.most_in_flight


@dataclass(frozen=True, slots=True, kw_only=True)
class AccountChange:
    """Amounts to add to an account; it happens only if no amount becomes negative, and the account exists.

    ``in_flight`` is counted along and refuses nothing by itself: a wrong count must never keep a job from its end.
    With ``is_capped`` the account must not be full.
    """

    tenant_id: TenantId
    available: int = 0
    reserved: int = 0
    captured: int = 0
    in_flight: int = 0
    is_capped: bool = False

    def holds(self, account: Account | None) -> bool:
        """Whether a store may apply it."""
        if account is None or (self.is_capped and account.is_full):
            return False
        after = self.apply(account)
        return min(after.available, after.reserved, after.captured) >= 0

    def apply(self, account: Account) -> Account:
        """The account after the write."""
        return replace(
            account,
            available=account.available + self.available,
            reserved=account.reserved + self.reserved,
            captured=account.captured + self.captured,
            in_flight=account.in_flight + self.in_flight,
        )


@dataclass(frozen=True, slots=True, kw_only=True)
class Entry:
    """One line of a tenant's book, append-only; its name ``job#epoch#verb`` can exist once."""

    tenant_id: TenantId
    job_id: JobId
    epoch: int
    verb: Verb
    micro_usd: int
    at: datetime

    @property
    def name(self) -> str:
        """The name that makes a second capture or release impossible."""
        return f"{self.job_id}#{self.epoch}#{self.verb}"


def reserve(tenant_id: TenantId, amount: int, *, is_capped: bool = False) -> AccountChange:
    """Hold ``amount`` for a job that is now in flight; ``is_capped``: not beyond the tenant's limit of those."""
    return AccountChange(tenant_id=tenant_id, available=-amount, reserved=amount, in_flight=1, is_capped=is_capped)


def capture(tenant_id: TenantId, reserved: int, charge: int, *, was_counted: bool = True) -> AccountChange:
    """Charge at most what was held, and free the rest; ``was_counted``: its reservation was counted as in flight."""
    return AccountChange(
        tenant_id=tenant_id,
        available=reserved - charge,
        reserved=-reserved,
        captured=charge,
        in_flight=-int(was_counted),
    )


def release(tenant_id: TenantId, reserved: int, *, was_counted: bool = True) -> AccountChange:
    """Free what was held: the job ended without a result."""
    return AccountChange(tenant_id=tenant_id, available=reserved, reserved=-reserved, in_flight=-int(was_counted))
