"""What the worker's stories are given: the ports, the kinds, and the stage's durations."""

from __future__ import annotations

import asyncio
from collections.abc import Mapping
from dataclasses import dataclass, field, replace

from onceward.domain.coalescing import FlightLimits
from onceward.domain.job import OpenCall
from onceward.domain.policy import Capability
from onceward.domain.timing import Timing
from onceward.usecases.breakers import Breakers
from onceward.usecases.gone_target import GoneTarget
from onceward.usecases.http_target import HttpTarget
from onceward.usecases.ports import Blob, Clock, Ids, Provider, Queue, Spawn, Store, Target
from onceward.usecases.registry import Registry
from onceward.usecases.sharing import Sharing
from onceward.usecases.switches import Switches

DEFAULT_LIMITS = FlightLimits()


@dataclass(frozen=True, slots=True, kw_only=True)
class Deps:
    """One execution environment's world.

    ``call_slots`` bounds the calls of this process that are at the provider at once; with the event source's
    ``MaximumConcurrency`` it bounds them all. ``child_slots`` bounds the children of this process, whose memory
    limits together must fit the function's. Both belong to the environment's one event loop. ``http``: the declared
    HTTP targets, by name. ``breakers``: ``None`` where the stage has none. ``shared`` is of one batch.
    """

    store: Store
    queue: Queue
    blob: Blob
    provider: Provider
    clock: Clock
    ids: Ids
    spawn: Spawn
    registry: Registry
    timing: Timing
    call_slots: asyncio.Semaphore
    child_slots: asyncio.Semaphore
    max_receive_count: int
    switches: Switches
    chosen: Mapping[str, Provider] = field(default_factory=dict)
    http: Mapping[str, HttpTarget] = field(default_factory=dict)
    breakers: Breakers | None = None
    flight_limits: FlightLimits = DEFAULT_LIMITS
    shared: Sharing = field(default_factory=Sharing)

    def for_kind(self, kind: str) -> Deps:
        """The same world with the model that the deployment chose for a kind; ``provider`` is everybody else's."""
        return replace(self, provider=self.chosen[kind]) if kind in self.chosen else self

    def promised_by(self, name: str | None) -> str:
        """Who a target is by now, whichever model is asked there, and which promises it makes."""
        provider = self.provider
        if name is None:
            return provider.capability.promised(provider.route.removesuffix(provider.model))
        declared = self.http.get(name)
        return Capability().promised("") if declared is None else declared.capability.promised(declared.route)

    def promise_to(self, call: OpenCall) -> Capability:
        """What is promised about a call: nothing, where its target is another by now, or promised less at the send.

        Whoever did not get it finds nothing under its key and knows no repeat, and neither is proof of anything.
        """
        is_same = call.promised is None or call.promised == self.promised_by(call.target)
        return self.target_of(call.target).capability if is_same else Capability()

    def target_of(self, name: str | None) -> Target:
        """Whom a journaled call went to: the kind's model, or an HTTP target, which a deploy may have taken away."""
        return self.provider if name is None else self.http.get(name) or GoneTarget(name)
