"""The heartbeat: prolong the lease and the message's visibility, and hear of a cancel, beside a busy event loop."""

from __future__ import annotations

from onceward.domain.conditions import HeldBy
from onceward.domain.deliveries import lease_visibility
from onceward.domain.ending import beat_change
from onceward.domain.flights import is_wanted
from onceward.domain.job import Job
from onceward.domain.transaction import Refused
from onceward.errors import InfrastructureError
from onceward.usecases.deps import Deps
from onceward.usecases.held_job import HeldJob
from onceward.usecases.ports import Stopper


async def keep_lease(deps: Deps, held: HeldJob, receipt: str, ends: float, stopper: Stopper) -> None:
    """Beat until stopped, until ``ends`` on the monotonic clock, or until the lease is lost.

    A beat that fails is not repeated at once: the next one is due within the lease, and before every paid call the
    guard looks at what is left of it.
    """
    while not await stopper.wait(deps.timing.heartbeat) and deps.clock.monotonic() < ends:
        until = held.lease.begin(deps.timing.lease)
        try:
            reply = await deps.store.update_job(held.tenant_id, held.job_id, beat_change(held.token, until))
        except InfrastructureError:
            held.lease.end(is_applied=False)
            continue
        held.lease.end(is_applied=not isinstance(reply, Refused))
        row = reply.row if isinstance(reply, Refused) else reply.before
        # Refused on a row that is still ours: a journal, or our own repeat, has prolonged the lease as far already.
        if isinstance(reply, Refused) and (row is None or not HeldBy(held.token).holds(row)):
            held.lease.lose()
            return
        if row is not None and row.cancel_requested_at is not None:
            held.lease.hear_cancel(row.cancel_requested_at)
        if row is not None and _is_dropped(deps, row):
            held.lease.hear_cancel(deps.clock.now())
        await hide_for_lease(deps, held, receipt)


def _is_dropped(deps: Deps, row: Job) -> bool:
    """Whether this is a flight that nobody waits for, of a kind that then drops even a call under way."""
    policy = deps.registry.policy_of(row.kind)
    by = None if policy is None else policy.coalesce
    return by is not None and not is_wanted(row, by.on_empty, has_sent=True)


def beats_end(deps: Deps, kind: str, invocation_ends: float) -> float:
    """Until when the lease is prolonged: code that never ends must not hold its job longer than its attempt may."""
    policy = deps.registry.policy_of(kind)
    attempt = deps.timing.settle_budget if policy is None else policy.timeout + deps.timing.settle_budget
    return min(invocation_ends, deps.clock.monotonic() + attempt.total_seconds())


async def hide_for_lease(deps: Deps, held: HeldJob, receipt: str) -> None:
    """Let the message follow the lease; if that fails, the lease is the authority and a duplicate is harmless."""
    try:
        await deps.queue.hide(receipt, lease_visibility(held.lease.left(), deps.timing))
    except InfrastructureError:
        held.notes.add("visibility_not_set")
