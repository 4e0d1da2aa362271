"""What stands for an HTTP target that this code does not declare (any more): it promises nothing and answers nothing.

A call that went to it and was never answered stays a maybe, and a person decides.
"""

from __future__ import annotations

from dataclasses import dataclass
from datetime import timedelta

from onceward.domain.names import DownstreamKey
from onceward.domain.policy import Capability
from onceward.domain.records import Usage
from onceward.domain.recovery import LookupReply


@dataclass(frozen=True, slots=True)
class GoneTarget:
    """A target by its name alone."""

    name: str

    @property
    def capability(self) -> Capability:
        """Nothing is promised."""
        return Capability()

    def price(self, model: str, usage: Usage | None) -> int | None:  # noqa: ARG002 - the port's signature
        """Unknown."""
        return None

    async def lookup(self, key: DownstreamKey, timeout: timedelta) -> LookupReply:  # noqa: ARG002 - the port's signature
        """Nobody is there to ask."""
        return LookupReply.UNREACHABLE
