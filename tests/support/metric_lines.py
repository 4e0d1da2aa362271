"""The metric lines that the functions' own handlers write over memory, for whoever watches metrics by name.

One scenario each: an API that stores a job; workers of a stage with a breaker, whose jobs succeed, fail, are parked,
taken over, retried and stopped; a sweeper that finds something open.
"""

from __future__ import annotations

import asyncio
import io
import json
from collections.abc import Callable, Coroutine, Iterator
from contextlib import AbstractContextManager, contextmanager, nullcontext, redirect_stdout
from dataclasses import dataclass, replace
from datetime import datetime, timedelta
from typing import Any

import pytest
from aws_lambda_powertools import Logger

from onceward.adapters.memory.store import MemoryStore
from onceward.domain.breaking import BreakerRule
from onceward.domain.policy import OnUnknown, RetryPolicy
from onceward.errors import CallFailure
from onceward.handlers.meter import Meter
from onceward.handlers.sweeper import sweep_and_gauge
from onceward.handlers.worker import Worker
from onceward.usecases.breakers import Breakers
from onceward.usecases.deps import Deps
from onceward.usecases.sweep import Sweeper
from onceward.wire.messages import wakeup_body
from tests.support.api_world import ApiWorld, FakeContext, create
from tests.support.builders import JOB_ID, TENANT, a_policy, an_open_call, seconds
from tests.support.fakes import FakeClock
from tests.support.worker_world import WorkerWorld

STAGE = "test"
RESET = CallFailure("", code="connection_lost", error_class="outcome_unknown", was_sent=True)
DOWN = CallFailure("", code="http_503", error_class="transient", was_sent=True)
REFUSED = CallFailure("", code="http_400", error_class="permanent", was_sent=True)


@dataclass
class MeteredWorker:
    """One worker's environment over one job; ``failures``: when its breaker opens."""

    world: WorkerWorld
    failures: int = 100
    stage: str = STAGE
    breakers: Breakers | None = None

    @property
    def deps(self) -> Deps:
        """The ports, with a breaker."""
        deps = self.world.deps()
        if self.breakers is None:
            rule = BreakerRule(failures=self.failures, successes=1)
            self.breakers = Breakers(deps.store, deps.clock, deps.ids, rule)
        return replace(deps, breakers=self.breakers)

    @property
    def run(self) -> Callable[[Coroutine[Any, Any, Any]], Any]:
        """A loop of its own."""
        return asyncio.run

    def invocation(self) -> AbstractContextManager[None]:
        """Nothing to end."""
        return nullcontext()

    def deliver(self) -> None:
        """One event with the job's message."""
        self.world.queue.put(wakeup_body(TENANT, JOB_ID))
        records = [
            {
                "messageId": one.message_id,
                "receiptHandle": one.receipt,
                "body": one.body,
                "attributes": {"ApproximateReceiveCount": "1"},
            }
            for one in self.world.queue.receive()
        ]
        worker = Worker(self, Logger(service="metric-lines"))
        worker({"Records": records}, FakeContext(remaining_ms=900_000))  # type: ignore[arg-type]


def metric_lines(monkeypatch: pytest.MonkeyPatch) -> list[dict[str, Any]]:
    """All lines, as CloudWatch would take them from the logs of API, worker and sweeper."""
    lines: list[dict[str, Any]] = []
    for service, scenario in (("api", _api), ("worker", _worker), ("sweeper", _sweeper)):
        monkeypatch.setenv("POWERTOOLS_SERVICE_NAME", f"onceward-{service}")
        with _written() as out:
            scenario()
        lines += [json.loads(line) for line in out.getvalue().splitlines() if '"_aws"' in line]
    return lines


@contextmanager
def _written() -> Iterator[io.StringIO]:
    """What is written to stdout meanwhile: a meter keeps the stdout of its own beginning."""
    out = io.StringIO()
    with redirect_stdout(out):
        yield out


def _api() -> None:
    """A job is stored."""
    create(ApiWorld().api())


def _worker() -> None:
    """Jobs of one life each."""
    _ended_well()
    for error in (REFUSED, RESET):
        metered = _metered(WorkerWorld())
        metered.world.provider.script = [error]
        metered.deliver()
    _taken_over()
    _broken()


def _metered(world: WorkerWorld, *, failures: int = 100) -> MeteredWorker:
    """A worker with one job."""
    asyncio.run(world.create())
    return MeteredWorker(world, failures)


def _ended_well() -> None:
    """After a retry, by a model that has no price."""
    metered = _metered(WorkerWorld())
    metered.world.provider.script = [DOWN]
    metered.world.provider.price = lambda model, usage: None  # type: ignore[method-assign]
    metered.deliver()
    metered.world.clock.move(seconds(60))
    metered.deliver()


def _taken_over() -> None:
    """A run was lost with a call of it on its way, whose repeat policy allows; then the job is cancelled."""
    retry = RetryPolicy(on_unknown=OnUnknown.RETRY)
    metered = _metered(WorkerWorld(policy=a_policy(retry=retry)))
    asyncio.run(metered.world.lose_a_run(open=(an_open_call(),)))
    metered.world.overwrite(cancel_requested_at=metered.world.clock.now())
    metered.deliver()


def _broken() -> None:
    """The breaker opens, stops a send, lets a probe through, and closes."""
    metered = _metered(WorkerWorld(), failures=1)
    metered.world.provider.script = [DOWN]
    metered.deliver()
    metered.world.clock.move(seconds(16))
    metered.deliver()
    metered.world.clock.move(timedelta(minutes=5))
    metered.deliver()


def _sweeper() -> None:
    """Something is open and something in review, at an instant at which it looks."""
    world = WorkerWorld()
    asyncio.run(world.create())
    world.provider.script = [RESET]
    asyncio.run(world.deliver())
    store = MemoryStore(rows=dict(world.store.rows), shards=dict(world.store.shards))
    asyncio.run(_another_open(store))
    clock = FakeClock(_on_the_hour(world.clock.now()) + timedelta(hours=3))
    sweeper = Sweeper(store=store, queue=world.queue, clock=clock, timing=world.timing)
    _, metrics = asyncio.run(sweep_and_gauge(sweeper))
    Meter(STAGE).publish(metrics)


async def _another_open(store: MemoryStore) -> None:
    """A queued job beside the review."""
    other = WorkerWorld()
    await other.create()
    for place, row in other.store.rows.items():
        store.rows[(place[0], place[1][::-1])] = row  # type: ignore[index]
        store.shards[(place[0], place[1][::-1])] = other.store.shards[place]  # type: ignore[index]


def _on_the_hour(at: datetime) -> datetime:
    """The hour that has begun."""
    return at.replace(minute=0, second=0, microsecond=0)
