"""Every condition of a write, both ways: a row of which it is true, and rows of which it is not."""

from __future__ import annotations

from dataclasses import dataclass
from datetime import timedelta
from typing import Any

from onceward.domain.conditions import (
    BeforeDeadline,
    Condition,
    HasAttemptsLeft,
    HeldBy,
    IsJob,
    IsKnown,
    IsLookable,
    IsOrphaned,
    IsResumable,
    IsStartable,
    KindLimit,
    LeaseEndsBefore,
    NoCancel,
    NotExpired,
    SeenAt,
    SeenDue,
    SeenJournals,
    SeenLease,
)
from onceward.domain.job import Job
from onceward.domain.states import JobState, ProviderCancel, WaitingFor
from tests.contract.job_store.flight_cases import TOLD
from tests.contract.job_store.stories import LIMITS
from tests.support.builders import JOB_ID, NOW, OTHER_TOKEN, TOKEN, a_job, a_running_job

MOMENT = timedelta(milliseconds=1)
LEASE = NOW + timedelta(seconds=60)
SECOND_KIND = (*LIMITS, KindLimit("document.analyze", 2, 1))


@dataclass(frozen=True, slots=True)
class Case:
    """A condition, a row, whether it is true of it, and in which words."""

    name: str
    condition: Condition
    job: Job
    holds: bool


# A start leaves what the job waited for on the row, for a run that gives its claim back.
RETRIED: dict[str, Any] = {"waiting_for": WaitingFor.RETRY, "wake_at": NOW}


def _waiting(reason: WaitingFor | None, wake_at: Any = NOW, **fields: Any) -> Job:
    return a_job(state=JobState.WAITING, waiting_for=reason, wake_at=wake_at, **fields)


def _review(wake_at: Any = None, **fields: Any) -> Job:
    return a_job(state=JobState.NEEDS_REVIEW, wake_at=wake_at, **fields)


CASES = (
    Case("same job", IsJob(JOB_ID), a_job(), holds=True),
    Case("another life", IsJob(JOB_ID[:-1] + "Z"), a_job(), holds=False),
    Case("known kind", IsKnown(LIMITS, 1), a_job(), holds=True),
    Case("one of two kinds", IsKnown(SECOND_KIND, 1), a_job(kind="document.analyze", kind_version=2), holds=True),
    Case("older version", IsKnown(SECOND_KIND, 1), a_job(kind="document.analyze", kind_version=1), holds=True),
    Case("newer version", IsKnown(LIMITS, 1), a_job(kind_version=2), holds=False),
    Case("another kind's version", IsKnown(SECOND_KIND, 1), a_job(kind_version=2), holds=False),
    Case("unknown kind", IsKnown(LIMITS, 1), a_job(kind="image.draw"), holds=False),
    Case("no kinds at all", IsKnown((), 1), a_job(), holds=False),
    Case("deadline was long ago", IsOrphaned(1, NOW), a_job(deadline_at=NOW), holds=True),
    Case("deadline was not long ago", IsOrphaned(1, NOW), a_job(deadline_at=NOW + MOMENT), holds=False),
    Case("cancelled long ago", IsOrphaned(1, NOW), a_job(cancel_requested_at=NOW), holds=True),
    Case("cancelled just now", IsOrphaned(1, NOW), a_job(cancel_requested_at=NOW + MOMENT), holds=False),
    Case("review over long ago", IsOrphaned(1, NOW), _review(review_until=NOW), holds=True),
    Case("review not over", IsOrphaned(1, NOW), _review(review_until=NOW + MOMENT), holds=False),
    Case("orphan of a newer schema", IsOrphaned(1, NOW), a_job(deadline_at=NOW, schema_version=2), holds=False),
    Case("older schema", IsKnown(LIMITS, 2), a_job(), holds=True),
    Case("newer schema", IsKnown(LIMITS, 1), a_job(schema_version=2), holds=False),
    Case("last attempt is left", HasAttemptsLeft(LIMITS), a_job(attempts=2), holds=True),
    Case("no attempt is left", HasAttemptsLeft(LIMITS), a_job(attempts=3), holds=False),
    Case(
        "fewer for the other kind",
        HasAttemptsLeft(SECOND_KIND),
        a_job(kind="document.analyze", attempts=1),
        holds=False,
    ),
    Case("attempts of no kind", HasAttemptsLeft(()), a_job(), holds=False),
    Case("queued", IsStartable(NOW), a_job(), holds=True),
    Case("retry is awake", IsStartable(NOW), _waiting(WaitingFor.RETRY), holds=True),
    Case("retry sleeps", IsStartable(NOW), _waiting(WaitingFor.RETRY, NOW + MOMENT), holds=False),
    Case("retry without a time", IsStartable(NOW), _waiting(WaitingFor.RETRY, None), holds=False),
    Case("waits for its provider", IsStartable(NOW), _waiting(WaitingFor.PROVIDER), holds=False),
    Case("waits for nothing", IsStartable(NOW), _waiting(None), holds=False),
    Case("runs already", IsStartable(NOW), a_running_job(), holds=False),
    Case("runs the retry it waited for", IsStartable(NOW), a_running_job(**RETRIED), holds=False),
    Case("wait without a time", IsResumable(NOW), _waiting(WaitingFor.LOOKUP, None), holds=False),
    Case("lookup is awake", IsResumable(NOW), _waiting(WaitingFor.LOOKUP), holds=True),
    Case("unnamed wait is awake", IsResumable(NOW), _waiting(None), holds=True),
    Case("lookup sleeps", IsResumable(NOW), _waiting(WaitingFor.LOOKUP, NOW + MOMENT), holds=False),
    Case(
        "lookup sleeps, cancelled",
        IsResumable(NOW),
        _waiting(WaitingFor.LOOKUP, NOW + MOMENT, cancel_requested_at=NOW),
        holds=True,
    ),
    Case("retry is no resume", IsResumable(NOW), _waiting(WaitingFor.RETRY), holds=False),
    Case("queued is no resume", IsResumable(NOW), a_job(wake_at=NOW), holds=False),
    Case("look is due", IsLookable(NOW), _review(NOW), holds=True),
    Case("look is not due", IsLookable(NOW), _review(NOW + MOMENT), holds=False),
    Case("review without a look", IsLookable(NOW), _review(), holds=False),
    Case("review, cancel unheard", IsLookable(NOW), _review(cancel_requested_at=NOW), holds=True),
    Case(
        "review, cancel passed on",
        IsLookable(NOW),
        _review(cancel_requested_at=NOW, provider_cancel=ProviderCancel.REQUESTED),
        holds=False,
    ),
    Case("waiting is no review", IsLookable(NOW), _waiting(WaitingFor.LOOKUP), holds=False),
    Case("own token", HeldBy(TOKEN), a_running_job(), holds=True),
    Case("other token", HeldBy(OTHER_TOKEN), a_running_job(), holds=False),
    Case("own token, runs no more", HeldBy(TOKEN), a_running_job(state=JobState.WAITING), holds=False),
    Case("no token", HeldBy(TOKEN), a_job(), holds=False),
    Case("shorter lease", LeaseEndsBefore(LEASE), a_running_job(lease_until=LEASE - MOMENT), holds=True),
    Case("as long a lease", LeaseEndsBefore(LEASE), a_running_job(lease_until=LEASE), holds=False),
    Case("longer lease", LeaseEndsBefore(LEASE), a_running_job(lease_until=LEASE + MOMENT), holds=False),
    Case("no lease to prolong", LeaseEndsBefore(LEASE), a_job(), holds=False),
    Case("same lease", SeenLease(TOKEN, LEASE), a_running_job(lease_until=LEASE), holds=True),
    Case("prolonged lease", SeenLease(TOKEN, LEASE), a_running_job(lease_until=LEASE + MOMENT), holds=False),
    Case("lease of another", SeenLease(OTHER_TOKEN, LEASE), a_running_job(lease_until=LEASE), holds=False),
    Case("lease let go", SeenLease(TOKEN, LEASE), a_running_job(lease_until=None), holds=False),
    Case(
        "lease of a run that ended",
        SeenLease(TOKEN, LEASE),
        a_running_job(state=JobState.FAILED, lease_until=LEASE),
        holds=False,
    ),
    Case("nothing moved", SeenAt(JobState.RUNNING, 1, 2), a_running_job(), holds=True),
    Case("moved on", SeenAt(JobState.RUNNING, 1, 1), a_running_job(), holds=False),
    Case("new epoch", SeenAt(JobState.RUNNING, 1, 2), a_running_job(epoch=2), holds=False),
    Case("no journal yet", SeenJournals(0), a_running_job(), holds=True),
    Case("no newer journal", SeenJournals(2), a_running_job(journals=2), holds=True),
    Case("a newer journal", SeenJournals(1), a_running_job(journals=2), holds=False),
    Case("a first journal", SeenJournals(0), a_running_job(journals=1), holds=False),
    Case("other state", SeenAt(JobState.QUEUED, 1, 2), a_running_job(), holds=False),
    Case("same due, no run", SeenDue(NOW, None), a_job(due=NOW), holds=True),
    Case("same due, same run", SeenDue(NOW, TOKEN), a_running_job(due=NOW), holds=True),
    Case("same due, a run came", SeenDue(NOW, None), a_running_job(due=NOW), holds=False),
    Case("same due, another run", SeenDue(NOW, OTHER_TOKEN), a_running_job(due=NOW), holds=False),
    Case("moved due", SeenDue(NOW, None), a_job(due=NOW + MOMENT), holds=False),
    Case("removed due", SeenDue(NOW, None), a_job(due=None), holds=False),
    Case("no cancel", NoCancel(), a_job(), holds=True),
    Case("cancel", NoCancel(), a_job(cancel_requested_at=NOW), holds=False),
    Case("time left", BeforeDeadline(NOW), a_job(deadline_at=NOW + MOMENT), holds=True),
    Case("at the deadline", BeforeDeadline(NOW), a_job(deadline_at=NOW), holds=False),
    Case("kept", NotExpired(NOW), a_job(expires_at=NOW + timedelta(seconds=1)), holds=True),
    Case("kept a moment longer", NotExpired(NOW - MOMENT), a_job(expires_at=NOW), holds=True),
    Case("at its expiry", NotExpired(NOW), a_job(expires_at=NOW), holds=False),
    Case("in the second of its expiry", NotExpired(NOW + MOMENT), a_job(expires_at=NOW), holds=False),
    *(Case(name, condition, job, holds=holds) for name, condition, job, holds in TOLD),
)
