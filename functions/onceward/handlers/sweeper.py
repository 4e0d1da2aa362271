"""The sweeper's Lambda: one pass a minute over what is due; its counts are its log line."""

from __future__ import annotations

from collections.abc import Mapping
from functools import cache
from typing import Any

from aws_lambda_powertools import Logger
from aws_lambda_powertools.utilities.typing import LambdaContext

from onceward.errors import InfrastructureError
from onceward.handlers.meter import Meter
from onceward.handlers.settings import SweeperSettings
from onceward.handlers.worlds import SweeperWorld
from onceward.usecases.gauge_jobs import gauge_jobs, is_time_to_gauge
from onceward.usecases.measuring import Metric, gauge_metrics
from onceward.usecases.sweep import Sweeper, sweep


@cache
def _environment() -> tuple[SweeperWorld, Logger, Meter]:
    """The environment's world, built at the first event."""
    settings = SweeperSettings.from_environment()
    return SweeperWorld(settings), Logger(), Meter(settings.stage)


def handler(_event: Mapping[str, Any], _context: LambdaContext) -> dict[str, int]:
    """Lambda's entry; the event says nothing, the tables say everything."""
    world, logger, meter = _environment()
    with world.invocation():
        counts, metrics = world.run(sweep_and_gauge(world.sweeper))
    logger.info("swept", extra={"counts": counts})
    meter.publish(metrics)
    return dict(counts)


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
