"""How long a job is kept, by a clock that the test moves: to the second, for everybody who could ask for it."""

from __future__ import annotations

import asyncio
from datetime import timedelta

import pytest

from onceward.domain.timing import JOB_LIFE
from onceward.errors import JobNotFound
from onceward.usecases.erase_job import Eraser, erase_job
from onceward.usecases.read_job import read_job
from tests.support.api_world import ApiWorld
from tests.support.builders import TENANT
from tests.support.submissions import submit

SECOND = timedelta(seconds=1)


def read(world: ApiWorld, job_id: str) -> str:
    """The state of a job as its tenant reads it."""
    return str(asyncio.run(read_job(world.store, world.blob, world.clock, tenant_id=TENANT, job_id=job_id)).job.state)


@pytest.mark.failure_mode("F14", "F70")
def test_a_job_is_kept_for_its_life_and_not_a_second_longer() -> None:
    """TTL removes items days late; what is expired is gone for readers and erasers at once, and its key is free."""
    world = ApiWorld()
    kept = submit(world)
    world.clock.move(JOB_LIFE - SECOND)
    assert read(world, kept.job.job_id) == "queued"
    assert not submit(world).is_new

    world.clock.move(SECOND)
    ports = Eraser(store=world.store, blob=world.blob, clock=world.clock, ids=world.ids)
    with pytest.raises(JobNotFound):
        read(world, kept.job.job_id)
    with pytest.raises(JobNotFound):
        asyncio.run(erase_job(ports, tenant_id=TENANT, job_id=kept.job.job_id))
    again = submit(world)
    assert again.is_new
    assert again.job.job_id != kept.job.job_id
    assert again.job.expires_at == world.clock.now() + JOB_LIFE
