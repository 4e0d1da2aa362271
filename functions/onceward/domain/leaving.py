"""A participant that ends before its flight leaves it, in the very transaction that ends it.

The flight is told nothing else: whether it may still send is asked of its row at the first send (``HasParticipants``),
so no second write can be lost between the last one's leaving and the flight's end.
"""

from __future__ import annotations

from onceward.domain.change import Counts, RowChange
from onceward.domain.conditions import IsJob
from onceward.domain.job import Job
from onceward.domain.transaction import Op, UpdateRow


def is_participant(job: Job) -> bool:
    """Whether a flight works for this job: one that has calls of its own goes on by itself."""
    return job.flight is not None and not job.open and not job.accepted


def leave_ops(job: Job) -> tuple[Op, ...]:
    """One participant less, for a job that has one; whether the flight is still under way does not matter then."""
    if job.flight is None or not is_participant(job):
        return ()
    return (UpdateRow(job.tenant_id, job.flight, RowChange(when=(IsJob(job.flight),), add=Counts(participants=-1))),)
