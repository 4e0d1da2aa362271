"""A person in a simulation: reads a review, decides, and asks again until there is an answer."""

from __future__ import annotations

import asyncio

from pydantic import JsonValue

from onceward.domain.states import Resolution
from onceward.errors import AnswerArrived, InfrastructureError, RequestError, ReviewLooking
from onceward.usecases.resolve_job import Verdict, resolve_job
from tests.simulation.bell import until_done
from tests.simulation.process import Died
from tests.simulation.scenario import CLIENT_PATIENCE, CLIENT_RETRY, MOST_TRIES
from tests.simulation.world import TENANT, World

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
            by="operator",
            why="simulated",
            result=GIVEN if resolution is Resolution.ACCEPT else None,
            may_pay_twice=True,
        )
        await _until_answered(world, verdict)


async def _until_answered(world: World, verdict: Verdict) -> None:
    """The same command until it says what became of it; a look that runs, or an answer that came, is waited for."""
    for _ in range(MOST_TRIES):
        task = world.start_api(lambda intake: resolve_job(intake, verdict), "operator")
        await until_done(task, CLIENT_PATIENCE)
        if task.done() and _is_answered(world, task):
            return
        await asyncio.sleep(CLIENT_RETRY)


def _is_answered(world: World, task: asyncio.Task[object]) -> bool:
    """Whether the person knows enough to stop asking."""
    try:
        done = task.result()
    except (ReviewLooking, AnswerArrived, InfrastructureError):
        return False
    except RequestError as refused:
        world.answers.append(("resolve", refused.code))
        return True
    if isinstance(done, Died):
        return False
    world.answers.append(("resolve", "200"))
    return True
