"""Read a job's review: where it stands, and the records of what persons decided about it."""

from __future__ import annotations

from dataclasses import dataclass

from onceward.domain.job import Job
from onceward.domain.names import TenantId
from onceward.domain.records import ReviewRecord, review_prefix
from onceward.usecases.ports import Clock, Store
from onceward.usecases.read_job import find_job


@dataclass(frozen=True, slots=True)
class ReviewReading:
    """The row, and the verdicts so far, the oldest first."""

    job: Job
    records: tuple[ReviewRecord, ...] = ()


async def read_review(store: Store, clock: Clock, *, tenant_id: TenantId, job_id: str) -> ReviewReading:
    """What there is to decide, or what was decided, of a job or of a flight, whose review is decided for all that wait.

    Raises ``JobNotFound``, also of a foreign job.
    """
    job = await find_job(store, clock, tenant_id, job_id, or_flight=True)
    items = await store.list_cold(job.tenant_id, job.job_id, review_prefix())
    return ReviewReading(job, tuple(item for item in items if isinstance(item, ReviewRecord)))
