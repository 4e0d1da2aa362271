"""Serve a flight's participants once it has come to rest: copy its result, or send each its own way.

A result is copied in one transaction per participant, on the condition that it still waits for this very flight and
nobody has cancelled it; whoever left meanwhile refuses. Whatever else a flight came to is each participant's own
decision, so each is woken and run here, as by a message of its own. What this process does not get done is done by
the participants' own checks: nothing is lost by dying anywhere in between.
"""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable, Iterable
from dataclasses import dataclass, field
from datetime import timedelta

from onceward.domain.conditions import InFlight
from onceward.domain.flights import copy_ops, saved, wake_change
from onceward.domain.job import Job
from onceward.domain.money import Cost
from onceward.domain.names import JobId, TenantId, identity_of
from onceward.domain.records import PARTICIPANTS, Participant
from onceward.domain.states import JobState, WaitingFor
from onceward.domain.transaction import Refused
from onceward.errors import InfrastructureError
from onceward.usecases.at_once import at_once
from onceward.usecases.deps import Deps
from onceward.usecases.shared_result import own_copy, shared_charge, shared_text, take_copy_back

AT_ONCE = 8  # transactions of one process at a time; a hundred participants take a quarter of a second so

type Run[Report] = Callable[[JobId], Awaitable[Report]]


@dataclass(frozen=True, slots=True, kw_only=True)
class Served:
    """What one worker did for the participants of a flight: who got the result after which wait, and what it saved.

    ``is_orphaned``: all had left before its end.
    """

    is_orphaned: bool = False
    jobs: tuple[Job, ...] = ()
    waits: tuple[timedelta, ...] = ()
    calls_saved: int = 0
    cost_saved: Cost = field(default_factory=Cost.nothing)
    cost: Cost = field(default_factory=Cost.nothing)


async def copy_result(deps: Deps, flight: Job) -> Served:
    """Copy an accepted result to all who wait for it; what does not answer is left to their own checks."""
    try:
        members = await _members(deps, flight.tenant_id, flight.job_id)
        text = await shared_text(deps, flight)
        charge = await shared_charge(deps, flight, text)
    except InfrastructureError:
        return Served()
    copied = await _each(members, lambda member: _copy(deps, flight, member, text, charge))
    pairs = [(job, member) for job, member in zip(copied, members, strict=True) if job is not None]
    calls, cost = saved(flight, len(pairs))
    return Served(
        jobs=tuple(job for job, _ in pairs),
        waits=tuple((job.finished_at or member.joined_at) - member.joined_at for job, member in pairs),
        calls_saved=calls,
        cost_saved=cost,
        cost=flight.spent,
    )


async def send_on[Report](deps: Deps, flight: Job, run: Run[Report]) -> tuple[Report, ...]:
    """Wake everyone who waits for a flight that brought no result, and ``run`` each."""
    try:
        members = await _members(deps, flight.tenant_id, flight.job_id)
    except InfrastructureError:
        return ()
    reports = await _each(members, lambda member: _wake(deps, flight, member, run))
    return tuple(report for report in reports if report is not None)


async def take_along[Report](deps: Deps, tenant_id: TenantId, crashed: JobId, run: Run[Report]) -> tuple[Report, ...]:
    """Run all who were in a flight that failed and may try again by now: they join the one that has just begun.

    Nobody else wakes them but the sweeper: of their messages, only that of who started the failed flight is left.
    """
    try:
        members = await _members(deps, tenant_id, crashed)
    except InfrastructureError:
        return ()
    reports = await _each(members, lambda member: _again(deps, member, run))
    return tuple(report for report in reports if report is not None)


async def _members(deps: Deps, tenant_id: TenantId, flight_id: JobId) -> tuple[Participant, ...]:
    """Everyone who ever joined; a join is refused once the flight is at rest, so nobody comes after this read."""
    items = await deps.store.list_cold(tenant_id, flight_id, PARTICIPANTS)
    return tuple(item for item in items if isinstance(item, Participant))


async def _copy(deps: Deps, flight: Job, member: Participant, text: str, charge: int) -> Job | None:
    """One participant's copy; ``None``: it does not wait any more, or something did not answer."""
    try:
        seen = await deps.store.get_job(member.tenant_id, identity_of(member.participant))
        if seen is None or not InFlight(flight.job_id).holds(seen) or seen.cancel_requested_at is not None:
            return None
        result = await own_copy(deps, seen, text)
        change, ops = copy_ops(seen, flight.job_id, result, charge, deps.clock.now())
        reply = await deps.store.transact(ops, deps.ids.token())
        if isinstance(reply, Refused):
            await take_copy_back(deps, result, reply.row)
            return None
    except InfrastructureError:
        return None
    return change.apply(seen)


async def _wake[Report](deps: Deps, flight: Job, member: Participant, run: Run[Report]) -> Report | None:
    """One participant's own run; ``None``: it does not wait any more, or it will be woken by the sweeper."""
    change = wake_change(flight.job_id, deps.clock.now(), deps.timing)
    try:
        if isinstance(await deps.store.update_job(member.tenant_id, member.participant, change), Refused):
            return None
    except InfrastructureError:
        return None
    return await run(member.participant)


async def _again[Report](deps: Deps, member: Participant, run: Run[Report]) -> Report | None:
    """One participant's next attempt; ``None``: it does not wait for one, or not yet, or something did not answer."""
    try:
        row = await deps.store.get_job(member.tenant_id, identity_of(member.participant))
    except InfrastructureError:
        return None
    if row is None or row.job_id != member.participant or row.waiting_for is not WaitingFor.RETRY:
        return None
    is_awake = row.wake_at is not None and row.wake_at <= deps.clock.now()
    return await run(member.participant) if is_awake else None


async def _each[Reply](
    members: Iterable[Participant], act: Callable[[Participant], Awaitable[Reply]]
) -> tuple[Reply, ...]:
    """Act for all, a few at a time, in their order."""
    slots = asyncio.Semaphore(AT_ONCE)

    async def one(member: Participant) -> Reply:
        async with slots:
            return await act(member)

    return await at_once(*(one(member) for member in members))


def is_new_review(flight: Job, *, was_in_review: bool) -> bool:
    """Whether a flight has gone to review just now; at a later look its participants are there already."""
    return flight.state is JobState.NEEDS_REVIEW and not was_in_review
