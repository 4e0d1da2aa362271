"""Send the dead letter of a job that ended exhausted or is in review, then take it off the sweeper's list.

The letter goes first: dying after it sends it twice, which changes nothing; the other order could lose it.
"""

from __future__ import annotations

from typing import Protocol

from onceward.domain.change import Fields, RowChange
from onceward.domain.conditions import SeenAt, SeenDue
from onceward.domain.job import Job
from onceward.domain.states import JobState
from onceward.domain.sweep import is_dead, next_look
from onceward.errors import InfrastructureError
from onceward.usecases.ports import Clock, DeadLetter, Queue, Store


class Letters(Protocol):
    """What sending a letter needs: the worker has it, and so has the sweeper."""

    @property
    def store(self) -> Store:
        """The tables."""
        ...

    @property
    def queue(self) -> Queue:
        """The queues."""
        ...

    @property
    def clock(self) -> Clock:
        """The time."""
        ...


async def send_letter(deps: Letters, job: Job) -> bool:
    """Send and note it; ``False``: something did not answer, and the row is still due, so the sweeper will."""
    if job.due is None or not is_dead(job):
        return False
    reason = job.error_code or JobState.NEEDS_REVIEW.value
    try:
        await deps.queue.bury(DeadLetter(job.tenant_id, job.job_id, job.epoch, reason))
        seen = (SeenAt(job.state, job.epoch, job.seq), SeenDue(job.due, job.run_token))
        await deps.store.update_job(job.tenant_id, job.job_id, RowChange(when=seen, set=_after_letter(deps, job)))
    except InfrastructureError:
        return False
    return True


def _after_letter(deps: Letters, job: Job) -> Fields:
    """An exhausted job is done with; a review is looked at again, soon at first."""
    if job.state is not JobState.NEEDS_REVIEW:
        return Fields(due=None)
    now = deps.clock.now()
    look = next_look(now, now, job.review_until or now)
    return Fields(due=look, wake_at=look)
