"""A bug to plant into a simulated deployment."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

from onceward.domain.policy import Capability
from onceward.domain.timing import Timing
from onceward.usecases.ports import Queue, Store


@dataclass(frozen=True, slots=True, kw_only=True)
class Bug:
    """A bug planted into what the code is given; the judge goes on holding the code to what was promised."""

    name: str = "none"
    store: Callable[[Store], Store] = lambda store: store
    queue: Callable[[Queue], Queue] = lambda queue: queue
    timing: Timing | None = None
    capability: Capability | None = None


NO_BUG = Bug()
