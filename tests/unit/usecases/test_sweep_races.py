"""Whoever writes about ``due`` a moment too late finds that the row has moved, and changes nothing."""

from __future__ import annotations

from collections import Counter
from dataclasses import replace
from datetime import timedelta
from typing import Any

import pytest

from onceward.domain.change import Fields, RowChange
from onceward.domain.job import Job
from onceward.domain.names import Identity, TenantId
from onceward.domain.states import JobState
from onceward.domain.timing import Timing
from onceward.usecases.send_letter import send_letter
from onceward.usecases.sweep import Sweeper, sweep
from tests.support.builders import NOW, TOKEN, an_open_call
from tests.support.hooked_store import HookedStore
from tests.support.sweep_world import MINUTE, SweepWorld, jobs

pytestmark = pytest.mark.anyio

IN_REVIEW: dict[str, Any] = {
    "state": JobState.NEEDS_REVIEW,
    "review_until": NOW + timedelta(days=30),
    "open": (an_open_call(),),
}


async def test_cancel_between_read_and_move_is_no_rescue() -> None:
    """Neither ``due`` nor the token has changed, but the row has: the next pass decides about it as it is now."""
    world = SweepWorld()
    (job,) = jobs(1, state=JobState.RUNNING, run_token=TOKEN, lease_until=NOW - MINUTE, seq=2)
    await world.keep(job)

    async def cancelled(read: Any, tenant_id: TenantId, identity: Identity) -> Job | None:
        seen: Job | None = await read(tenant_id, identity)
        wish = RowChange(when=(), set=Fields(cancel_requested_at=NOW), add={"seq": 1})
        await world.store.update_job(tenant_id, job.job_id, wish)
        return seen

    hooked: Any = HookedStore(world.store, get_job=cancelled)
    swept = await sweep(Sweeper(store=hooked, queue=world.queue, clock=world.clock, timing=Timing()))

    assert swept.counts == {"overtaken": 1}
    assert (world.woken(), world.row(job).due) == (Counter(), job.due)


LATE: list[dict[str, Any]] = [
    {"due": NOW + 10 * MINUTE, "wake_at": NOW + 10 * MINUTE},
    {"seq": 3, "cancel_requested_at": NOW},
]


@pytest.mark.parametrize("moved", LATE, ids=["the sweeper's own letter", "a cancel"])
async def test_letter_s_bookkeeping_that_comes_late_changes_nothing(moved: dict[str, Any]) -> None:
    """A worker that slept after its letter: the sweeper has sent one too and set the next look, or a cancel came."""
    world = SweepWorld()
    (job,) = jobs(1, **IN_REVIEW, due=NOW, run_token=TOKEN, seq=2)
    await world.keep(replace(job, **moved))
    before = world.row(job)
    await send_letter(Sweeper(store=world.store, queue=world.queue, clock=world.clock, timing=Timing()), job)

    assert (world.row(job), world.letters()) == (before, Counter([job.job_id]))
