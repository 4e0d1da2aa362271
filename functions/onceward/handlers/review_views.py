"""How a job's history, its review and the records of verdicts are shown."""

from __future__ import annotations

from onceward.domain.history import AttemptLine, CallLine, unanswered
from onceward.domain.leaving import is_participant
from onceward.domain.records import ReviewRecord, Standing
from onceward.domain.resolving import review_since
from onceward.domain.states import JobState
from onceward.handlers.job_views import attempt_facts, cost_view, usage_view
from onceward.usecases.read_history import History
from onceward.usecases.read_review import ReviewReading
from onceward.wire.history import AttemptRecord, CallView, JobHistory
from onceward.wire.reviews import ReviewRecordView, ReviewView, StandingView


def history_view(history: History) -> JobHistory:
    """Every attempt of every epoch."""
    job = history.job
    return JobHistory(
        job_id=job.job_id,
        kind=job.kind,
        status=job.state.value,
        epoch=job.epoch,
        provider_cost=cost_view(history.cost),
        attempts=tuple(map(_attempt, history.attempts)),
    )


def review_view(reading: ReviewReading) -> ReviewView:
    """What there is to decide, and what was decided."""
    job = reading.job
    return ReviewView(
        job_id=job.job_id,
        kind=job.kind,
        operation_id=reading.operation_id,
        status=job.state.value,
        epoch=job.epoch,
        is_open=job.state is JobState.NEEDS_REVIEW and not is_participant(job),
        since=review_since(job),
        until=job.review_until,
        next_look_at=job.wake_at if job.state is JobState.NEEDS_REVIEW else None,
        cancel_requested_at=job.cancel_requested_at,
        open_calls=tuple(call_view(unanswered(call)) for call in job.open),
        provider_cost=cost_view(job.possible_spent),
        reserved_micro_usd=None if job.state.is_terminal else job.reserved_micro_usd,
        flight=job.flight if job.is_in_review and is_participant(job) else None,
        participants=job.participants,
        records=tuple(map(record_view, reading.records)),
    )


def record_view(record: ReviewRecord) -> ReviewRecordView:
    """One verdict."""
    return ReviewRecordView(
        epoch=record.epoch,
        verdict=record.resolution.value,
        by=record.by,
        at=record.at,
        why=record.why,
        result_sha256=record.digest,
        before=_standing(record.before),
        after=_standing(record.after),
    )


def call_view(call: CallLine) -> CallView:
    """One call."""
    return CallView(
        step=call.step,
        state=call.state.value,
        sent_at=call.sent_at,
        answered_at=call.answered_at,
        provider=call.provider,
        model=call.model,
        provider_request_id=call.request_id,
        downstream_key=call.key,
        usage=None if call.usage is None else usage_view(call.usage),
        provider_cost=cost_view(call.cost),
        error_class=call.error_class,
        error_code=call.error_code,
    )


def _attempt(line: AttemptLine) -> AttemptRecord:
    """One try with its calls."""
    calls = tuple(map(call_view, line.calls))
    return AttemptRecord.model_validate({**attempt_facts(line), "stage": line.stage.value, "calls": calls})


def _standing(at: Standing) -> StandingView:
    """Where a job stood."""
    return StandingView(
        status=at.state.value,
        epoch=at.epoch,
        attempts=at.attempts,
        provider_cost=cost_view(at.spent),
        reserved_micro_usd=at.reserved_micro_usd,
        charge_micro_usd=at.charge_micro_usd,
        error_code=at.error_code,
        open_steps=tuple(call.step for call in at.open),
    )
