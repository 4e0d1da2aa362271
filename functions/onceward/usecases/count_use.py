"""Count what a tenant does against its limit, before it is done.

Without a limit nothing is asked of the store. What is refused was not done; what fails after it was counted stays
counted: a limit protects the stage, it is no bill.
"""

from __future__ import annotations

from onceward.domain.names import TenantId
from onceward.domain.tally import Counted, Limit, tally_at
from onceward.errors import DocumentLimit, RateLimited
from onceward.usecases.ports import Clock, Store

REFUSALS: dict[Counted, tuple[type[RateLimited], str]] = {
    Counted.CREATES: (RateLimited, "this tenant has created as many jobs as it may in a minute"),
    Counted.ACTIONS: (RateLimited, "this tenant has asked for this action as often as it may in a minute"),
    Counted.DOCUMENTS: (DocumentLimit, "this tenant has asked for as many upload forms as it may in a day (UTC)"),
}


async def count_use(store: Store, clock: Clock, tenant_id: TenantId, limit: Limit | None) -> None:
    """Count one more; raises ``RateLimited`` or its subclass with the time until the next window."""
    if limit is None:
        return
    now = clock.now()
    tally = tally_at(limit, tenant_id, now)
    if not await store.count(tally):
        error, detail = REFUSALS[limit.counted]
        raise error(detail, retry_after=tally.ends_at - now)
