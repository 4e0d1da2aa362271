"""The worker's Lambda: read a batch, run its jobs together on one event loop, say which messages come back.

The answer is always an explicit list (an empty or malformed one means something else to SQS), and a job that failed
or waits is no function error: errors would make the event source slow down for every tenant.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from functools import cache
from typing import Any

from aws_lambda_powertools import Logger
from aws_lambda_powertools.utilities.typing import LambdaContext

from onceward.adapters.system import SystemClock
from onceward.handlers.batches import BatchWorld, Outcome, Record, answer_of, handle_batch
from onceward.handlers.meter import Meter
from onceward.handlers.models import warn_of_old_prices
from onceward.handlers.settings import WorkerSettings
from onceward.handlers.wiring import Wiring
from onceward.handlers.worlds import WorkerWorld
from onceward.kinds.registered import KINDS
from onceward.usecases.breakers import Told, Turn
from onceward.usecases.measuring import breaker_metrics

type Event = Mapping[str, Any]


class Worker:
    """One execution environment's worker. One batch at a time, as Lambda hands them over."""

    def __init__(self, world: BatchWorld, logger: Logger) -> None:
        """Hold the environment's world."""
        self._world = world
        self._logger = logger
        self._meter = Meter(world.stage)

    def __call__(self, event: Event, context: LambdaContext) -> dict[str, list[dict[str, str]]]:
        """Run one batch; whatever is left running when it ends is a bug that the scope reports."""
        self._logger.append_keys(function_request_id=context.aws_request_id)
        records = [Record.of(record) for record in event["Records"]]
        with self._world.invocation():
            left = context.get_remaining_time_in_millis() / 1000
            outcomes = self._world.run(handle_batch(self._world.deps, records, left))
            self._tell(outcomes)
            turns = self._turns()
        self._meter.publish([*(metric for outcome in outcomes for metric in outcome.metrics), *breaker_metrics(turns)])
        return answer_of(outcomes)

    def _turns(self) -> list[Told]:
        """What circuit breakers did in this batch, each turn a line of the log; stopped sends are counted only."""
        breakers = self._world.deps.breakers
        told = [] if breakers is None else breakers.drain()
        for one in told:
            if one.turn is not Turn.STOPPED:
                level = self._logger.warning if one.turn is Turn.OPENED else self._logger.info
                level("circuit breaker", extra={"turn": one.turn.value, "breaker": one.name})
        return told

    def _tell(self, outcomes: Iterable[Outcome]) -> None:
        """Log what became of each message, before the scope's end may find fault with the invocation."""
        for outcome in outcomes:
            self._logger.info("delivery", extra=outcome.facts)
            if outcome.bug is not None:
                # The class and the place, never the text: an exception's message may quote a document.
                self._logger.error("bug in a run", extra={"bug": outcome.bug, **outcome.facts})


@cache
def _worker() -> Worker:
    """The environment's worker, built at the first event."""
    logger = Logger()
    settings = WorkerSettings.from_environment()
    warn_of_old_prices(logger, SystemClock().now().date())
    return Worker(WorkerWorld(settings, Wiring.of_worker(settings, KINDS)), logger)


def handler(event: Event, context: LambdaContext) -> dict[str, list[dict[str, str]]]:
    """Lambda's entry."""
    return _worker()(event, context)
