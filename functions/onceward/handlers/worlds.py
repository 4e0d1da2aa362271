"""What the worker and the sweeper are given, built from their settings over one ``Wiring``."""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Coroutine
from contextlib import AbstractContextManager
from datetime import timedelta
from functools import cached_property
from typing import Any

from onceward.domain.breaking import BreakerRule
from onceward.domain.coalescing import FlightLimits
from onceward.handlers.models import Models
from onceward.handlers.settings import SweeperSettings, WorkerSettings
from onceward.handlers.wiring import Wiring
from onceward.usecases.breakers import Breakers
from onceward.usecases.deps import Deps
from onceward.usecases.sweep import Sweeper
from onceward.usecases.switches import Switches

CHILDREN = 1  # one child may take 384 MB of the worker's 512; a batch's documents are read one after the other


class WorkerWorld:
    """One execution environment of the worker."""

    def __init__(self, settings: WorkerSettings, wiring: Wiring) -> None:
        """``wiring``: made ``of_worker``; nothing is built or asked yet."""
        self._settings = settings
        self._wiring = wiring

    @cached_property
    def deps(self) -> Deps:
        """The ports of the worker's stories."""
        wiring = self._wiring
        models = Models(self._settings, wiring.threads, wiring.clock, lambda: wiring.http)
        return Deps(
            store=wiring.store,
            queue=wiring.queue,
            blob=wiring.blob,
            provider=models.everybodys,
            chosen=models.by_kind,
            http=models.targets(wiring.registry.endpoints),
            clock=wiring.clock,
            ids=wiring.ids,
            spawn=wiring.spawn,
            registry=wiring.registry,
            timing=wiring.timing,
            call_slots=asyncio.Semaphore(self._settings.calls_per_provider),
            child_slots=asyncio.Semaphore(CHILDREN),
            max_receive_count=self._settings.max_receive_count,
            switches=Switches(wiring.store, wiring.clock),
            breakers=self._breakers(),
            flight_limits=FlightLimits(
                participants=self._settings.participants_per_flight, flights=self._settings.flights_per_tenant
            ),
        )

    def _breakers(self) -> Breakers | None:
        """The stage's circuit breakers, if it has any."""
        if not self._settings.breaker_failures:
            return None
        pause = timedelta(seconds=self._settings.breaker_pause_seconds)
        rule = BreakerRule(
            failures=self._settings.breaker_failures,
            pause=pause,
            longest_pause=10 * pause,
            probe_every=pause / 6,
        )
        return Breakers(self._wiring.store, self._wiring.clock, self._wiring.ids, rule)

    @property
    def run(self) -> Callable[[Coroutine[Any, Any, Any]], Any]:
        """Run a story on the environment's one loop."""
        return self._wiring.run

    @property
    def stage(self) -> str:
        """Which stage this is, for its metrics."""
        return self._settings.stage

    def invocation(self) -> AbstractContextManager[None]:
        """The scope of one invocation."""
        return self._wiring.invocation()


class SweeperWorld:
    """One execution environment of the sweeper."""

    def __init__(self, settings: SweeperSettings, wiring: Wiring) -> None:
        """``wiring``: made ``of_sweeper``; nothing is built or asked yet."""
        self.stage = settings.stage
        self._wiring = wiring

    @cached_property
    def sweeper(self) -> Sweeper:
        """The ports of a pass."""
        wiring = self._wiring
        return Sweeper(store=wiring.store, queue=wiring.queue, clock=wiring.clock, timing=wiring.timing)

    @property
    def run(self) -> Callable[[Coroutine[Any, Any, Any]], Any]:
        """Run a story on the environment's one loop."""
        return self._wiring.run

    def invocation(self) -> AbstractContextManager[None]:
        """The scope of one invocation."""
        return self._wiring.invocation()
