"""States and outcomes as tables; ``docs/lifecycle.md`` is printed from them by a test."""

from __future__ import annotations

from enum import StrEnum


class JobState(StrEnum):
    """Where a job stands. Terminal states change only by a recorded new epoch."""

    QUEUED = "queued"
    RUNNING = "running"
    WAITING = "waiting"
    NEEDS_REVIEW = "needs_review"
    SUCCEEDED = "succeeded"
    FAILED = "failed"
    CANCELLED = "cancelled"

    @property
    def is_terminal(self) -> bool:
        """Whether nothing more happens in this epoch."""
        return self in TERMINAL


TERMINAL = frozenset({JobState.SUCCEEDED, JobState.FAILED, JobState.CANCELLED})


class WaitingFor(StrEnum):
    """What a waiting job waits for; on a running row, what it waited for when it was claimed."""

    RETRY = "retry"
    PROVIDER = "provider"
    LOOKUP = "lookup"
    FLIGHT = "flight"
    APPROVAL = "approval"


class AttemptOutcome(StrEnum):
    """How an attempt ended. ``interrupted``: stopped, and no call of it is unknown."""

    SUCCEEDED = "succeeded"
    FAILED = "failed"
    UNKNOWN = "unknown"
    INTERRUPTED = "interrupted"
    CANCELLED = "cancelled"


class AttemptStage(StrEnum):
    """How far an attempt came: nothing sent, a call without an answer, all calls answered, its output accepted."""

    STARTED = "started"
    SENT = "sent"
    ANSWERED = "answered"
    ACCEPTED = "accepted"


class CallState(StrEnum):
    """What is known of one externally visible step."""

    SENT = "sent"
    SUBMITTED = "submitted"
    SUCCEEDED = "succeeded"
    FAILED = "failed"
    UNKNOWN = "unknown"


class Resolution(StrEnum):
    """A person's verdict on a review. ``retry``: knowingly, at the risk of paying a second time."""

    ACCEPT = "accept"
    FAIL = "fail"
    RETRY = "retry"


class ProviderCancel(StrEnum):
    """What the provider said to our wish to stop: a fact apart from the job's own cancellation."""

    NONE = "none"
    UNSUPPORTED = "unsupported"
    REQUESTED = "requested"
    CONFIRMED = "confirmed"


LEGAL: dict[JobState, dict[JobState, str]] = {
    JobState.QUEUED: {
        JobState.RUNNING: "start, or a closing run",
        JobState.CANCELLED: "cancel",
    },
    JobState.RUNNING: {
        JobState.RUNNING: "takeover of an expired lease; the next attempt after recovery",
        JobState.QUEUED: "the attempt is given back (infrastructure)",
        JobState.WAITING: "retry later, provider later or switched off, lookup not yet conclusive, flight, approval",
        JobState.NEEDS_REVIEW: "a maybe that policy forbids to repeat",
        JobState.SUCCEEDED: "settle",
        JobState.FAILED: "settle",
        JobState.CANCELLED: "settle of a closing run",
    },
    JobState.WAITING: {
        JobState.RUNNING: "start, resume, or a closing run",
        JobState.QUEUED: "approval",
        JobState.CANCELLED: "cancel with no open and no unknown call",
        JobState.SUCCEEDED: "the flight's accepted result is copied",
        JobState.FAILED: "the flight failed",
        JobState.NEEDS_REVIEW: "the flight is in review",
    },
    JobState.NEEDS_REVIEW: {
        JobState.RUNNING: "look",
        JobState.QUEUED: "resolve: retry (new epoch)",
        JobState.SUCCEEDED: "resolve: accept",
        JobState.FAILED: "resolve: fail",
        JobState.CANCELLED: "resolve: fail, where a cancel is recorded",
    },
    JobState.SUCCEEDED: {},
    JobState.FAILED: {
        JobState.QUEUED: "redrive of an exhausted job, or a recorded reset of an action (new epoch)",
        JobState.WAITING: "the same, of an action that needs approval (new epoch)",
    },
    JobState.CANCELLED: {},
}


def is_legal(before: JobState, after: JobState) -> bool:
    """Whether one write may move a row from ``before`` to ``after``; staying put is no transition."""
    return before is after or after in LEGAL[before]
