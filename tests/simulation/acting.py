"""An operator in a simulation: approves an action, and resets it after it failed."""

from __future__ import annotations

import asyncio
from typing import Any

from onceward.domain.action_records import Word, word_place
from tests.simulation.asking import ask_until_heard
from tests.simulation.doors import OPERATOR, Deed, Heard
from tests.simulation.resolving import resolve
from tests.simulation.scenario import CLIENT_RETRY
from tests.simulation.world import World

THINKING = 3.0  # seconds in which a person looks at what it is
MOST_TRIES = 40  # of a person who means it: longer than any outage here
OTHER_ARGUMENTS = "0" * 64


async def approve(world: World) -> None:
    """Wait for what waits for approval, in whatever epoch; approve other arguments in vain, then these."""
    watch_what_is_sent(world)
    while not (waiting := [row for row in world.store.rows.values() if row.waiting_for == "approval"]):
        if any(row.state == "cancelled" for row in world.store.rows.values()):
            return
        await asyncio.sleep(CLIENT_RETRY)
    row = waiting[0]
    await asyncio.sleep(THINKING)

    vain = await _say(world, world.scenario.door.approve(world, row, OTHER_ARGUMENTS))
    assert vain is None or vain.code is not None, "other arguments were approved"
    await _say(world, world.scenario.door.approve(world, row, row.fingerprint))


async def reset(world: World) -> None:
    """Two operators reset the first epoch's failure at once; what has not failed is left alone."""
    while not (ended := [row for row in world.store.rows.values() if row.state in ("failed", "succeeded")]):
        if any(row.state == "needs_review" for row in world.store.rows.values()):
            return
        await asyncio.sleep(CLIENT_RETRY)
    await asyncio.sleep(THINKING)
    again = world.scenario.door.reset(world, ended[0], 1)
    await asyncio.gather(_say(world, again), _say(world, again))


async def fail_and_reset(world: World) -> None:
    """A person fails what nobody knows the end of, and then the operators reset it."""
    while not any(row.state in ("failed", "succeeded") for row in world.store.rows.values()):
        if any(row.state == "needs_review" for row in world.store.rows.values()):
            await resolve(world, "fail", THINKING)
            break
        await asyncio.sleep(CLIENT_RETRY)
    await reset(world)


async def approve_and_reset(world: World) -> None:
    """Approve, reset what failed, and approve again what then waits for it."""
    await approve(world)
    await reset(world)
    if any(row.epoch > 1 for row in world.store.rows.values()):
        await approve(world)


def watch_what_is_sent(world: World) -> None:
    """Nothing reaches the target of an epoch that nobody has approved."""

    def look(arrival: Any) -> None:
        row = next(row for row in world.store.rows.values() if arrival.key.startswith(row.job_id))
        if word_place(row.epoch, Word.APPROVE) not in world.store.items[row.tenant_id, row.job_id]:
            world.errors.append(AssertionError(f"request {arrival.number} was sent before it was approved"))

    if look.__qualname__ not in {one.__qualname__ for one in world.model.on_arrival}:
        world.model.on_arrival.append(look)


async def _say(world: World, deed: Deed) -> Heard | None:
    """The same command until it says what became of it."""
    return await ask_until_heard(world, deed, OPERATOR, MOST_TRIES)
