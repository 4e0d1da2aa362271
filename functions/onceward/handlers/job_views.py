"""How a job is shown to its tenant: from what was read to the wire's models, and how soon it is worth asking again."""

from __future__ import annotations

import math
from collections.abc import Iterable
from datetime import datetime, timedelta

from onceward.domain.approving import is_awaiting
from onceward.domain.history import AttemptLine, cost_of_job, history_of
from onceward.domain.job import Job
from onceward.domain.money import Cost
from onceward.domain.records import Usage
from onceward.domain.states import JobState
from onceward.errors.sentences import SENTENCES
from onceward.kinds.extract_document import REASONS
from onceward.usecases.read_job import Reading
from onceward.wire.responses import AttemptView, CancelView, CostView, JobAccepted, JobError, JobView, UsageView

ASK_SOON = timedelta(seconds=1)  # queued: a worker takes it within a second or two
ASK_RUNNING = timedelta(seconds=2)  # a model call takes seconds to minutes; the long poll is the cheaper way
ASK_REVIEW = timedelta(minutes=1)  # a person decides
ASK_LATEST = timedelta(hours=1)
_SENTENCES = {**SENTENCES, **REASONS}


def job_accepted(job: Job) -> JobAccepted:
    """Where a job stands now."""
    return JobAccepted.model_validate(_standing(job))


def job_view(reading: Reading) -> JobView:
    """Everything a tenant may know of its job."""
    job = reading.job
    return JobView.model_validate(
        {
            **_standing(job),
            "created_by": job.created_by,
            "epoch": job.epoch,
            "wake_at": job.wake_at,
            "expires_at": job.expires_at,
            "erased_at": job.erased_at,
            "attempts": attempt_views(reading),
            "provider_cost": cost_view(cost_of_job(job, reading.open_at_end, reading.answers)),
            "reserved_micro_usd": None if job.state.is_terminal else job.reserved_micro_usd,
            "charge_micro_usd": _charge(job),
            "result": reading.result,
            "shared": job.is_shared,
            "error": error_view(job.error_code),
            "cancel": _cancel(job),
        }
    )


def error_view(code: str | None) -> JobError | None:
    """Why a job failed, with the code's fixed sentence: whatever was raised may have said content."""
    return None if code is None else JobError(code=code, message=_SENTENCES.get(code))


def attempt_views(reading: Reading) -> tuple[AttemptView, ...]:
    """Every try, the oldest first."""
    lines = history_of(reading.job, reading.past, reading.answers)
    return tuple(AttemptView.model_validate(attempt_facts(line)) for line in lines)


def retry_after(job: Job, now: datetime) -> int | None:
    """Whole seconds after which asking again may tell more; ``None``: nothing more happens."""
    if job.state.is_terminal:
        return None
    wait = {JobState.RUNNING: ASK_RUNNING, JobState.NEEDS_REVIEW: ASK_REVIEW}.get(job.state, ASK_SOON)
    if is_awaiting(job):
        wait = ASK_REVIEW
    elif job.state is JobState.WAITING and job.wake_at is not None:
        wait = max(wait, job.wake_at - now)
    return math.ceil(min(wait, ASK_LATEST).total_seconds())


def _standing(job: Job) -> dict[str, object]:
    """What all answers about a job have in common."""
    return {
        "job_id": job.job_id,
        "kind": job.kind,
        "status": job.state.value,
        "waiting_for": job.waiting_for.value if job.state is JobState.WAITING and job.waiting_for else None,
        "created_at": job.created_at,
        "deadline_at": job.deadline_at,
        "cancel_requested_at": job.cancel_requested_at,
        "finished_at": job.finished_at,
    }


def _charge(job: Job) -> int | None:
    """What the user pays: the captured tariff, nothing for a job that ended without a result, unknown before."""
    if job.charge_micro_usd is not None:
        return job.charge_micro_usd
    return 0 if job.state.is_terminal else None


def _cancel(job: Job) -> CancelView | None:
    """The cancellation's facts, if one was asked for."""
    if job.cancel_requested_at is None:
        return None
    return CancelView(
        requested_at=job.cancel_requested_at, cancelled_at=job.cancelled_at, provider=job.provider_cancel.value
    )


def attempt_facts(line: AttemptLine) -> dict[str, object]:
    """One try, with the tokens of its own answers."""
    attempt = line.attempt
    return {
        "epoch": line.epoch,
        "number": line.number,
        "run": attempt.run,
        "started_at": attempt.started_at,
        "ended_at": attempt.ended_at,
        "outcome": None if attempt.outcome is None else attempt.outcome.value,
        "error_class": attempt.error_class,
        "error_code": attempt.error_code,
        "decision": line.decision,
        "provider_cost": cost_view(attempt.cost),
        "usage": _sum(call.usage for call in line.calls),
    }


def usage_view(usage: Usage) -> UsageView:
    """Tokens by kind."""
    return UsageView(
        input_tokens=usage.input,
        cached_tokens=usage.cached,
        cache_write_tokens=usage.cache_write,
        output_tokens=usage.output,
        reasoning_tokens=usage.reasoning,
    )


def _sum(usages: Iterable[Usage | None]) -> UsageView | None:
    """The tokens of some calls; ``None`` where no target counted any."""
    counted = [one for one in usages if one is not None]
    if not counted:
        return None
    return usage_view(
        Usage(
            input=sum(one.input for one in counted),
            cached=sum(one.cached for one in counted),
            cache_write=sum(one.cache_write for one in counted),
            output=sum(one.output for one in counted),
            reasoning=sum(one.reasoning for one in counted),
        )
    )


def cost_view(cost: Cost) -> CostView:
    """A cost, exact or by its bounds."""
    return CostView(
        exact_micro_usd=cost.low if cost.is_exact else None,
        low_micro_usd=cost.low,
        high_micro_usd=cost.high,
        unpriced=cost.unpriced,
    )
