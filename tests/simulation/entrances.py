"""The functions' real handlers in simulated processes: what Lambda calls, over ports of the simulation.

An environment is built once and serves one invocation after the other, in whichever scenario, as Lambda's does: what
changes with each is the process whose ports it is lent. What it logs and counts goes to the invocation's world, where
the judge looks for content (invariant 12) and for bugs that a handler has only told.
"""

from __future__ import annotations

import contextlib
import io
import itertools
import logging
from collections.abc import Callable, Coroutine, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from functools import partial
from typing import TYPE_CHECKING, Any

from aws_lambda_powertools import Logger

from onceward.handlers.api_app import Api
from onceward.handlers.batches import Record, answer_of, handle_batch
from onceward.handlers.sweeper import Passes, sweep_and_gauge
from onceward.handlers.worker import Worker
from onceward.usecases.deps import Deps
from onceward.usecases.submit_job import Intake
from onceward.usecases.sweep import Sweeper
from tests.simulation.bridge import Run, across
from tests.simulation.process import Process
from tests.simulation.scenario import FUNCTION_SECONDS, SWEEP_SECONDS
from tests.support.api_world import SETTINGS

if TYPE_CHECKING:
    from tests.simulation.events import Answer
    from tests.simulation.world import World

MOST_LOG_LINES = "DEBUG"
TOLD_BUG = "bug in a run"  # what the worker logs of an error that nobody expected
_numbers = itertools.count(1)


@dataclass(slots=True)
class SimContext:
    """What Lambda passes beside the event, as far as it is read."""

    process: Process
    ends_at: float
    function_name: str = "simulated"
    memory_limit_in_mb: int = 1024
    invoked_function_arn: str = "arn:aws:lambda:us-east-1:000000000000:function:simulated"

    @property
    def aws_request_id(self) -> str:
        """The invocation's id."""
        return self.process.name

    def get_remaining_time_in_millis(self) -> int:
        """Virtual milliseconds until Lambda stops the invocation."""
        return max(0, int(1000 * (self.ends_at - self.process.loop.time())))


class Environment[Ports]:
    """An environment of one function; ``lines``: where the present invocation's output goes."""

    stage = SETTINGS.stage

    def __init__(self, make: Callable[[Any, Logger], Callable[[Any, Any], Any]]) -> None:
        """``make`` builds the function over its world, as its module does at the first event."""
        self._ports: Ports | None = None
        self._run: Run | None = None
        self.lines: list[str] = []
        logger = Logger(service=f"simulated-{next(_numbers)}", logger_handler=_Lines(self), level=MOST_LOG_LINES)
        with contextlib.redirect_stdout(_Stdout(self)):  # metrics go where stdout was at the beginning
            self._function = make(self, logger)

    @property
    def ports(self) -> Ports:
        """Those of the present invocation's process."""
        assert self._ports is not None
        return self._ports

    intake = deps = sweeper = ports  # what each function's world calls them

    def run(self, story: Coroutine[Any, Any, Any]) -> Any:
        """Run a story to its end."""
        assert self._run is not None
        return self._run(story)

    @contextmanager
    def invocation(self) -> Iterator[None]:
        """Nothing to lend; whether something of it is left is its process's to see."""
        yield

    def handle(self, ports: Ports, event: Any, context: SimContext, lines: list[str], run: Run) -> Any:
        """One invocation."""
        self._ports, self._run, self.lines = ports, run, lines
        return self._function(event, context)


class Function[Ports]:
    """A deployed function: as many environments as it ever had invocations at once."""

    def __init__(self, make: Callable[[Any, Logger], Callable[[Any, Any], Any]]) -> None:
        """None yet."""
        self._make = make
        self._idle: list[Environment[Ports]] = []

    async def invoke(self, ports: Ports, event: Any, context: SimContext, lines: list[str]) -> Any:
        """One invocation in the process that calls; raises what it raises, and for a bug that it only tells."""
        environment = self._idle.pop() if self._idle else Environment[Ports](self._make)
        try:
            answer = await across(partial(environment.handle, ports, event, context, lines))
        finally:
            self._idle.append(environment)
        bugs = [line for line in lines if TOLD_BUG in line]
        assert not bugs, bugs
        return answer


API: Function[Intake] = Function(lambda world, logger: Api(SETTINGS, world, logger))
WORKER: Function[Deps] = Function(Worker)
SWEEPER: Function[Sweeper] = Function(Passes)


async def worked(world: World, process: Process, event: dict[str, list[dict[str, Any]]]) -> Answer:
    """What the worker answers to a batch: its handler, or the story right behind it."""
    deps = world.deps(process)
    if world.scenario.by_handlers:
        context = SimContext(process, process.loop.time() + FUNCTION_SECONDS)
        answer: Answer = await WORKER.invoke(deps, event, context, world.lines)
        return answer
    outcomes = await handle_batch(deps, [Record.of(record) for record in event["Records"]], FUNCTION_SECONDS)
    world.errors += [AssertionError(f"a bug at {one.bug}") for one in outcomes if one.bug is not None]
    return answer_of(outcomes)


async def swept(world: World, process: Process) -> None:
    """One pass of the sweeper: its handler, or the story right behind it."""
    sweeper = world.sweeper(process)
    if world.scenario.by_handlers:
        await SWEEPER.invoke(sweeper, {}, SimContext(process, process.loop.time() + SWEEP_SECONDS), world.lines)
    else:
        await sweep_and_gauge(sweeper)


class _Lines(logging.Handler):
    """Keeps what is logged, as it would be written."""

    def __init__(self, environment: Environment[Any]) -> None:
        super().__init__()
        self._environment = environment

    def emit(self, record: logging.LogRecord) -> None:
        self._environment.lines.append(self.format(record))


class _Stdout(io.TextIOBase):
    """Keeps what is printed."""

    def __init__(self, environment: Environment[Any]) -> None:
        self._environment = environment

    def write(self, text: str) -> int:
        self._environment.lines.append(text)
        return len(text)
