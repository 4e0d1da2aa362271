"""What one delivery adds to the metrics: one pure function of its report.

A tenant is never among them: its name would be a dimension that anybody can multiply. A metric of 0 and 1 is a rate:
the average is the rate, sum and number of values are the two counts that give it. A run whose last write was not
answered counts nothing that it cannot know: the metrics may miss an end, they never invent one.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from enum import StrEnum

from onceward.domain.claim import Claim
from onceward.domain.job import Job
from onceward.domain.reopening import Redrive
from onceward.domain.states import JobState
from onceward.usecases.breakers import Told, Turn
from onceward.usecases.gauge_jobs import Gauge
from onceward.usecases.run_job import RunReport
from onceward.usecases.work_done import WorkDone


class Unit(StrEnum):
    """Units of CloudWatch, and one that it does not know."""

    COUNT = "Count"
    SECONDS = "Seconds"
    MICRO_USD = "None"


@dataclass(frozen=True, slots=True)
class Metric:
    """One value of one metric; ``model``: it is counted for that model apart, and with all others too."""

    name: str
    unit: Unit
    value: float
    model: str | None = None


ENDS = {
    JobState.SUCCEEDED: "jobs_accepted",
    JobState.FAILED: "jobs_failed",
    JobState.CANCELLED: "jobs_cancelled",
}


TURNS = {
    Turn.OPENED: "breaker_opened",
    Turn.PROBED: "breaker_probes",
    Turn.CLOSED: "breaker_closed",
    Turn.STOPPED: "breaker_stopped_sends",
}


def created_metrics(seconds: float) -> tuple[Metric, ...]:
    """A job that was stored, by a request that was no replay, and how long that took."""
    return (Metric("jobs_created", Unit.COUNT, 1), Metric("create_time", Unit.SECONDS, seconds))


def gauge_metrics(gauge: Gauge) -> tuple[Metric, ...]:
    """How much is open; nothing at all where nothing is, so that a stage at rest writes, and pays for, no metric."""
    found = []
    if gauge.open:
        found.append(Metric("jobs_open", Unit.COUNT, gauge.open))
    if gauge.in_review:
        found.append(Metric("jobs_in_review", Unit.COUNT, gauge.in_review))
        found.append(Metric("review_age", Unit.SECONDS, gauge.oldest_review.total_seconds()))
    return tuple(found)


def breaker_metrics(told: Iterable[Told]) -> tuple[Metric, ...]:
    """What circuit breakers did; which of them did it stands in the log."""
    return tuple(Metric(TURNS[one.turn], Unit.COUNT, 1) for one in told)


def metrics_of(report: RunReport) -> tuple[Metric, ...]:
    """All of a delivery's values; none for one that found nothing to do."""
    found: list[Metric] = []
    if report.redrive is Redrive.REOPENED:
        found.append(Metric("jobs_reopened", Unit.COUNT, 1))
    if report.work is not None and report.job is not None:
        found += _of_run(report, report.work, report.job)
    return tuple(found)


def _of_run(report: RunReport, work: WorkDone, job: Job) -> Iterator[Metric]:
    """What a run did, and how it left its job."""
    yield Metric("run_time", Unit.SECONDS, work.seconds)
    if work.queue_wait is not None:
        yield Metric("queue_wait", Unit.SECONDS, work.queue_wait.total_seconds())
    if report.found is Claim.TAKEOVER:
        yield Metric("lease_expired_count", Unit.COUNT, 1)
    if work.sent:
        yield Metric("provider_attempts", Unit.COUNT, work.sent)
    yield from _of_spending(work)
    if work.unknown:
        yield Metric("provider_unknown_outcomes", Unit.COUNT, work.unknown)
    if not job.is_flight:  # hidden: its participants are the jobs
        yield from _of_job(work, job)


def _of_job(work: WorkDone, job: Job) -> Iterator[Metric]:
    """How a run left the job that somebody asked for."""
    for number in range(work.attempts_before + 1, job.attempts + 1):
        yield Metric("job_retry_rate", Unit.COUNT, int(number > 1))
    if job.state in ENDS:
        yield Metric(ENDS[job.state], Unit.COUNT, 1)
        yield Metric("attempts_per_job", Unit.COUNT, job.attempts)
    if job.state is JobState.NEEDS_REVIEW and not work.was_in_review:
        yield Metric("jobs_parked", Unit.COUNT, 1)
    if job.state is JobState.SUCCEEDED:
        yield from _of_accepted(job)


def _of_spending(work: WorkDone) -> Iterator[Metric]:
    """What a run spent, or may have, at the model that it asks; a cost without a price has a bound, and is counted."""
    if work.spent.high:
        yield Metric("provider_spend_low", Unit.MICRO_USD, work.spent.low, work.model)
        yield Metric("provider_spend_high", Unit.MICRO_USD, work.spent.high, work.model)
    if work.spent.unpriced:
        yield Metric("provider_unpriced", Unit.COUNT, 1, work.model)


def _of_accepted(job: Job) -> Iterator[Metric]:
    """What an accepted job cost at providers, by its bounds, and whether the first attempt was enough."""
    is_first = (job.epoch, job.attempts) == (1, 1)
    yield Metric("accepted_on_first_attempt", Unit.COUNT, int(is_first))
    yield Metric("cost_per_accepted_job_low", Unit.MICRO_USD, job.spent.low)
    yield Metric("cost_per_accepted_job_high", Unit.MICRO_USD, job.spent.high)
    yield Metric("cost_per_accepted_job_bound", Unit.MICRO_USD, job.spent.high - job.spent.low)
    yield Metric("accepted_unpriced", Unit.COUNT, int(job.spent.unpriced))
