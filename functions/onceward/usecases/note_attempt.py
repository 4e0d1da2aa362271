"""Keep what a request for an action came to, and that its run has this operation: after the job, before the answer.

What was answered is on the record. A process that dies in between leaves a job without this one attempt; its client
asks again, and that attempt is listed.
"""

from __future__ import annotations

from dataclasses import dataclass

from onceward.domain.action_records import RunEntry, Seen, SeenAttempt, run_place
from onceward.domain.job import Job
from onceward.usecases.at_once import at_once
from onceward.usecases.ports import Clock, Ids, Store


@dataclass(frozen=True, slots=True, kw_only=True)
class Transport:
    """What a request says of itself: recorded, and no part of what it asks for."""

    by: str
    attempt: int | None = None
    run_id: str | None = None
    tool_call_id: str | None = None


async def note_attempt(store: Store, clock: Clock, ids: Ids, job: Job, told: Transport, came_to: Seen) -> None:
    """Put the attempt, and the run's entry, which is the same each time; raises ``InfrastructureError``."""
    seen = SeenAttempt(
        tenant_id=job.tenant_id,
        job_id=job.job_id,
        at=clock.now(),
        token=ids.token(),
        came_to=came_to,
        by=told.by,
        attempt=told.attempt,
        run_id=told.run_id,
        tool_call_id=told.tool_call_id,
    )
    writes = [store.put_cold(seen, job.expires_at)]
    if told.run_id is not None:
        entry = RunEntry(
            tenant_id=job.tenant_id,
            job_id=run_place(told.run_id),
            operation=job.job_id,
            created_at=job.created_at,
        )
        writes.append(store.put_cold(entry, job.expires_at))
    await at_once(*writes)
