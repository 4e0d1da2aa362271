"""A storm over the deployed worker: its processes die at random, and the sweeper comes by as it does on AWS."""

from __future__ import annotations

import random
import threading
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass

from tests.scenarios.stack import DeployedStack
from tests.scenarios.worker_processes import holders, kill, workers

LOOK_EVERY = 0.2  # seconds between two looks for a first process
SWEEP_EVERY = 5.0  # seconds; on AWS a minute, which no test has time for


@dataclass(frozen=True, slots=True, kw_only=True)
class Storm:
    """How many jobs there are, and how many seconds the model takes for one; for how many seconds processes are killed.

    ``apart``: how far apart, at least and at most. ``spares_starting``: only those are hit that have had a job; the
    message of one that dies while it starts is hidden until the sweeper's next step, a minute later.
    """

    jobs: int
    answer_s: float
    seconds: float
    apart: tuple[float, float]
    spares_starting: bool = False


@contextmanager
def beside(work: Callable[[threading.Event], None]) -> Iterator[threading.Thread]:
    """Do something in a thread until the block is over; what it raises is pytest's to tell."""
    over = threading.Event()
    thread = threading.Thread(target=work, args=(over,))
    thread.start()
    try:
        yield thread
    finally:
        over.set()
        thread.join()


def strike(stack: DeployedStack, storm: Storm, killed: list[int]) -> Callable[[threading.Event], None]:
    """Kill one of the worker's processes now and then, for as long as the storm lasts; note which."""
    chance = random.Random(storm.jobs)  # the same storm each time, as far as the machine lets it

    def targets() -> list[int]:
        alive = workers(stack)
        return sorted(set(alive) & holders(stack)) if storm.spares_starting else alive

    def work(over: threading.Event) -> None:
        while not targets() and not over.wait(LOOK_EVERY):
            pass  # a busy machine takes its time to start the first one, and the storm is not to be over by then
        ends = time.monotonic() + storm.seconds
        while time.monotonic() < ends and not over.wait(chance.uniform(*storm.apart)):
            if alive := targets():
                killed.append(chance.choice(alive))
                kill(killed[-1])

    return work


def sweep(stack: DeployedStack) -> Callable[[threading.Event], None]:
    """Let the sweeper come by again and again."""

    def work(over: threading.Event) -> None:
        while not over.wait(SWEEP_EVERY):
            stack.sweep()

    return work
