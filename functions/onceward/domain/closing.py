"""How a job ends when nothing more may be sent for it: the closing run's one rule."""

from __future__ import annotations

from datetime import datetime, timedelta
from enum import StrEnum

from onceward.domain.job import Job
from onceward.domain.policy import KindPolicy

LOOKUP_PATIENCE = timedelta(hours=1)  # beyond the deadline: above every hard timeout, window and lag together


class Close(StrEnum):
    """Where a closing run leaves its job."""

    CANCELLED = "cancelled"
    REVIEW = "review"
    REVIEW_EXPIRED = "review_expired"
    DEADLINE = "deadline_exceeded"
    FAILED = "failed"
    EXHAUSTED = "attempts_exhausted"  # the one end that a redrive opens again


def may_look_again(job: Job, at: datetime, now: datetime) -> bool:
    """Whether a job may wait for one more lookup: not past a cancel, a review's limit, or all patience.

    A lookup that is merely early becomes conclusive soon after the deadline; a target that nobody can reach does not.
    """
    if job.cancel_requested_at is not None:
        return False
    if job.review_until is not None:
        return now < job.review_until
    return at <= job.deadline_at + LOOKUP_PATIENCE


def may_close_unrun(job: Job, now: datetime) -> bool:
    """Whether a closing run ends its job although infrastructure keeps the kind's code from running.

    What is out of order for this one job (a document whose key is gone) may never mend: a cancel, a review's limit and
    the deadline must end it all the same.
    """
    if job.cancel_requested_at is not None:
        return True
    if job.review_until is not None:
        return now >= job.review_until
    return now >= job.deadline_at + LOOKUP_PATIENCE


def decide_close(
    job: Job, policy: KindPolicy, now: datetime, *, has_failed: bool, has_unread_answer: bool, is_news: bool = True
) -> Close:
    """The end of a job whose kind's code could not finish over recorded answers.

    ``has_failed``: that code gave up for good by itself. ``has_unread_answer``: a paid answer is recorded, and the
    code that would read it may not run again; a person decides what it is worth. A maybe is never closed as a
    failure, except by a cancel where nothing outside can have changed, or at the review's limit. Neither is work that
    a provider still does, while there is time: a redrive would buy it again. ``is_news``: this run found something out;
    a review that it found as it was stays one, also if no call of ours is the reason: its kind's code said so.
    """
    is_as_it_was = job.is_in_review and not is_news
    if job.review_until is not None and now >= job.review_until:
        return Close.CANCELLED if job.cancel_requested_at is not None else Close.REVIEW_EXPIRED
    if job.cancel_requested_at is not None:
        is_open = job.has_maybe or is_as_it_was
        return Close.REVIEW if is_open and policy.has_outside_effect else Close.CANCELLED
    if job.has_maybe or has_unread_answer or is_as_it_was:
        return Close.REVIEW
    if has_failed:
        return Close.FAILED
    if job.has_submitted and (job.is_in_review or job.deadline_at > now):
        return Close.REVIEW
    return Close.DEADLINE if job.deadline_at <= now else Close.EXHAUSTED
