"""The port to a model: what is asked, what is answered, at once or later. Import it from ``ports``, with the others."""

from __future__ import annotations

from dataclasses import dataclass
from datetime import timedelta
from typing import Protocol

from onceward.domain.names import DownstreamKey
from onceward.domain.policy import Capability
from onceward.domain.records import Usage
from onceward.domain.recovery import LookupReply, PollReply
from onceward.domain.states import ProviderCancel


@dataclass(frozen=True, slots=True, kw_only=True)
class ModelRequest:
    """One question to a model: messages as (role, text), and the shape its answer must have."""

    messages: tuple[tuple[str, str], ...]
    max_output_tokens: int
    json_schema: str | None = None
    schema_name: str = "answer"
    temperature: float = 0.0


@dataclass(frozen=True, slots=True, kw_only=True)
class ModelReply:
    """A model's answer in no provider's dialect; ``finish``: ``stop``, ``length``, ``filter``, ``tools``, ``other``."""

    text: str
    finish: str
    model: str
    usage: Usage | None
    request_id: str | None = None


@dataclass(frozen=True, slots=True)
class Submitted:
    """The provider has taken the request, and answers later under this reference."""

    reference: str


class Target(Protocol):
    """Whoever a step calls, a model or an HTTP target: what recovery and the books have to know of it."""

    @property
    def name(self) -> str:
        """A short stable name for books and metrics."""

    @property
    def capability(self) -> Capability:
        """What it documents about repeats."""

    def price(self, model: str, usage: Usage | None) -> int | None:
        """Micro-USD of a usage; ``None``: no price is known."""

    async def lookup(self, key: DownstreamKey, timeout: timedelta) -> ModelReply | LookupReply | Submitted:
        """Ask what became of a key; only if the capability says that it can.

        ``Submitted``: it was taken, and is polled under that reference, whether or not it has ended.
        Raises ``CallFailure`` if the call is found to have failed, which ends the maybe as well.
        """


class Provider(Target, Protocol):
    """A model behind HTTP. One call is one request: no retries of its own."""

    @property
    def model(self) -> str:
        """Which model it asks, by the provider's name for it."""

    @property
    def route(self) -> str:
        """Which model exactly, by which way: equal for equal answers, and never a secret."""

    def most(self, request: ModelRequest) -> int | None:
        """Micro-USD that one call can cost at most; ``None``: no price is known."""

    async def generate(self, request: ModelRequest, key: DownstreamKey, timeout: timedelta) -> ModelReply | Submitted:
        """Ask; a provider whose capability names how long answers are kept may answer later.

        Raises ``CallFailure`` with its class, and whether the request may have arrived.
        Raises ``InfrastructureError`` only if nothing was sent (its key could not be read).
        """

    async def poll(self, reference: str, key: DownstreamKey, timeout: timedelta) -> ModelReply | PollReply:
        """Ask for the answer to what was submitted; raises ``CallFailure`` if the work is found to have failed."""

    async def stop(self, reference: str, timeout: timedelta) -> ProviderCancel:
        """Ask to stop work that nobody waits for any more, and tell what was said; raises nothing of the target's."""

    async def forget(self, reference: str, timeout: timedelta) -> None:
        """Delete what the provider keeps of work that has ended, once its answer is stored here.

        Raises nothing of the target's: what cannot be deleted stays for as long as the provider keeps it.
        """
