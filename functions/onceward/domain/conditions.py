"""Conditions of a write, one class per sentence; ``holds`` is the meaning, a store's table is the spelling.

A store must check them atomically with the write (DynamoDB: one condition expression; memory: no await between
check and effect). Times compared are ``wake_at``, ``lease_until`` and ``deadline_at``, never ``due``: that belongs
to the sweeper. An instant that a condition names was read from the caller's clock before the call.
"""

from __future__ import annotations

from dataclasses import dataclass
from datetime import datetime
from typing import Protocol

from onceward.domain.job import Job
from onceward.domain.names import JobId, RunToken
from onceward.domain.states import JobState, ProviderCancel, WaitingFor

UNDER_WAY = (JobState.QUEUED, JobState.RUNNING, JobState.WAITING)


class Condition(Protocol):
    """One sentence that must be true of the row at the instant of the write."""

    def holds(self, job: Job) -> bool:
        """Whether it is true of ``job``."""
        ...


@dataclass(frozen=True, slots=True)
class KindLimit:
    """What this code knows of a kind: its newest version and how many attempts an epoch may start."""

    kind: str
    version: int
    max_attempts: int


@dataclass(frozen=True, slots=True)
class IsJob:
    """The row is this life of the key, not a later one under the same identity."""

    job_id: str

    def holds(self, job: Job) -> bool:
        """Whether the ids are equal."""
        return job.job_id == self.job_id


@dataclass(frozen=True, slots=True)
class IsKnown:
    """Kind, version and schema are known to this code; anything newer waits for newer code."""

    limits: tuple[KindLimit, ...]
    schema_version: int

    def holds(self, job: Job) -> bool:
        """Whether this code may touch the row."""
        known = any(job.kind == one.kind and job.kind_version <= one.version for one in self.limits)
        return known and job.schema_version <= self.schema_version


@dataclass(frozen=True, slots=True)
class IsOrphaned:
    """The job was to end long ago, by deadline, cancel or review limit, and nobody who knows its kind has ended it."""

    schema_version: int
    since: datetime

    def holds(self, job: Job) -> bool:
        """Whether any code that can read the row may end it."""
        ends = (job.deadline_at, job.cancel_requested_at, job.review_until)
        is_over = any(at is not None and at <= self.since for at in ends)
        return is_over and job.schema_version <= self.schema_version


@dataclass(frozen=True, slots=True)
class HasAttemptsLeft:
    """Fewer attempts were started in this epoch than the kind allows now."""

    limits: tuple[KindLimit, ...]

    def holds(self, job: Job) -> bool:
        """Whether one more attempt may start."""
        return any(job.kind == one.kind and job.attempts < one.max_attempts for one in self.limits)


@dataclass(frozen=True, slots=True)
class IsStartable:
    """Queued, or waiting for a retry whose time has come."""

    now: datetime

    def holds(self, job: Job) -> bool:
        """Whether a start, or a closing run without counting, may claim the row."""
        if job.state is JobState.QUEUED:
            return True
        awake = job.wake_at is not None and job.wake_at <= self.now
        return job.state is JobState.WAITING and job.waiting_for is WaitingFor.RETRY and awake


@dataclass(frozen=True, slots=True)
class IsResumable:
    """Waiting for anything but a retry, and awake or asked to stop."""

    now: datetime

    def holds(self, job: Job) -> bool:
        """Whether a resume may claim the row."""
        awake = (job.wake_at is not None and job.wake_at <= self.now) or job.cancel_requested_at is not None
        return job.state is JobState.WAITING and job.waiting_for is not WaitingFor.RETRY and awake


@dataclass(frozen=True, slots=True)
class IsLookable:
    """In review, and it is time to look again, or a cancel came that the provider has not been told of."""

    now: datetime

    def holds(self, job: Job) -> bool:
        """Whether a look may claim the row."""
        awake = job.wake_at is not None and job.wake_at <= self.now
        unheard = job.cancel_requested_at is not None and job.provider_cancel is ProviderCancel.NONE
        return job.state is JobState.NEEDS_REVIEW and (awake or unheard)


@dataclass(frozen=True, slots=True)
class HeldBy:
    """Only the present lease holder may write."""

    token: RunToken

    def holds(self, job: Job) -> bool:
        """Whether the row is running under this token."""
        return job.state is JobState.RUNNING and job.run_token == self.token


@dataclass(frozen=True, slots=True)
class LeaseEndsBefore:
    """The lease ends earlier than the one to be written."""

    lease_until: datetime

    def holds(self, job: Job) -> bool:
        """Whether the write would prolong it."""
        return job.lease_until is not None and job.lease_until < self.lease_until


@dataclass(frozen=True, slots=True)
class SeenLease:
    """The lease is still the one that was seen expired; a heartbeat in between wins."""

    token: RunToken
    lease_until: datetime

    def holds(self, job: Job) -> bool:
        """Whether the row still carries exactly that lease."""
        seen = job.run_token == self.token and job.lease_until == self.lease_until
        return job.state is JobState.RUNNING and seen


@dataclass(frozen=True, slots=True)
class SeenAt:
    """State, epoch and transition count are those that were read: nothing moved in between."""

    state: JobState
    epoch: int
    seq: int

    def holds(self, job: Job) -> bool:
        """Whether the row is still where it was read."""
        return job.state is self.state and job.epoch == self.epoch and job.seq == self.seq


@dataclass(frozen=True, slots=True)
class SeenJournals:
    """No intent was written that this write does not know of: an older one that comes late is refused."""

    journals: int

    def holds(self, job: Job) -> bool:
        """Whether as many intents were written as its writer knows of."""
        return job.journals == self.journals


@dataclass(frozen=True, slots=True)
class SeenDue:
    """``due`` and the run token are those that were read: no other sweeper and no run was faster."""

    due: datetime
    token: RunToken | None

    def holds(self, job: Job) -> bool:
        """Whether both are unchanged."""
        return job.due == self.due and job.run_token == self.token


@dataclass(frozen=True, slots=True)
class NoCancel:
    """Nobody has asked to stop this job."""

    def holds(self, job: Job) -> bool:
        """Whether no cancel is recorded."""
        return job.cancel_requested_at is None


@dataclass(frozen=True, slots=True)
class BeforeDeadline:
    """The job's own deadline lies ahead."""

    now: datetime

    def holds(self, job: Job) -> bool:
        """Whether there is time left."""
        return job.deadline_at > self.now


@dataclass(frozen=True, slots=True)
class NotExpired:
    """The row is not past its retention; an expired row counts as absent whether or not TTL has removed it."""

    now: datetime

    def holds(self, job: Job) -> bool:
        """Whether the row still counts."""
        return job.expires_at > self.now


@dataclass(frozen=True, slots=True)
class IsJoinable:
    """A flight that is under way, not in review, and has room."""

    most: int

    def holds(self, job: Job) -> bool:
        """Whether one more participant may join."""
        has_room = job.participants is not None and job.participants < self.most
        return has_room and job.state in UNDER_WAY and not job.is_in_review


@dataclass(frozen=True, slots=True)
class HasParticipants:
    """Somebody waits for this flight."""

    def holds(self, job: Job) -> bool:
        """Whether its work is wanted."""
        return job.participants is not None and job.participants > 0


@dataclass(frozen=True, slots=True)
class InFlight:
    """Nobody holds the job, and it waits for, or is in review with, exactly this flight."""

    flight: JobId

    def holds(self, job: Job) -> bool:
        """Whether the flight's result may be given to it."""
        is_waiting = job.state is JobState.WAITING and job.waiting_for is WaitingFor.FLIGHT
        return job.flight == self.flight and (is_waiting or job.state is JobState.NEEDS_REVIEW)


ALL_CONDITIONS: tuple[type, ...] = (
    IsJob,
    IsKnown,
    IsOrphaned,
    HasAttemptsLeft,
    IsStartable,
    IsResumable,
    IsLookable,
    HeldBy,
    LeaseEndsBefore,
    SeenLease,
    SeenAt,
    SeenJournals,
    SeenDue,
    NoCancel,
    BeforeDeadline,
    NotExpired,
    IsJoinable,
    HasParticipants,
    InFlight,
)
