"""What flights add to the metrics: how many began, were joined or refused, what waiting cost and what sharing saved.

Saved is what the books say: everyone whom one flight has served, but one, would have made its calls and paid its cost
again. The cost itself is told once for a flight, on the first job that it served, so that sums stay true.
"""

from __future__ import annotations

from collections.abc import Iterator

from onceward.domain.flights import Boarding
from onceward.usecases.measuring import Metric, Unit, metrics_of
from onceward.usecases.run_job import RunReport
from onceward.usecases.serve_participants import Served

BOARDINGS = {
    Boarding.STARTED: "flights_started",
    Boarding.JOINED: "flights_joined",
    Boarding.BUSY: "flights_busy",
}


def all_metrics(report: RunReport) -> tuple[Metric, ...]:
    """The values of a delivery, with those of the participants and flights that it ran besides."""
    others = (metric for other in report.others for metric in all_metrics(other))
    return (*metrics_of(report), *flight_metrics(report), *others)


def flight_metrics(report: RunReport) -> Iterator[Metric]:
    """What flights add to one report; those of the others that it ran are theirs."""
    if report.boarding is not None:
        yield Metric(BOARDINGS[report.boarding], Unit.COUNT, 1)
    if report.served is not None:
        yield Metric("flights_orphaned", Unit.COUNT, int(report.served.is_orphaned))
        yield from _of_served(report.served)


def _of_served(served: Served) -> Iterator[Metric]:
    """Whom a flight has served: jobs that have ended like any other, after a wait, and what that saved."""
    for job, wait in zip(served.jobs, served.waits, strict=True):
        yield Metric("jobs_accepted", Unit.COUNT, 1)
        yield Metric("attempts_per_job", Unit.COUNT, job.attempts)
        yield Metric("accepted_on_first_attempt", Unit.COUNT, int((job.epoch, job.attempts) == (1, 1)))
        yield Metric("flight_wait", Unit.SECONDS, wait.total_seconds())
    if not served.jobs:
        return
    yield Metric("flight_calls_saved", Unit.COUNT, served.calls_saved)
    yield Metric("flight_cost_saved_low", Unit.MICRO_USD, served.cost_saved.low)
    yield Metric("flight_cost_saved_high", Unit.MICRO_USD, served.cost_saved.high)
    for first, _ in enumerate(served.jobs):
        yield Metric("cost_per_accepted_job_low", Unit.MICRO_USD, 0 if first else served.cost.low)
        yield Metric("cost_per_accepted_job_high", Unit.MICRO_USD, 0 if first else served.cost.high)
    yield Metric("accepted_unpriced", Unit.COUNT, int(served.cost.unpriced))
