"""The sweeper's Lambda: one pass a minute over what is due; its counts are its log line."""

from __future__ import annotations

from collections.abc import Callable, Coroutine, Mapping
from contextlib import AbstractContextManager
from functools import cache
from typing import Any, Protocol

from aws_lambda_powertools import Logger
from aws_lambda_powertools.utilities.typing import LambdaContext

from onceward.errors import InfrastructureError
from onceward.handlers.meter import Meter
from onceward.handlers.settings import SweeperSettings
from onceward.handlers.wiring import Wiring
from onceward.handlers.worlds import SweeperWorld
from onceward.usecases.gauge_jobs import gauge_jobs, is_time_to_gauge
from onceward.usecases.measuring import Metric, gauge_metrics
from onceward.usecases.sweep import Sweeper, sweep


class PassWorld(Protocol):
    """One execution environment, as a pass needs it."""

    @property
    def sweeper(self) -> Sweeper:
        """The ports of a pass."""
        ...

    @property
    def run(self) -> Callable[[Coroutine[Any, Any, Any]], Any]:
        """Run a story on the environment's one loop."""
        ...

    @property
    def stage(self) -> str:
        """Which stage this is, for its metrics."""
        ...

    def invocation(self) -> AbstractContextManager[None]:
        """The scope of one invocation: nothing that was started in it is left when it ends."""
        ...


class Passes:
    """One execution environment's passes, one after the other."""

    def __init__(self, world: PassWorld, logger: Logger) -> None:
        """Hold the environment's world."""
        self._world = world
        self._logger = logger
        self._meter = Meter(world.stage)

    def __call__(self, _event: Mapping[str, Any], _context: LambdaContext) -> dict[str, int]:
        """One pass; the event says nothing, the tables say everything."""
        with self._world.invocation():
            counts, metrics = self._world.run(sweep_and_gauge(self._world.sweeper))
        self._logger.info("swept", extra={"counts": counts})
        self._meter.publish(metrics)
        return dict(counts)


@cache
def _passes() -> Passes:
    """The environment's passes, built at the first event."""
    settings = SweeperSettings.from_environment()
    return Passes(SweeperWorld(settings, Wiring.of_sweeper(settings)), Logger())


def handler(event: Mapping[str, Any], context: LambdaContext) -> dict[str, int]:
    """Lambda's entry."""
    return _passes()(event, context)


async def sweep_and_gauge(sweeper: Sweeper) -> tuple[dict[str, int], tuple[Metric, ...]]:
    """A pass, and every few minutes a look at how much is open: after the rescue, which must not wait for a figure."""
    swept = await sweep(sweeper)
    if not is_time_to_gauge(sweeper.clock.now()):
        return swept.counts, ()
    try:
        return swept.counts, gauge_metrics(await gauge_jobs(sweeper))
    except InfrastructureError:
        swept.count("not_gauged")
        return swept.counts, ()
