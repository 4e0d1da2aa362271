"""The ``HttpTarget`` port of one process: the same service as the model's, whose computations are here side effects."""

from __future__ import annotations

import json
from collections.abc import Mapping
from dataclasses import replace
from datetime import timedelta

from pydantic import JsonValue

from onceward.domain.names import DownstreamKey
from onceward.domain.policy import Capability
from onceward.domain.records import Usage
from onceward.domain.recovery import LookupReply
from onceward.usecases.ports import ModelReply, ModelRequest, Provider, Submitted

TARGET = "act"


class HttpLine:
    """A declared target over the process's own line to the service, every boundary and fault included."""

    def __init__(self, line: Provider) -> None:
        """``line``: guarded already."""
        self._line = line
        self.name = TARGET

    @property
    def route(self) -> str:
        """Always the same."""
        return TARGET

    @property
    def capability(self) -> Capability:
        """What the service promises."""
        return self._line.capability

    def price(self, model: str, usage: Usage | None) -> int | None:
        """The service's price: the books are judged as for a model."""
        return self._line.price(model, usage)

    async def send(self, arguments: Mapping[str, JsonValue], key: DownstreamKey, timeout: timedelta) -> ModelReply:
        """One request."""
        request = ModelRequest(messages=(("user", str(arguments["text"])),), max_output_tokens=1)
        reply = await self._line.generate(request, key, timeout)
        assert isinstance(reply, ModelReply), "a target answers at once"
        return _as_answer(reply)

    async def lookup(self, key: DownstreamKey, timeout: timedelta) -> ModelReply | LookupReply:
        """What became of a key."""
        found = await self._line.lookup(key, timeout)
        assert not isinstance(found, Submitted), "a target answers at once"
        return _as_answer(found) if isinstance(found, ModelReply) else found


def _as_answer(reply: ModelReply) -> ModelReply:
    """A target's answer: the service's, as a body."""
    return replace(reply, text=json.dumps({"status": 201, "body": json.loads(reply.text)}))
