"""Keep the attempt that a row is in as an item of its own, before the row moves on from it."""

from __future__ import annotations

from onceward.domain.job import Job
from onceward.domain.records import past_attempt
from onceward.usecases.ports import Store


async def keep_attempt(store: Store, job: Job, reasons: str | None = None) -> None:
    """Put the present attempt as its item, if one began; an item that is there already says the same.

    ``reasons``: those of the decision that ends it.
    """
    item = past_attempt(job, reasons)
    if item is not None:
        await store.put_cold(item, job.expires_at)
