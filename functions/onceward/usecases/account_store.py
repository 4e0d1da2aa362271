"""The port of the accounts table: budgets and their books, tallies, switches, breakers; a part of ``ports.Store``."""

from __future__ import annotations

from typing import Protocol

from onceward.domain.breaking import Breaker
from onceward.domain.ledger import Account, Entry
from onceward.domain.names import TenantId
from onceward.domain.tally import Tally


class AccountStore(Protocol):
    """Each method is one request and atomic."""

    async def get_account(self, tenant_id: TenantId) -> Account | None:
        """A tenant's account; ``None``: unlimited."""

    async def grant(self, tenant_id: TenantId, micro_usd: int, entry: Entry) -> Account:
        """Add to what a tenant may spend, once per entry; opens the account if there is none."""

    async def list_entries(self, tenant_id: TenantId, prefix: str) -> tuple[Entry, ...]:
        """The lines of a tenant's book whose names begin with ``prefix``, in their order, consistently read."""

    async def limit_account(self, tenant_id: TenantId, most: int | None) -> Account | None:
        """Let at most so many of a tenant's jobs be in flight, ``None``: any number; ``None`` for no account."""

    async def count(self, tally: Tally) -> bool:
        """One more in a tally; ``False``: it is full and stays as it is."""

    async def switched_off(self) -> frozenset[str]:
        """The names of all that is switched off, consistently read."""

    async def switch(self, name: str, *, is_on: bool) -> frozenset[str]:
        """Switch one name off or on; what is off afterwards comes back. Asking twice changes nothing."""

    async def get_breaker(self, name: str) -> Breaker | None:
        """A circuit breaker, consistently read; ``None``: nothing ever failed there."""

    async def put_breaker(self, breaker: Breaker, seen: str | None) -> bool:
        """Write it in place of the state with the token ``seen`` (``None``: of none); ``False``: that is not there."""

    async def list_breakers(self) -> tuple[Breaker, ...]:
        """All of them, by name, consistently read."""
