"""List the reviews of all tenants, for an operator of the deployment: those that are due first come first.

Reviews have an index partition of their own, which the sweeper reads; each row is read from its table, so that what is
listed is true.
"""

from __future__ import annotations

from dataclasses import dataclass
from datetime import timedelta

from onceward.domain.due import REVIEW_SHARD
from onceward.domain.job import Job
from onceward.domain.states import JobState
from onceward.errors import InfrastructureError
from onceward.usecases.ports import Clock, Store

BEYOND_ANY_LOOK = timedelta(days=100)  # looks are a day apart at most, and a row lives ninety


@dataclass(frozen=True, slots=True, kw_only=True)
class Reviews:
    """``looked_at``: entries of the index; ``unreadable``: rows that this code cannot read; they are left out."""

    jobs: tuple[Job, ...]
    looked_at: int
    unreadable: int


async def list_reviews(store: Store, clock: Clock, most: int) -> Reviews:
    """At most ``most`` jobs in review; one that a run looks at in this moment is not among them."""
    now = clock.now()
    hints = await store.due_page(REVIEW_SHARD, now + BEYOND_ANY_LOOK, most)
    found: list[Job] = []
    unreadable = 0
    for hint in hints:
        try:
            row = await store.get_job(hint.tenant_id, hint.identity)
        except InfrastructureError:
            raise
        except Exception:  # noqa: BLE001  # one row must not hide all others from the person who decides
            unreadable += 1
            continue
        if row is not None and row.state is JobState.NEEDS_REVIEW and row.expires_at > now:
            found.append(row)
    return Reviews(jobs=tuple(found), looked_at=len(hints), unreadable=unreadable)
