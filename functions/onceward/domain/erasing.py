"""What an erasure leaves: row, attempts, costs and entries, all without content.

Items are emptied, not removed: a late worker that puts its answer if absent then finds its place taken. The row is
marked first, so that nothing is re-opened while its input goes.
"""

from __future__ import annotations

from dataclasses import replace
from datetime import datetime

from onceward.domain.action_records import ActionWord, RunEntry, SeenAttempt
from onceward.domain.change import Counts, Fields, RowChange
from onceward.domain.conditions import IsJob, NotExpired, SeenAt
from onceward.domain.job import Job
from onceward.domain.records import (
    Answer,
    ColdItem,
    Input,
    Participant,
    PastAttempt,
    ProviderReference,
    Result,
    ReviewRecord,
)


def erase_change(job: Job, now: datetime) -> RowChange:
    """Mark a job that has ended as erased, if nothing moved since it was read."""
    when = (IsJob(job.job_id), NotExpired(now), SeenAt(job.state, job.epoch, job.seq))
    return RowChange(when=when, set=Fields(erased_at=now), add=Counts(seq=1))


def emptied(item: ColdItem) -> ColdItem | None:
    """The item without its content; ``None``: it holds none."""
    match item:
        case Answer():
            has_content = item.body is not None or item.blob_key is not None or item.asked is not None
            return replace(item, body=None, blob_key=None, asked=None) if has_content else None
        case Input() | Result():
            has_content = item.body is not None or item.blob_key is not None
            return replace(item, body=None, blob_key=None) if has_content else None
        case PastAttempt() | ProviderReference() | ReviewRecord() | Participant():
            return None
        case SeenAttempt() | ActionWord() | RunEntry():
            return None
