"""The port of a declared HTTP target, and what its answer looks like to a kind."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from datetime import timedelta
from typing import Protocol

from pydantic import JsonValue

from onceward.domain.names import DownstreamKey
from onceward.usecases.ports import ModelReply, Target


@dataclass(frozen=True, slots=True, kw_only=True)
class HttpAnswer:
    """What a target answered: its status, and its body as JSON (``None``: it had none, or none that is JSON)."""

    status: int
    body: JsonValue


class HttpTarget(Target, Protocol):
    """A declared HTTP target. One call is one request that may change something, and no retries of its own."""

    @property
    def route(self) -> str:
        """Who is asked, where, and by what a request is known again there: another one keeps no promise of this one."""

    async def send(self, arguments: Mapping[str, JsonValue], key: DownstreamKey, timeout: timedelta) -> ModelReply:
        """Send the target's request with these arguments under ``key``; the reply's text is an ``HttpAnswer`` as JSON.

        Raises as ``Provider.generate``.
        """
