"""What a joined call costs: CPU per caller, over the floor of the same tasks waiting on one ``asyncio.Event``."""

from __future__ import annotations

import asyncio
import gc
import time
from collections.abc import Awaitable, Callable
from itertools import count

from bench.singleflight.peers import PEERS, Do

SIZES = {1: 150, 20: 30, 1_000: 1}  # callers: rounds at a stretch, a few milliseconds each
PASSES = 60  # interleaved, and the best counts: on a busy machine noise only adds

type Round = Callable[[int], Awaitable[None]]


async def measure() -> dict[str, dict[int, float]]:
    """CPU per caller as a multiple of the floor, by peer and number of callers."""
    rounds: dict[str, Round] = {"floor": _floor}
    rounds |= {peer.label: _asking(peer.make()) for peer in PEERS}
    best = {name: dict.fromkeys(SIZES, float("inf")) for name in rounds}
    gc.disable()  # for good: this process only measures
    for _ in range(PASSES):
        for callers, repeat in SIZES.items():
            for name, ask in rounds.items():
                started = time.process_time()
                for _ in range(repeat):
                    await ask(callers)
                best[name][callers] = min(best[name][callers], time.process_time() - started)
            gc.collect()
    return {name: {size: cost / best["floor"][size] for size, cost in row.items()} for name, row in best.items()}


def _asking(do: Do) -> Round:
    """One round: that many tasks ask for one new key at once."""
    keys = count()

    async def factory() -> object:
        await asyncio.sleep(0)
        return 1

    async def ask(callers: int) -> None:
        key = next(keys)

        async def caller() -> object:
            return await do(key, factory)

        loop = asyncio.get_running_loop()
        await asyncio.gather(*[loop.create_task(caller()) for _ in range(callers)])

    return ask


async def _floor(callers: int) -> None:
    """The least that can be: the tasks, one task for the work, one event to wake them."""
    event = asyncio.Event()

    async def work() -> None:
        await asyncio.sleep(0)
        event.set()

    async def caller() -> None:
        await event.wait()

    loop = asyncio.get_running_loop()
    await asyncio.gather(loop.create_task(work()), *[loop.create_task(caller()) for _ in range(callers)])
