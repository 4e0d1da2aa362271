"""The worker's own handler, over ports with crash points and with the tests' kinds."""

from __future__ import annotations

from collections.abc import Mapping
from functools import cache, cached_property
from typing import Any

from aws_lambda_powertools import Logger
from aws_lambda_powertools.utilities.typing import LambdaContext

from onceward.handlers.settings import WorkerSettings
from onceward.handlers.wiring import Wiring
from onceward.handlers.worker import Worker
from onceward.handlers.worlds import WorkerWorld
from onceward.usecases.deps import Deps
from tests.support.deployed.crash_points import with_crash_points
from tests.support.deployed.kinds import KINDS


class MinedWorld(WorkerWorld):
    """The worker's world behind crash points."""

    @cached_property
    def deps(self) -> Deps:
        """The shipped ports, wrapped."""
        return with_crash_points(super().deps)


@cache
def _worker() -> Worker:
    """The environment's worker."""
    settings = WorkerSettings.from_environment()
    return Worker(MinedWorld(settings, Wiring.of_worker(settings, KINDS)), Logger())


def handler(event: Mapping[str, Any], context: LambdaContext) -> dict[str, list[dict[str, str]]]:
    """Lambda's entry in a test's bundle."""
    return _worker()(event, context)
