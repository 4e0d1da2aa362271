"""One delivery with all that flights add to it: whose job is really to be run, and whom a flight's end concerns.

A worker cannot send to its own queue, so a flight has no first message of its own. The message of the participant
that started it serves: its delivery runs the flight behind the participant, hides for the flight's lease, and comes
back for a takeover if this process dies. Every later delivery of a participant finds the flight in the same way, and
the sweeper finds the flight's own row as it finds any job's.
"""

from __future__ import annotations

from dataclasses import replace
from functools import partial

from onceward.domain.claim import Claim
from onceward.domain.deliveries import Acknowledge, Disposition, PutBack, wait_for_all
from onceward.domain.flights import Boarding
from onceward.domain.job import Job
from onceward.domain.names import JobId
from onceward.domain.states import JobState, WaitingFor
from onceward.usecases.deps import Deps
from onceward.usecases.erase_job import Eraser, erase_if_deserted
from onceward.usecases.run_job import Delivery, RunReport, run_job
from onceward.usecases.serve_participants import Served, copy_result, is_new_review, send_on, take_along


async def run_delivery(deps: Deps, delivery: Delivery, *, may_take_over: bool) -> RunReport:
    """Run the delivery's job, then the flight behind it or the participants before it, if there are any."""
    report = await run_job(deps, delivery, may_take_over=may_take_over)
    flight_id = flight_to_run(report)
    if flight_id is not None:
        along = await _take_along(deps, delivery, report)
        behind = replace(delivery, job_id=flight_id, letter_epoch=None)
        flown = await run_delivery(deps, behind, may_take_over=may_take_over)
        # The message names the participant: what it waits for now is what the message waits for.
        own = [one for one in flown.others if one.job is not None and one.job.job_id == delivery.job_id]
        disposition = _message_of(deps, own[-1], flown.others) if own else flown.disposition
        others = (report, *along, *flown.others)
        return replace(flown, disposition=disposition, others=others, redrive=report.redrive)
    return await _serve(deps, delivery, report)


def flight_to_run(report: RunReport) -> JobId | None:
    """The flight that this delivery is to run: its participant has just started it, or waits for it since long.

    Whoever has just joined leaves it to the worker that runs it.
    """
    job = report.job
    if job is None or job.state is not JobState.WAITING or job.waiting_for is not WaitingFor.FLIGHT:
        return None
    return None if report.boarding is Boarding.JOINED else job.flight


async def _take_along(deps: Deps, delivery: Delivery, report: RunReport) -> tuple[RunReport, ...]:
    """Whoever starts the flight after one that failed brings those along who were in that one."""
    if report.boarding is not Boarding.STARTED or report.crashed is None:
        return ()
    run = partial(_run_participant, deps, delivery)
    return await take_along(deps, delivery.tenant_id, report.crashed, run)


def _message_of(deps: Deps, own: RunReport, others: tuple[RunReport, ...]) -> Disposition:
    """What becomes of the message of a participant whose flight has come to rest: it waits for the others too."""
    job = own.job
    if not isinstance(own.disposition, PutBack) or job is None or job.waiting_for is not WaitingFor.RETRY:
        return own.disposition
    waits = (one.job.wake_at for one in others if one.job is not None and one.job.waiting_for is WaitingFor.RETRY)
    return wait_for_all(job.wake_at or deps.clock.now(), waits, deps.clock.now(), deps.timing)


async def _serve(deps: Deps, delivery: Delivery, report: RunReport) -> RunReport:
    """Serve the participants of a flight that this very run has brought to rest."""
    flight = report.job
    if flight is None or not flight.is_flight or not isinstance(report.found, Claim) or report.stopped_by is not None:
        return report
    if flight.state is JobState.SUCCEEDED:
        served = await copy_result(deps, flight)
        return replace(report, served=served if served.jobs else await _for_nobody(deps, flight))
    was_in_review = report.work is not None and report.work.was_in_review
    if not flight.state.is_terminal and not is_new_review(flight, was_in_review=was_in_review):
        return report
    run = partial(_run_participant, deps, delivery)
    others = await send_on(deps, flight, run)
    report = replace(report, others=others)
    if not flight.state.is_terminal:
        return report
    return replace(report, served=Served() if others else await _for_nobody(deps, flight))


async def _for_nobody(deps: Deps, flight: Job) -> Served:
    """Nobody was there to be served, or something did not answer."""
    ports = Eraser(store=deps.store, blob=deps.blob, clock=deps.clock, ids=deps.ids)
    return Served(is_orphaned=await erase_if_deserted(ports, flight))


async def _run_participant(deps: Deps, delivery: Delivery, job_id: JobId) -> RunReport:
    """One participant by the flight's delivery; what a bug does to it is its own, and its row is due."""
    try:
        return await run_delivery(deps, replace(delivery, job_id=job_id, letter_epoch=None), may_take_over=False)
    except Exception as bug:  # noqa: BLE001  # one participant's row must not keep the others from their end
        return RunReport(disposition=Acknowledge(), bug=bug)


def all_jobs(report: RunReport) -> tuple[Job, ...]:
    """Every row that a delivery has brought to a new state, for whoever tells of it."""
    served = () if report.served is None else report.served.jobs
    own = () if report.job is None else (report.job,)
    return (*own, *served, *(job for other in report.others for job in all_jobs(other)))
