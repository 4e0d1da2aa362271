"""Cancel a job: end it at once where nothing can be unknown, else record the wish.

A worker may claim the job between our read and our write; then the write is refused and the decision is made anew
from the row as it is. A wish that is recorded already, by us (an SDK's retry) or by another, is simply the state: its
message is sent once more, since whoever recorded it may have died before sending.
"""

from __future__ import annotations

from onceward.domain.cancelling import Cancelling, decide_cancel, needs_wake
from onceward.domain.job import Job
from onceward.domain.names import JobId, TenantId
from onceward.domain.transaction import Refused, WriteReply
from onceward.errors import StoreBusy
from onceward.usecases.ports import Clock, Ids, Queue, Store
from onceward.usecases.read_job import find_job
from onceward.usecases.submit_job import dispatch_job

TRIES = 5  # each lost race means that the job moved on; five in a row, and the client may ask again


async def cancel_job(store: Store, queue: Queue, clock: Clock, ids: Ids, *, tenant_id: TenantId, job_id: JobId) -> Job:
    """Record the wish or the end, and return the row after it; a job that is over stays as it is.

    Raises ``JobNotFound`` for an absent or foreign job and ``StoreBusy`` when every race was lost.
    """
    for _ in range(TRIES):
        job = await find_job(store, clock, tenant_id, job_id)
        wanted = decide_cancel(job, clock.now())
        if wanted is None:
            return await _woken(queue, job)
        if not isinstance(await _write(store, job, wanted, ids), Refused):
            return await _woken(queue, wanted.row.change.apply(job))
    raise StoreBusy("the job kept moving while it was being cancelled")


async def _write(store: Store, job: Job, wanted: Cancelling, ids: Ids) -> WriteReply:
    """A row alone is one plain write; with the account's part it is a transaction."""
    if wanted.ledger:
        return await store.transact((wanted.row, *wanted.ledger), ids.token())
    return await store.update_job(job.tenant_id, job.job_id, wanted.row.change)


async def _woken(queue: Queue, job: Job) -> Job:
    """Bring a closing run, if one is needed; a lost message is the sweeper's: the row is due."""
    if needs_wake(job):
        await dispatch_job(queue, job)
    return job
