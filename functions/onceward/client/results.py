"""How a job ended, as a caller wants it: its result, or the exception that says why there is none."""

from __future__ import annotations

from pydantic import JsonValue

from onceward.client.exceptions import JobCancelled, JobFailed, OutcomeUnknown, WaitTimeout
from onceward.wire.responses import JobAccepted, JobView

TERMINAL = frozenset({"succeeded", "failed", "cancelled"})
SETTLED = TERMINAL | {"needs_review"}  # nothing more happens by itself


def is_settled(job: JobAccepted) -> bool:
    """Whether waiting on would be waiting for a person, or for nothing. A state of a newer server is no end."""
    return job.status in SETTLED


def result_of(job: JobView) -> JsonValue:
    """The result; raises ``JobFailed``, ``JobCancelled``, ``OutcomeUnknown``, and ``WaitTimeout`` before the end."""
    match job.status:
        case "succeeded":
            return job.result
        case "failed":
            raise JobFailed(job)
        case "cancelled":
            raise JobCancelled(job)
        case "needs_review":
            raise OutcomeUnknown(job)
        case _:
            raise WaitTimeout(job)
