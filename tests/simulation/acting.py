"""An agent and an operator in a simulation: ask for an action and be noted, approve it, reset it after it failed."""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Coroutine
from typing import Any

from onceward.domain.action_records import Seen, Word, word_place
from onceward.errors import ArgumentsChanged, InfrastructureError, KeyReused, NotFailed, RequestError
from onceward.usecases.actions import PREFIX
from onceward.usecases.approve_action import approve_action
from onceward.usecases.note_attempt import Transport, note_attempt
from onceward.usecases.read_action import find_action_job
from onceward.usecases.reset_action import reset_action
from onceward.usecases.submit_job import Intake, Kept, Submission, submit_job
from tests.simulation.process import Died
from tests.simulation.scenario import CLIENT_PATIENCE, CLIENT_RETRY
from tests.simulation.world import TENANT, World

TOLD = Transport(by="client", run_id="run-1")
THINKING = 3.0  # seconds in which a person looks at what it is
MOST_TRIES = 40  # of a person who means it: longer than any outage here
OTHER_ARGUMENTS = "0" * 64

type Deed = Callable[[Intake], Coroutine[Any, Any, object]]


async def submit(intake: Intake, wish: Submission) -> Kept:
    """What the door does with a request: submit it and, of an action, keep what this attempt came to."""
    if not wish.kind.startswith(PREFIX):
        return await submit_job(intake, wish)
    try:
        kept = await submit_job(intake, wish)
    except KeyReused:
        job = await find_action_job(intake.store, intake.clock, wish.tenant_id, wish.identity)
        await note_attempt(intake.store, intake.clock, intake.ids, job, TOLD, Seen.REFUSED)
        raise
    came_to = Seen.CREATED if kept.is_new else Seen.REPLAYED
    await note_attempt(intake.store, intake.clock, intake.ids, kept.job, TOLD, came_to)
    return kept


async def approve(world: World) -> None:
    """Wait for what waits for approval, in whatever epoch; approve other arguments in vain, then these."""
    watch_what_is_sent(world)
    while not (waiting := [row for row in world.store.rows.values() if row.waiting_for == "approval"]):
        if any(row.state == "cancelled" for row in world.store.rows.values()):
            return
        await asyncio.sleep(CLIENT_RETRY)
    row = waiting[0]
    await asyncio.sleep(THINKING)

    async def vainly(intake: Intake) -> None:
        try:
            await _approved(intake, row.identity, OTHER_ARGUMENTS)
        except ArgumentsChanged:
            return
        raise AssertionError("other arguments were approved")

    await _until_answered(world, vainly)
    await _until_answered(world, lambda intake: _approved(intake, row.identity, row.fingerprint))


async def reset(world: World) -> None:
    """Two operators reset the first epoch's failure at once; what has not failed is left alone."""
    while not (ended := [row for row in world.store.rows.values() if row.state in ("failed", "succeeded")]):
        if any(row.state == "needs_review" for row in world.store.rows.values()):
            return
        await asyncio.sleep(CLIENT_RETRY)
    identity = ended[0].identity
    await asyncio.sleep(THINKING)

    async def again(intake: Intake) -> None:
        try:
            await reset_action(intake, TENANT, identity, epoch=1, by="operator", why="simulated")
        except NotFailed:
            return

    await asyncio.gather(_until_answered(world, again), _until_answered(world, again))


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


async def _approved(intake: Intake, identity: Any, fingerprint: str) -> None:
    await approve_action(intake, TENANT, identity, fingerprint=fingerprint, by="operator", why="simulated")


async def _until_answered(world: World, deed: Deed) -> None:
    """The same command until it says what became of it."""
    for _ in range(MOST_TRIES):
        task = world.start_api(deed, "operator")
        await asyncio.wait((task,), timeout=CLIENT_PATIENCE)
        if task.done() and _is_answered(task):
            return
        await asyncio.sleep(CLIENT_RETRY)


def _is_answered(task: asyncio.Task[object]) -> bool:
    """Whether the person knows enough to stop asking."""
    try:
        return not isinstance(task.result(), Died)
    except InfrastructureError:
        return False
    except RequestError:  # it was cancelled, or has ended otherwise
        return True
