"""Accounts, entries and rows agree after every write (invariant 7)."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from tests.simulation.invariants import Checker

TERMINAL = frozenset({"succeeded", "failed", "cancelled"})


def check_books(checker: Checker) -> None:
    """Every account adds up, holds what its open jobs reserved, and each epoch has the entries of its state."""
    store = checker.world.store
    for tenant, account in store.accounts.items():
        parts = (account.available, account.reserved, account.captured)
        checker.expect(7, sum(parts) == account.granted, "{} do not add up to {}", parts, account.granted)
        checker.expect(7, min(parts) >= 0, "negative: {}", parts)
        mine = [row for row in store.rows.values() if row.tenant_id == tenant]
        open_ones = [row for row in mine if row.state not in TERMINAL]
        held = sum([row.reserved_micro_usd or 0 for row in open_ones])
        checker.expect(7, account.reserved == held, "{} reserved, open jobs reserved {}", account.reserved, held)
        over = [row.job_id for row in mine if (row.charge_micro_usd or 0) > (row.reserved_micro_usd or 0)]
        checker.expect(7, not over, "charged more than was held: {}", over)
        flying = sum([row.in_flight for row in open_ones])
        checker.expect(7, account.in_flight == flying, "{} counted in flight, {} are", account.in_flight, flying)
        mine += [row for row in store.gone if row.tenant_id == tenant]  # entries stay, whatever becomes of rows
        charged = sum([row.charge_micro_usd or 0 for row in mine if row.state == "succeeded"])
        checker.expect(7, account.captured == charged, "{} captured, jobs were charged {}", account.captured, charged)
    names: dict[str, list[str]] = {}
    for tenant, name in store.entries:
        names.setdefault(tenant, []).append(name)
    for row in store.rows.values():
        _check_entries(checker, row, names.get(row.tenant_id, []))


def _check_entries(checker: Checker, row: Any, names: list[str]) -> None:
    """Reserve or carry once per epoch; capture iff succeeded; release iff ended otherwise, and anything was held."""
    if row.participants is not None:
        is_in_book = any(name.startswith(row.job_id) for name in names)
        checker.expect(7, not is_in_book, "a flight is in the tenant's book")
        return
    prefix = f"{row.job_id}#{row.epoch}#"
    verbs = {name.removeprefix(prefix) for name in names if name.startswith(prefix)}
    has_reserved = row.reserved_micro_usd is not None
    checker.expect(
        7, (len(verbs & {"reserve", "carry"}) == 1) == has_reserved, "reservation and entries differ: {}", verbs
    )
    checker.expect(7, ("capture" in verbs) == (row.state == "succeeded"), "{} with entries {}", row.state, verbs)
    for epoch in range(1, row.epoch):
        past = {name.rpartition("#")[2] for name in names if name.startswith(f"{row.job_id}#{epoch}#")}
        is_carried = f"{row.job_id}#{epoch + 1}#carry" in names
        ends = ({"reserve"}, {"carry"}) if is_carried else (set(), {"reserve", "release"}, {"carry", "release"})
        checker.expect(7, past in ends, f"epoch {epoch} ended with entries {past}")
    is_released = row.state in ("failed", "cancelled") and has_reserved
    checker.expect(7, ("release" in verbs) == is_released, "{} with entries {}", row.state, verbs)
