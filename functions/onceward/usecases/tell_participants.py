"""Tell a flight's participants that a person has decided: each is made due and woken, and follows by itself.

Dying in between loses messages at most: who was made due is the sweeper's, and everyone looks again in any case.
"""

from __future__ import annotations

from contextlib import suppress

from onceward.domain.change import RowChange
from onceward.domain.flights import wake_change
from onceward.domain.job import Job
from onceward.domain.records import PARTICIPANTS, Participant
from onceward.domain.timing import Timing
from onceward.domain.transaction import Applied
from onceward.errors import InfrastructureError
from onceward.usecases.at_once import at_once
from onceward.usecases.ports import Clock, Queue, Store
from onceward.usecases.submit_job import dispatch_job


async def tell_participants(store: Store, queue: Queue, clock: Clock, timing: Timing, flight: Job) -> None:
    """Wake everyone who waits, or is in review, with this flight. Never raises: the decision stands."""
    with suppress(InfrastructureError):
        items = await store.list_cold(flight.tenant_id, flight.job_id, PARTICIPANTS)
        members = [item for item in items if isinstance(item, Participant)]
        change = wake_change(flight.job_id, clock.now(), timing)
        await at_once(*(_tell(store, queue, change, member) for member in members))


async def _tell(store: Store, queue: Queue, change: RowChange, member: Participant) -> None:
    """One participant, if it still waits."""
    with suppress(InfrastructureError):
        reply = await store.update_job(member.tenant_id, member.participant, change)
        if isinstance(reply, Applied) and reply.before is not None:
            await dispatch_job(queue, reply.before)
