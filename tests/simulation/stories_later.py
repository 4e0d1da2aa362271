"""The stories of answers that come later, and of a kind with five steps: whatever dies between any two of them."""

from __future__ import annotations

import asyncio
from dataclasses import replace
from datetime import timedelta

from onceward.domain.policy import OnUnknown
from onceward.usecases.context import Context
from onceward.usecases.registry import Registry
from tests.simulation.kinds import AT_ONCE, ONE_CALL, TWO_CALLS, Given, Made
from tests.simulation.later import LATER, LISTED, BatchLine, ForgetfulBatchLine, ForgetfulLine, LaterLine
from tests.simulation.model import Script
from tests.simulation.scenario import Scenario

FIVE = "sim.five"
WORK = 20.0  # seconds that the provider works: a few polls, each later than the one before
SOON = 10.0  # and where one poll in vain says it all: a further one is eight boundaries like those before
HOURS = 13 * 3600.0  # longer than a message can wait in a queue


class SlowLine(LaterLine):
    """Three waits of it, one after the other, take longer than a message can wait."""

    queue = HOURS / 3


def five_steps(registry: Registry) -> None:
    """Two at once, one over both, and two more at once; and a kind that has days to wait."""

    async def five(context: Context, given: Given) -> Made:
        async def ask(step: str, text: str) -> str:
            return (await context.model.generate(step, [("user", text)])).text

        left, right = await asyncio.gather(ask("left", f"{given.text}/left"), ask("right", f"{given.text}/right"))
        middle = await ask("middle", f"{left} {right}")
        ends = await asyncio.gather(ask("fourth", f"{middle} 4"), ask("fifth", f"{middle} 5"))
        return Made(answers=[left, right, middle, *ends])

    like = registry.find(ONE_CALL).policy  # of the version, and at the price, that this deploy has
    policy = replace(like, name=FIVE, deadline=timedelta(days=2))
    registry.kind(policy=policy, input_model=Given, output_model=Made)(five)


STORIES = (
    Scenario(name="five-steps", kind=FIVE, kinds=five_steps),
    Scenario(name="later-one", capability=LATER, line=LaterLine, call_seconds=WORK),
    Scenario(name="later-two", kind=TWO_CALLS, capability=LATER, line=LaterLine, call_seconds=SOON),
    Scenario(name="later-at-once", kind=AT_ONCE, capability=LATER, line=LaterLine, call_seconds=SOON),
    Scenario(
        name="later-at-once-busy",
        kind=AT_ONCE,
        capability=LATER,
        line=LaterLine,
        call_seconds=SOON,
        script=(Script.ANSWER, Script.BUSY),
    ),
    Scenario(name="later-retry", capability=LATER, line=LaterLine, call_seconds=SOON, on_unknown=OnUnknown.RETRY),
    Scenario(name="later-reset", capability=LATER, line=LaterLine, call_seconds=WORK, script=(Script.RESET,)),
    Scenario(name="later-gone", capability=LATER, line=ForgetfulLine, call_seconds=SOON, script=(Script.ANSWER,)),
    Scenario(name="later-found", capability=LISTED, line=BatchLine, call_seconds=WORK, script=(Script.RESET,)),
    Scenario(
        name="later-found-at-once",
        kind=AT_ONCE,
        capability=LISTED,
        line=BatchLine,
        call_seconds=WORK,
        script=(Script.ANSWER, Script.RESET),
    ),
    Scenario(
        name="later-unlisted", capability=LISTED, line=ForgetfulBatchLine, call_seconds=SOON, script=(Script.ANSWER,)
    ),
    Scenario(name="later-cancel", capability=LATER, line=LaterLine, call_seconds=WORK, cancel_at=10.0),
)
LONG_WAIT = Scenario(
    name="later-long",
    kind=FIVE,
    kinds=five_steps,
    capability=LATER,
    line=SlowLine,
    call_seconds=WORK,
    patience=HOURS + 3600.0,
)
