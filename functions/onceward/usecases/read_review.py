"""Read a job's review: where it stands, and the records of what persons decided about it."""

from __future__ import annotations

from dataclasses import dataclass

from onceward.domain.job import Job
from onceward.domain.names import TenantId
from onceward.domain.records import ReviewRecord, review_prefix
from onceward.usecases.ports import Blob, Clock, Store
from onceward.usecases.read_action import action_name, operation_id_of
from onceward.usecases.read_job import find_job


@dataclass(frozen=True, slots=True)
class ReviewReading:
    """The row, the verdicts so far, the oldest first, and of an action how its agent calls it."""

    job: Job
    records: tuple[ReviewRecord, ...] = ()
    operation_id: str | None = None


async def read_review(store: Store, blob: Blob, clock: Clock, *, tenant_id: TenantId, job_id: str) -> ReviewReading:
    """What there is to decide, or what was decided, of a job or of a flight, whose review is decided for all that wait.

    Raises ``JobNotFound``, also of a foreign job.
    """
    job = await find_job(store, clock, tenant_id, job_id, or_flight=True)
    items = await store.list_cold(job.tenant_id, job.job_id, review_prefix())
    records = tuple(item for item in items if isinstance(item, ReviewRecord))
    return ReviewReading(job, records, await operation_id_of(store, blob, job) if action_name(job) else None)
