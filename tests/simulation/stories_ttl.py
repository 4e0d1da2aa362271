"""The stories of TTL: a job's 90 days are over, and whoever still knows its name comes back.

Rows and what lies beside them are deleted in any order, at any call from then on, or never; expiry is what conditions
say. Readers, late messages, the sweeper and clients of the same key meet it; clocks differ by as much as they may.
"""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Coroutine
from typing import TYPE_CHECKING, Any

from onceward.domain.policy import OnUnknown
from onceward.handlers import routes
from onceward.wire.messages import wakeup_body
from tests.simulation.doors import RUN_ID
from tests.simulation.http_door import PERSON
from tests.simulation.http_line import TARGET
from tests.simulation.kinds import SHARED
from tests.simulation.model import DEDUPES, Script
from tests.simulation.reading import first_job, told
from tests.simulation.scenario import Scenario
from tests.simulation.stories_http import HTTP, declared
from tests.simulation.story import ask

if TYPE_CHECKING:
    from tests.simulation.invariants import Checker
    from tests.simulation.world import World

LIFE = 90 * 86_400.0  # seconds for which all of a job is kept


async def ask_again(world: World) -> None:
    """The key's client asks once more, while an old message comes: another life, whose messages are its own.

    By a clock that is behind the old one's time is not over yet; so it asks once again when it is by all clocks.
    """
    for row in list(world.store.rows.values()):
        world.queue.put(wakeup_body(row.tenant_id, row.job_id), group=row.tenant_id)
    await asyncio.gather(*(ask(world, key) for key in world.scenario.requests))
    await asyncio.sleep(2 * world.scenario.skew_seconds)
    await asyncio.gather(*(ask(world, key) for key in world.scenario.requests))


async def redrive(world: World) -> None:
    """Old letters come back beside it: they open nothing again, and change nothing of another life."""
    world.queue.redrive()
    await ask_again(world)


async def read(world: World) -> None:
    """A client reads its job: all of it, or that there is none; and its list, in which nothing is that is not."""
    job = await first_job(world)
    seen = await told(world, routes.READ_JOB, job.job_id)
    assert seen.status in (200, 404), seen
    assert seen.status == 404 or seen.body["result"] is not None, "a job that has its result is shown without it"
    history = await told(world, routes.READ_HISTORY, job.job_id)
    assert history.status in (200, 404), history
    assert (await told(world, routes.LIST_JOBS)).status == 200


async def erase(world: World) -> None:
    """A client erases its old job, and asks for a new one under its key: what is erased is the old one's."""
    job = await first_job(world)
    done, _ = await asyncio.gather(told(world, routes.ERASE_JOB, job.job_id), ask_again(world))
    assert done.status in (204, 404), done
    after = await told(world, routes.READ_JOB, job.job_id)
    assert after.status == 404 or after.body["result"] is None, after


async def ask_for_operation(world: World) -> None:
    """An agent lists its old run, repeats the operation under its name, and a person resets the old one in vain."""
    job = await first_job(world)
    await asyncio.gather(
        ask_again(world),
        told(world, routes.LIST_ACTIONS, query=f"run_id={RUN_ID}"),
        told(
            world, routes.RESET_ACTION, world.scenario.requests[0], body={"epoch": job.epoch, "why": "late"}, by=PERSON
        ),
    )


def two_lives(checker: Checker) -> None:
    """Without a fault a key that is used again has a new job, and one only."""
    world = checker.world
    if world.counter.struck:
        return
    rows = [row for row in (*world.store.gone, *world.store.rows.values()) if row.participants is None]
    lives = 2 * len(set(world.scenario.requests))
    checker.expect(8, len(rows) == lives, f"{len(rows)} lives, not {lives}")


def _story(name: str, at_expiry: Callable[[World], Coroutine[Any, Any, None]], **more: Any) -> Scenario:
    given = {"new_from": LIFE, "capability": DEDUPES, "judge": two_lives}  # DEDUPES: few ways into a review
    return Scenario(name=f"ttl-{name}", at_expiry=at_expiry, **{**given, **more})


STORIES = (
    _story("again", ask_again),
    _story("read", read, door=HTTP, judge=None),
    _story("erase", erase, door=HTTP),
    _story("letter", redrive, script=(Script.BUSY,) * 3, on_unknown=OnUnknown.RETRY),
    _story("flight", ask_again, kind=SHARED),
    _story(
        "action", ask_for_operation, door=HTTP, kind=f"action.{TARGET}", kinds=declared, script=(Script.REJECTED,) * 2
    ),
)
