"""A worker's world whose provider answers later."""

from __future__ import annotations

import asyncio
from datetime import timedelta
from typing import Any

from onceward.domain.policy import Capability, KindPolicy
from onceward.errors import CallFailure
from onceward.usecases.context import Context
from onceward.usecases.ports import Submitted
from tests.support.worker_world import Ask, Said, WorkerWorld

LATER = Capability(kept=timedelta(days=29))
LISTED = Capability(kept=timedelta(days=7), lookup_lag=timedelta(minutes=1))
BUSY = CallFailure("", code="rate_limited", error_class="rate_limited", was_sent=True)
LOST = CallFailure("", code="connection_lost", error_class="outcome_unknown", was_sent=True)
REFUSED = CallFailure("", code="provider_refused_request", error_class="permanent", was_sent=True)


async def both(context: Context, given: Ask) -> Said:
    """A kind that asks two steps at once, then one over both."""
    ask = context.model.generate
    await asyncio.gather(ask("left", [("user", "l")], answer=Said), ask("right", [("user", "r")], answer=Said))
    return Said.model_validate_json((await ask("over", [("user", "o")], answer=Said)).text)


def a_world(run: Any = None, policy: KindPolicy | None = None) -> WorkerWorld:
    """A provider that answers later, whatever it is asked: ``work-1``, ``work-2`` and so on."""
    world = WorkerWorld(policy=policy) if run is None else WorkerWorld(run, policy=policy)
    world.provider.capability = LATER
    world.provider.script = [Submitted(f"work-{number}") for number in range(1, 9)]
    return world


async def a_waiting_job(world: WorkerWorld, **fields: Any) -> None:
    """Create it, and let its first run submit."""
    await world.create(**fields)
    await world.deliver()
