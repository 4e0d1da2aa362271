"""Grant a tenant budget, and show what became of it: the operator's two questions to the accounts.

One transaction adds to the account and writes the line; a line that is there already refuses both, and is then read: an
equal amount is our own grant or a repeat of it, another one is a key used for something else.
"""

from __future__ import annotations

from dataclasses import dataclass

from onceward.domain.granting import GRANTS, grant_entry
from onceward.domain.ledger import Account, Entry
from onceward.domain.names import TenantId
from onceward.errors import KeyReused
from onceward.usecases.ports import Clock, Store


@dataclass(frozen=True, slots=True)
class Statement:
    """A tenant's account and the grants that it was given; without an account the tenant is unlimited."""

    account: Account | None
    grants: tuple[Entry, ...]


async def grant_budget(store: Store, clock: Clock, *, tenant_id: TenantId, key: str, micro_usd: int) -> Account:
    """The account after the grant; raises ``KeyReused`` if the key granted another amount before."""
    wanted = grant_entry(tenant_id, key, micro_usd, clock.now())
    account = await store.grant(tenant_id, micro_usd, wanted)
    (written,) = await store.list_entries(tenant_id, wanted.name)
    if written.micro_usd != micro_usd:
        raise KeyReused("this key has granted another amount; nothing was granted now")
    return account


async def show_account(store: Store, tenant_id: TenantId) -> Statement:
    """What the tenant has, and every grant, in the order in which they were made."""
    account = await store.get_account(tenant_id)
    grants = await store.list_entries(tenant_id, GRANTS)
    return Statement(account, tuple(sorted(grants, key=lambda entry: entry.at)))
