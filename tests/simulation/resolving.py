"""A person in a simulation: reads a review, decides, and asks again until there is an answer."""

from __future__ import annotations

import asyncio

from pydantic import JsonValue

from onceward.domain.states import Resolution
from onceward.usecases.resolve_job import Verdict
from tests.simulation.asking import ask_until_heard
from tests.simulation.doors import OPERATOR, TENANT, WHY
from tests.simulation.world import World

GIVEN: JsonValue = {"answers": ["found by a person"]}


async def resolve(world: World, name: str, after: float) -> None:
    """Decide about every job that there is, in the epoch that it is in when it is looked at."""
    await asyncio.sleep(after)
    for row in list(world.store.rows.values()):
        resolution = Resolution(name)
        verdict = Verdict(
            tenant_id=TENANT,
            job_id=row.job_id,
            resolution=resolution,
            epoch=row.epoch,
            by=OPERATOR,
            why=WHY,
            result=GIVEN if resolution is Resolution.ACCEPT else None,
            may_pay_twice=True,
        )
        heard = await ask_until_heard(world, world.scenario.door.resolve(world, verdict), OPERATOR)
        if heard is not None:
            world.answers.append(("resolve", heard.code or str(heard.status)))
