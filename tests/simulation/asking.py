"""Ask the API, and ask again until there is an answer: what clients, agents and persons do in every story."""

from __future__ import annotations

import asyncio

from tests.simulation.bell import until_done
from tests.simulation.doors import BROKEN, UNHEARD, Deed, Heard
from tests.simulation.process import Died
from tests.simulation.scenario import CLIENT_PATIENCE, CLIENT_RETRY, MOST_TRIES
from tests.simulation.world import World


async def ask_once(world: World, deed: Deed, kind: str = "api") -> Heard:
    """One request, given up when the gateway would; its process goes on all the same."""
    task = world.start_api(deed, kind)
    if not await until_done(task, CLIENT_PATIENCE):
        return Heard(UNHEARD)
    done = task.result()
    return Heard(BROKEN) if isinstance(done, Died) else done


async def ask_until_heard(world: World, deed: Deed, kind: str = "api", tries: int = MOST_TRIES) -> Heard | None:
    """The same request until its answer says what became of it; ``None``: it was given up."""
    for _ in range(tries):
        heard = await ask_once(world, deed, kind)
        if heard.is_final:
            return heard
        await asyncio.sleep(CLIENT_RETRY)
    return None
