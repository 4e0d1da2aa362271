"""Takeovers of a batch come after its other jobs: what lost one process must not take nine good jobs with it."""

from __future__ import annotations

import asyncio
from dataclasses import replace

import pytest

from onceward.domain.deliveries import PutBack
from onceward.domain.names import JobId
from onceward.domain.states import JobState
from onceward.usecases.context import Context
from onceward.usecases.run_batch import run_batch
from onceward.usecases.run_job import Delivery
from tests.support.builders import JOB_ID, TENANT
from tests.support.worker_world import Ask, Said, WorkerWorld

pytestmark = pytest.mark.anyio
OTHER = JobId(f"{JOB_ID[:25]}A-{JOB_ID[-8:]}")


def delivery_of(world: WorkerWorld, job_id: JobId, seconds_left: float) -> Delivery:
    """One message of the batch."""
    world.queue.put("{}")
    return Delivery(
        tenant_id=TENANT,
        job_id=job_id,
        receipt=world.queue.receive()[-1].receipt,
        receive_count=1,
        invocation_ends=world.clock.monotonic() + seconds_left,
    )


@pytest.mark.parametrize("seconds_left", [900, 20], ids=["time is left", "no time is left"])
async def test_takeover_waits_for_the_other_jobs_of_its_batch(seconds_left: float) -> None:
    """Without time for an attempt after them its message is put back instead, and the row is left alone."""
    order: list[str] = []

    async def told(context: Context, given: Ask) -> Said:
        order.append(f"begins {context.job_id}")
        for _ in range(20):
            await asyncio.sleep(0)
        order.append(f"ends {context.job_id}")
        return Said(text="yes")

    world = WorkerWorld(told)
    lost = await world.create()
    await world.lose_a_run()
    before = world.row
    await world.create(job_id=OTHER)
    batch = [delivery_of(world, job_id, seconds_left) for job_id in (lost.job_id, OTHER)]
    reports = await run_batch(replace(world.deps()), batch)

    first = [f"begins {OTHER}", f"ends {OTHER}"]
    if seconds_left > 20:
        assert order == [*first, f"begins {JOB_ID}", f"ends {JOB_ID}"]
        assert world.row.state is JobState.SUCCEEDED
    else:
        assert order == first
        assert (world.row, type(reports[0].disposition)) == (before, PutBack)
