"""Read a job's whole history: every attempt of every epoch, with its calls, answers that came late included.

More to read than a poll should cost, so it is a question of its own: the row, its attempts' items and its answers.
"""

from __future__ import annotations

from dataclasses import dataclass

from onceward.domain.history import AttemptLine, cost_of_job, history_of
from onceward.domain.job import Job
from onceward.domain.money import Cost
from onceward.domain.names import TenantId
from onceward.domain.records import Answer, PastAttempt, answer_prefix, attempt_prefix
from onceward.usecases.ports import Clock, Store
from onceward.usecases.read_job import find_job, open_at_end


@dataclass(frozen=True, slots=True)
class History:
    """The attempts, the oldest first, and what the job cost by what is known now."""

    job: Job
    attempts: tuple[AttemptLine, ...]
    cost: Cost


async def read_history(store: Store, clock: Clock, *, tenant_id: TenantId, job_id: str) -> History:
    """What became of each attempt; raises ``JobNotFound``."""
    job = await find_job(store, clock, tenant_id, job_id)
    items = await store.list_cold(job.tenant_id, job.job_id, attempt_prefix())
    answered = await store.list_cold(job.tenant_id, job.job_id, answer_prefix())
    answers = [item for item in answered if isinstance(item, Answer)]
    kept = [item for item in items if isinstance(item, PastAttempt)]
    return History(job, history_of(job, kept, answers), cost_of_job(job, open_at_end(job, kept), answers))
