"""Actions for tests: one for each promise that a target can make, and a target in memory that keeps it."""

from __future__ import annotations

import json
from collections.abc import Awaitable, Callable, Mapping
from dataclasses import dataclass, field
from datetime import timedelta

from pydantic import JsonValue

from onceward.domain.names import DownstreamKey
from onceward.domain.policy import Capability
from onceward.domain.records import Usage
from onceward.domain.recovery import LookupReply
from onceward.domain.retry import ErrorClass
from onceward.errors import CallFailure
from onceward.usecases.ports import ModelReply
from tests.support.deployed.actions import HOST, PATHS, PROMISES, Task, an_action, declared

__all__ = ["HOST", "PATHS", "PROMISES", "FakeTarget", "Task", "an_action", "declared", "lost", "refused"]

type Fault = Callable[[], Awaitable[None]] | CallFailure


@dataclass
class FakeTarget:
    """A target in memory: makes tasks, keeps its promise, and its ``effects`` are the witness.

    ``before`` and ``after``: what happens to the next request before or after its work, in turn.
    """

    promise: str
    name: str
    before: list[CallFailure | None] = field(default_factory=list)
    after: list[CallFailure | None] = field(default_factory=list)
    effects: list[tuple[str, Mapping[str, JsonValue]]] = field(default_factory=list)
    requests: int = 0
    lookups: int = 0

    @property
    def route(self) -> str:
        """As declared."""
        return an_action(self.promise, self.name).endpoint.route

    @property
    def capability(self) -> Capability:
        """As declared."""
        return an_action(self.promise, self.name).endpoint.capability

    def price(self, model: str, usage: Usage | None) -> int | None:
        """Nothing."""
        return 0

    async def send(self, arguments: Mapping[str, JsonValue], key: DownstreamKey, timeout: timedelta) -> ModelReply:
        """Make the task, unless the promise says that it is there."""
        self.requests += 1
        _strike(self.before)
        at = self._known(arguments, key)
        if at is None:
            self.effects.append((key, dict(arguments)))
            at = len(self.effects) - 1
        _strike(self.after)
        return self._reply(at)

    async def lookup(self, key: DownstreamKey, timeout: timedelta) -> ModelReply | LookupReply:
        """What was made under a key."""
        self.lookups += 1
        at = next((at for at, (made, _) in enumerate(self.effects) if made == key), None)
        return LookupReply.NOT_FOUND if at is None else self._reply(at)

    def _known(self, arguments: Mapping[str, JsonValue], key: DownstreamKey) -> int | None:
        for at, (made, given) in enumerate(self.effects):
            if self.promise == "header" and made == key:
                return at
            if self.promise == "natural" and given["source_ticket"] == arguments["source_ticket"]:
                return at
        return None

    def _reply(self, at: int) -> ModelReply:
        text = json.dumps({"status": 201, "body": {"id": at + 1}})
        return ModelReply(text=text, finish="stop", model=self.name, usage=Usage())


def _strike(faults: list[CallFailure | None]) -> None:
    """The next fault, if there is one."""
    fault = faults.pop(0) if faults else None
    if fault is not None:
        raise fault


def lost() -> CallFailure:
    """An answer that never came."""
    return CallFailure("", code="connection_lost", error_class=ErrorClass.OUTCOME_UNKNOWN, was_sent=True)


def refused(code: str = "target_refused", error_class: ErrorClass = ErrorClass.PERMANENT) -> CallFailure:
    """An answer that says no."""
    return CallFailure("", code=code, error_class=error_class, was_sent=True)
