"""Let a job go while its provider works: no Lambda waits, the row does; and stop work that nobody waits for any more.

The reference was stored before (``keep_reference``), so the wait may end in any way: by its own poll, by a cancel, by
the deadline, or by a crash of whoever polls.
"""

from __future__ import annotations

from dataclasses import replace
from datetime import datetime

from onceward.domain.cancelling import said_by_all
from onceward.domain.ending import wait_change
from onceward.domain.polling import next_poll
from onceward.domain.records import ProviderReference, reference_place
from onceward.domain.states import CallState, ProviderCancel, WaitingFor
from onceward.errors import InfrastructureError
from onceward.usecases.deps import Deps
from onceward.usecases.held_job import HeldJob


def poll_at_of(deps: Deps, held: HeldJob) -> datetime | None:
    """When the held job's providers are to be asked next; ``None``: none works on a call of it."""
    if not held.job.has_submitted:
        return None
    return next_poll(held.job.open, deps.provider.capability, deps.clock.now(), deps.ids.jitter())


async def wait_for_answer(deps: Deps, held: HeldJob, poll_at: datetime) -> None:
    """Wait in the present attempt, until the next poll or the deadline, which ends the job in a closing run."""
    wake_at = min(poll_at, held.job.deadline_at)
    await held.move(lambda job: wait_change(job, held.token, wake_at, WaitingFor.PROVIDER, deps.timing))


async def stop_at_provider(deps: Deps, held: HeldJob) -> None:
    """Tell the provider that nobody waits any more, and note what it said; what it has cost stays within its bounds.

    Once: whoever dies here tells it again, and a wish that is not heard costs money that the books already hold.
    """
    said: list[ProviderCancel] = []
    for call in held.job.open:
        if call.state is not CallState.SUBMITTED:
            continue
        place = reference_place(call.epoch, call.step, call.attempt)
        try:
            item = await deps.store.get_cold(held.tenant_id, held.job_id, place)
            if isinstance(item, ProviderReference):
                said.append(await deps.provider.stop(item.reference, deps.timing.settle_budget))
        except InfrastructureError as error:
            held.notes.add(f"provider_not_told: {error.code}")
    if said:
        held.job = replace(held.job, provider_cancel=said_by_all(said))
