"""The stories of a kind with five steps of every sort, and of code that asks something else after a deploy.

What a step of the kind's own makes is another thing each time that it runs, as a clock's reading would be: whoever made
it twice would ask another question next.
"""

from __future__ import annotations

import asyncio
from collections.abc import Callable
from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING
from weakref import WeakKeyDictionary

from onceward.domain.names import JobId
from onceward.usecases.context import Context
from onceward.usecases.registry import Registry
from tests.simulation.faults import Fault
from tests.simulation.http_line import TARGET
from tests.simulation.kinds import ONE_CALL, VERSION, Given, Made
from tests.simulation.lanes import LANE
from tests.simulation.model import DEDUPES, Script
from tests.simulation.scenario import Scenario

if TYPE_CHECKING:
    from tests.simulation.invariants import Checker
    from tests.simulation.world import World

MIXED = "sim.mixed"
OWN = {"pick": True, "left": False, "book": False, "merge": True, "last": False}  # which steps call nobody
CHANGES = ("given", "prompt", "sort")  # of a step: what it works on, what it asks, whom


@dataclass(slots=True)
class Seen:
    """What the kind's own code did in one run of the harness.

    ``again``: steps that ran although their result was accepted; ``strange``: answers that were made by other code.
    """

    world: World
    made: int = 0
    again: list[str] = field(default_factory=list)
    strange: list[str] = field(default_factory=list)


_seen: WeakKeyDictionary[asyncio.AbstractEventLoop, Seen] = WeakKeyDictionary()


def make(job_id: JobId, step: str) -> str:
    """A step's own code: another result each time; note whether the row that its process holds had one already."""
    seen, lane = _seen[asyncio.get_running_loop()], LANE.get()
    assert lane is not None
    seen.made += 1
    tokens = seen.world.processes[lane.name.partition(".")[0]].tokens
    row = next(one for one in seen.world.store.rows.values() if one.job_id == job_id)
    if row.run_token in tokens and any(key.startswith(f"{step}/") for key in row.accepted):
        seen.again.append(step)
    return f"{step}-{seen.made}"


def mixed(registry: Registry) -> None:
    """A step of its own, a model and a target at once, a step over both, and a model over that."""

    async def run(context: Context, given: Given) -> Made:
        picked = await context.step("pick", lambda: make(context.job_id, "pick"))
        asked = f"{given.text} {picked}"
        left, booked = await asyncio.gather(
            context.model.generate("left", [("user", asked)]), context.http.request("book", TARGET, {"text": asked})
        )

        async def merge() -> list[str]:
            await asyncio.sleep(1)  # virtual seconds, in which its process may die or freeze
            return [make(context.job_id, "merge"), left.text, str(booked.status)]

        merged = await context.step("merge", merge, given={"left": left.text, "booked": booked.status})
        last = await context.model.generate("last", [("user", str(merged))])
        return Made(answers=[str(merged), last.text])

    _register(registry, MIXED, run)


def changed(what: str) -> Callable[[Registry], None]:
    """A kind whose step of one name is another one in newer code; what it is given says which code that was made by."""

    def register(registry: Registry) -> None:
        is_new = registry.find(ONE_CALL).policy.version > VERSION
        by = " by newer code" if is_new else " by older code"

        async def run(context: Context, given: Given) -> Made:
            told = await context.model.generate("ask", [("user", given.text + (by if what == "prompt" else ""))])
            made: object = told.text
            if is_new and what == "sort":
                made = (await context.model.generate("pick", [("user", given.text + by)])).text
            else:
                of = 2 if is_new and what == "given" else 1
                picked = await context.step("pick", lambda: make(context.job_id, "pick") + by, given=of)
                made = made if what == "prompt" else picked
            if by not in str(made):
                _seen[asyncio.get_running_loop()].strange.append(f"{made}, and not{by}")
            await context.model.generate("last", [("user", given.text)])
            return Made(answers=[str(made)])

        _register(registry, f"sim.changed_{what}", run)

    return register


def _register(registry: Registry, name: str, run: Callable[[Context, Given], object]) -> None:
    """A kind like the one-call kind, of the version and price that this deploy has."""
    policy = replace(registry.find(ONE_CALL).policy, name=name)
    registry.kind(policy=policy, input_model=Given, output_model=Made)(run)  # type: ignore[arg-type]


async def be_seen(world: World) -> None:
    """Let the kind's code find the run that it is in."""
    _seen[world.loop] = Seen(world)


async def newer_code_while_waiting(world: World) -> None:
    """A deploy, as soon as the job waits for its next attempt: two of its steps are accepted by then."""
    await be_seen(world)

    def look(*_: object) -> None:
        if any(row.state == "waiting" and row.waiting_for == "retry" for row in world.store.rows.values()):
            world.deploy(Fault.NEWER_CODE)

    world.watch.append(look)


def made_once(checker: Checker) -> None:
    """No step's own code ran again after its result was accepted, and no step was ever taken for another one."""
    seen = _seen[checker.world.loop]
    checker.expect(5, not seen.again, f"own code ran again for accepted steps: {seen.again}")
    for row in checker.world.store.rows.values():
        checker.expect(5, row.error_code != "call_changed", "a question changed that no code has changed")
        if row.state == "succeeded":
            sorts = {step.partition("/")[0]: ref.is_local for step, ref in row.accepted.items()}
            checker.expect(4, sorts == OWN, f"accepted {sorts}")


def told(checker: Checker) -> None:
    """No code was given what other code had asked for; where it would have been, its job ended for good."""
    seen = _seen[checker.world.loop]
    checker.expect(5, not seen.again, f"own code ran again for accepted steps: {seen.again}")
    checker.expect(2, not seen.strange, f"an answer to another question: {seen.strange}")


STORIES = (
    Scenario(name="steps", kind=MIXED, kinds=mixed, also=be_seen, judge=made_once),
    Scenario(name="steps-dedupe", kind=MIXED, kinds=mixed, also=be_seen, judge=made_once, capability=DEDUPES),
    *(
        Scenario(
            name=f"steps-changed-{what}",
            kind=f"sim.changed_{what}",
            kinds=changed(what),
            script=(Script.ANSWER, Script.BUSY),
            also=newer_code_while_waiting,
            judge=told,
        )
        for what in CHANGES
    ),
)
