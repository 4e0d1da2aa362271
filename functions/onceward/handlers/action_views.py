"""How an agent's action is shown: from what was read to the wire's models, and when what goes on is over."""

from __future__ import annotations

import math
from datetime import datetime, timedelta

from pydantic import JsonValue

from onceward.domain.job import Job
from onceward.domain.states import JobState
from onceward.handlers.job_views import attempt_views, error_view, retry_after
from onceward.usecases.read_action import ActionReading, action_name
from onceward.wire.action_views import ActionAnswer, ActionView, ActionWordView, TargetResponse, TransportAttempt

SOON = timedelta(seconds=1)  # queued: a worker takes it within a second or two
MOST_SHOWN = 1_000  # transport attempts; an agent that asks in a loop must not make its operation too long to answer
LONGEST = timedelta(minutes=1)  # nobody is told to come back later than that: a person may have decided meanwhile


def ask_again(job: Job, now: datetime) -> int | None:
    """Whole seconds after which looking again may tell more; ``None``: it has ended."""
    seconds = retry_after(job, now)
    return None if seconds is None else min(seconds, int(LONGEST.total_seconds()))


def time_taken(job: Job, now: datetime) -> timedelta:
    """Whole seconds until whoever holds an operation that goes on lets go of it: the rest of its lease or its wait."""
    left = SOON
    if job.state is JobState.RUNNING and job.lease_until is not None:
        left = job.lease_until - now
    elif job.state is JobState.NEEDS_REVIEW:
        left = LONGEST
    elif job.wake_at is not None:
        left = job.wake_at - now
    return timedelta(seconds=math.ceil(min(max(left, SOON), LONGEST).total_seconds()))


def action_answer(job: Job, operation_id: str | None, result: JsonValue) -> ActionAnswer:
    """An operation as it stands."""
    return ActionAnswer.model_validate(_standing(job, operation_id, result))


def action_view(told: ActionReading) -> ActionView:
    """Everything a tenant may know of its operation."""
    seen = (
        TransportAttempt(
            at=one.at,
            came_to=one.came_to.value,
            by=one.by,
            attempt=one.attempt,
            run_id=one.run_id,
            tool_call_id=one.tool_call_id,
        )
        for one in told.seen[-MOST_SHOWN:]
    )
    words = (
        ActionWordView(word=one.word.value, epoch=one.epoch, by=one.by, at=one.at, why=one.why) for one in told.words
    )
    operation_id, arguments = (None, None) if told.asked is None else (told.asked.operation_id, told.asked.input)
    return ActionView.model_validate(
        {
            **_standing(told.reading.job, operation_id, told.reading.result),
            "arguments": arguments,
            "attempts": attempt_views(told.reading),
            "transport_attempts": tuple(seen),
            "transport_attempts_seen": len(told.seen),
            "words": tuple(words),
        }
    )


def _standing(job: Job, operation_id: str | None, result: JsonValue) -> dict[str, object]:
    """What all answers about an operation have in common."""
    return {
        "operation_id": operation_id,
        "action": action_name(job),
        "job_id": job.job_id,
        "status": job.state.value,
        "waiting_for": job.waiting_for.value if job.state is JobState.WAITING and job.waiting_for else None,
        "epoch": job.epoch,
        "fingerprint": job.fingerprint,
        "created_at": job.created_at,
        "deadline_at": job.deadline_at,
        "cancel_requested_at": job.cancel_requested_at,
        "finished_at": job.finished_at,
        "response": None if result is None else TargetResponse.model_validate(result),
        "error": error_view(job.error_code),
    }
