"""List the reviews of all tenants, for an operator of the deployment: those that are due first come first.

Reviews have an index partition of their own, which the sweeper reads; each row is read from its table, so that what is
listed is true.
"""

from __future__ import annotations

from collections.abc import Sequence
from datetime import timedelta

from onceward.domain.due import REVIEW_SHARD
from onceward.domain.job import Job
from onceward.domain.states import JobState
from onceward.usecases.ports import Clock, Store

BEYOND_ANY_LOOK = timedelta(days=100)  # looks are a day apart at most, and a row lives ninety


async def list_reviews(store: Store, clock: Clock, most: int) -> Sequence[Job]:
    """At most ``most`` jobs in review; one that a run looks at in this moment is not among them."""
    now = clock.now()
    hints = await store.due_page(REVIEW_SHARD, now + BEYOND_ANY_LOOK, most)
    rows = [await store.get_job(hint.tenant_id, hint.identity) for hint in hints]
    return [row for row in rows if row is not None and row.state is JobState.NEEDS_REVIEW and row.expires_at > now]
