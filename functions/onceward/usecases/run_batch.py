"""One batch of deliveries, waited for together on one event loop: ten slow answers cost one wait.

Takeovers come after the other jobs have returned: the run that was lost may have been lost to what its code does to
a process, and must not take nine good jobs with it.
"""

from __future__ import annotations

import asyncio
from collections.abc import Sequence
from contextlib import suppress
from dataclasses import replace

from onceward.domain.deliveries import Disposition, PutBack, after_infrastructure_error, decide_delivery
from onceward.errors import InfrastructureError
from onceward.usecases.deps import Deps
from onceward.usecases.run_delivery import run_delivery
from onceward.usecases.run_job import Delivery, RunReport
from onceward.usecases.sharing import Sharing


async def run_batch(deps: Deps, deliveries: Sequence[Delivery]) -> list[RunReport]:
    """Run all deliveries and see to their messages' visibility; reports come in the order of the deliveries.

    A bug in one run is that delivery's alone: its message comes back later, and the report names the bug.
    """
    deps = replace(deps, shared=Sharing())
    try:
        return await _run_batch(deps, deliveries)
    finally:
        await deps.shared.aclose()


async def _run_batch(deps: Deps, deliveries: Sequence[Delivery]) -> list[RunReport]:
    """First what can be run at once, then the takeovers."""
    reports = await _run_all(deps, deliveries, may_take_over=False)
    late = [at for at, report in enumerate(reports) if report.is_takeover_due and _has_time(deps, deliveries[at])]
    taken = await _run_all(deps, [deliveries[at] for at in late], may_take_over=True)
    for at, report in zip(late, taken, strict=True):
        reports[at] = report
    return reports


async def _run_all(deps: Deps, deliveries: Sequence[Delivery], *, may_take_over: bool) -> list[RunReport]:
    """All at once; whatever one of them raises, the others end by themselves."""
    runs = (_run_one(deps, one, may_take_over=may_take_over) for one in deliveries)
    ended = await asyncio.gather(*runs, return_exceptions=True)
    return [_reported(deps, one, end) for one, end in zip(deliveries, ended, strict=True)]


async def _run_one(deps: Deps, delivery: Delivery, *, may_take_over: bool) -> RunReport:
    """One delivery; its message's wait counts from the end of its own run, not of the batch."""
    report = await run_delivery(deps, delivery, may_take_over=may_take_over)
    await put_back(deps, delivery.receipt, report.disposition)
    return report


def _reported(deps: Deps, delivery: Delivery, end: RunReport | BaseException) -> RunReport:
    """A run's report, also of one that ended by a bug."""
    match end:
        case RunReport():
            return end
        case BaseException():  # raised on, it would be nine other jobs' failure, and its text in Lambda's own log
            wish: Disposition = after_infrastructure_error(delivery.receive_count, deps.timing)
            if delivery.letter_epoch is None:  # a letter is not acknowledged undecided: its job may not be due
                wish = decide_delivery(wish, delivery.receive_count, deps.max_receive_count)
            return RunReport(disposition=wish, bug=end)


def _has_time(deps: Deps, delivery: Delivery) -> bool:
    """Whether this invocation could still finish the shortest attempt of a kind that we know."""
    shortest = min(kind.policy.call_timeout for kind in deps.registry)
    left = delivery.invocation_ends - deps.clock.monotonic()
    return left > (shortest + deps.timing.settle_budget).total_seconds()


async def put_back(deps: Deps, receipt: str, wish: Disposition) -> None:
    """Set when a returned message comes back; if that fails it comes back by its own visibility."""
    if isinstance(wish, PutBack):
        with suppress(InfrastructureError):
            await deps.queue.hide(receipt, wish.visibility)
