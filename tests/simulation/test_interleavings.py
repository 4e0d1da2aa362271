"""Two and three processes that race for one job: every interleaving of their port calls up to a stated depth.

The depth is the number of preemptions: places where a process that could go on has to wait for another one.
"""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Coroutine
from typing import Any

import pytest

from onceward.usecases.sweep import sweep
from onceward.wire.messages import wakeup_body
from tests.simulation.explore import Tally
from tests.simulation.interleave import interleave
from tests.simulation.model import Script
from tests.simulation.process import Process
from tests.simulation.scenario import Scenario
from tests.simulation.world import World

ANSWERED_AT = 4.0  # virtual seconds: the call takes 4, all else nothing


def woken_again(times: int, at: float = 0.0) -> Callable[[World], Coroutine[Any, Any, None]]:
    """More messages of the only job, as a redelivering queue or a sweeper would bring them: as soon as it is stored."""

    async def wake(world: World) -> None:
        await asyncio.sleep(at)

        def put(process: Process, name: str) -> None:
            if world.store.rows:
                world.watch.remove(put)
                row = next(iter(world.store.rows.values()))
                for _ in range(times):
                    world.queue.put(wakeup_body(row.tenant_id, row.job_id))

        world.watch.append(put)

    return wake


async def two_sweepers(world: World) -> None:
    """The message is lost, and two passes begin at the instant at which the row has long been due."""
    await asyncio.sleep(0.001)
    world.queue.lose("message-1")
    await asyncio.sleep(45)
    for _ in range(2):
        process = world.process("sweep")
        world.keep(process.run(sweep(world.sweeper(process))))


RACES = (
    (Scenario(name="two workers", batch_size=1, also=woken_again(1)), 4),
    (Scenario(name="two workers, a retry", batch_size=1, also=woken_again(1), script=(Script.BUSY,)), 3),
    (Scenario(name="three workers", batch_size=1, also=woken_again(2)), 3),
    (Scenario(name="two creates of one key", requests=("key-1", "key-1")), 4),
    (Scenario(name="three creates, one of another body", requests=("key-1", "key-1", "key-1/other")), 3),
    (Scenario(name="a claim and a cancel", cancel_at=0.0), 4),
    (Scenario(name="a settle and a cancel", cancel_at=ANSWERED_AT), 4),
    (Scenario(name="two claims and a cancel", batch_size=1, also=woken_again(1), cancel_at=0.0), 3),
    (Scenario(name="two sweepers", also=two_sweepers), 4),
    (Scenario(name="two redrives", script=(Script.BUSY,) * 3, redrives=1, copies=2, batch_size=1), 2),
)


@pytest.mark.parametrize(("story", "most"), RACES, ids=[story.name for story, _ in RACES])
def test_every_interleaving_keeps_every_invariant(story: Scenario, most: int, tally: Tally) -> None:
    """Three preemptions for three processes, four for two: of most races that is all there is."""
    report = interleave(story, most)
    print(f"{story.name}, up to {most} preemptions: {report}")

    assert tally(report) == []


@pytest.mark.thorough
@pytest.mark.parametrize(("story", "most"), RACES, ids=[story.name for story, _ in RACES])
def test_one_preemption_more_keeps_every_invariant(story: Scenario, most: int, tally: Tally) -> None:
    """Four preemptions for three processes, five for two."""
    assert tally(interleave(story, most + 1)) == []
