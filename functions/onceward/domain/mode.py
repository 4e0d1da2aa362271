"""What a run may do after recovery: go on in its attempt, start the next one, or only close.

A closing run may run the kind's code over recorded answers, look up, cancel at the provider, park and settle, but it
never sends. A bare closing run does not even run the kind's code: that code was lost three times.
"""

from __future__ import annotations

from datetime import datetime
from enum import StrEnum

from onceward.domain.claim import Claim, may_start
from onceward.domain.job import Job
from onceward.domain.policy import KindPolicy
from onceward.domain.states import CallState, WaitingFor
from onceward.domain.timing import MAX_LOST


class Mode(StrEnum):
    """How the kind's code is run."""

    PRESENT = "present"
    NEXT = "next"
    CLOSING = "closing"
    BARE = "bare"


def decide_mode(
    job: Job, claim: Claim, policy: KindPolicy, now: datetime, *, is_forbidden: bool, is_news: bool = False
) -> Mode:
    """The mode of this run.

    ``is_forbidden``: recovery left a maybe that policy forbids to repeat. ``is_news``: it found something out;
    without news a look runs none of the kind's code, which came no further before and may have killed its process.
    """
    if job.lost >= MAX_LOST or (job.is_in_review and not is_news):
        return Mode.BARE
    is_over = job.deadline_at <= now or job.cancel_requested_at is not None
    if is_forbidden or is_over or job.is_in_review:
        return Mode.CLOSING
    goes_on = claim is Claim.RESUME and job.waiting_for in (WaitingFor.PROVIDER, WaitingFor.FLIGHT)
    if claim is Claim.START or (goes_on and not _is_torn(job)):
        return Mode.PRESENT
    return Mode.NEXT if may_start(job, (policy.limit,), now) else Mode.CLOSING


def may_wait_on(job: Job, claim: Claim, now: datetime, *, is_forbidden: bool, is_news: bool) -> bool:
    """Whether a run that found a provider still at work lets go again, without an attempt and without the kind's code.

    A start has counted its attempt for a reason of its own; what is over, in review or forbidden closes.
    """
    is_over = job.deadline_at <= now or job.cancel_requested_at is not None
    is_blocked = is_news or is_forbidden or is_over or job.is_in_review
    return claim in (Claim.RESUME, Claim.TAKEOVER) and not is_blocked


def _is_torn(job: Job) -> bool:
    """Whether a call of the present attempt may be sent again: an attempt sends a step once, so the next one does."""
    return any(call.state is not CallState.SUBMITTED for call in job.own_open)
