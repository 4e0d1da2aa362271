"""A kind with a step of its own, for tests: what the step does, works on and makes is changed from outside."""

from __future__ import annotations

import asyncio
from collections.abc import Callable
from typing import Any

from pydantic import BaseModel, JsonValue

from onceward.errors import CallFailure
from onceward.usecases.context import Context
from tests.support.builders import seconds
from tests.support.worker_world import Ask, Said, WorkerWorld

BUSY = CallFailure("", code="rate_limited", error_class="rate_limited", was_sent=True)
LOST = CallFailure("", code="connection_lost", error_class="outcome_unknown", was_sent=True)
PLACE = "call#0001#pick/1#0001"


class Picked(BaseModel):
    """What a step makes."""

    words: tuple[str, ...]
    at: int = 0


class Kind:
    """A local step, then a call over what it made; ``fn``, ``given`` and ``answer`` change as with a deploy."""

    def __init__(self, fn: Callable[[], object], *, answer: Any = None) -> None:
        """The first release."""
        self.fn = fn
        self.given: JsonValue = "text"
        self.answer = answer
        self.seen: list[object] = []

    async def run(self, context: Context, given: Ask) -> Said:
        """Pick, then ask."""
        made = await context.step("pick", self.fn, given=self.given, answer=self.answer)
        self.seen.append(made)
        reply = await context.model.generate("ask", [("user", str(made))])
        return Said.model_validate_json(reply.text)


class Counter:
    """Makes another number each time, as a clock or a die would."""

    def __init__(self) -> None:
        """None yet."""
        self.runs = 0

    def __call__(self) -> int:
        """The next."""
        self.runs += 1
        return self.runs

    async def later(self) -> int:
        """The next, after a turn of the loop."""
        await asyncio.sleep(0)
        return self()


async def a_world(run: Any) -> WorkerWorld:
    """A job of this kind."""
    world = WorkerWorld(run)
    await world.create()
    return world


async def again(world: WorkerWorld) -> None:
    """The next attempt."""
    world.clock.move(seconds(90))
    await world.deliver()
