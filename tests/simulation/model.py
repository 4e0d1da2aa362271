"""A model provider whose work goes on without us: it counts requests, computes, keeps answers by key.

A request that arrived is computed to its end, whoever still listens: that is what a caller pays for. What the caller
hears is scripted per request: the answer, an answered refusal, or nothing.
"""

from __future__ import annotations

import asyncio
from collections.abc import Callable
from dataclasses import dataclass, field
from datetime import timedelta
from enum import StrEnum

from onceward.domain.names import DownstreamKey
from onceward.domain.policy import Capability
from onceward.domain.records import Usage
from onceward.domain.recovery import LookupReply
from onceward.domain.retry import ErrorClass
from onceward.errors import CallFailure
from onceward.providers.at_once import AnswersAtOnce
from onceward.usecases.ports import ModelReply, ModelRequest, Submitted
from tests.simulation.checks.promised import PRICE
from tests.simulation.scheduler import VirtualLoop

NONE = Capability()
DEDUPES = Capability(dedup_window=timedelta(hours=1))
LOOKUP = Capability(lookup_lag=timedelta(seconds=5))
USAGE = Usage(input=100, output=50)


class Script(StrEnum):
    """What one request comes to."""

    ANSWER = "answer"  # computed, and the answer is heard
    DOWN = "down"  # answered with 503: nothing was computed
    BUSY = "busy"  # answered with 429: nothing was computed
    REJECTED = "rejected"  # answered with 400: nothing was computed
    RESET = "reset"  # computed, and the connection breaks before the answer


@dataclass(frozen=True, slots=True, kw_only=True)
class Arrival:
    """One request as the provider saw it; ``done_at`` is ``None`` if it computed nothing for it."""

    number: int
    process: str
    key: DownstreamKey
    at: float
    timeout: float
    done_at: float | None = None


@dataclass(slots=True)
class ModelService:
    """The provider's side: its log and its answers.

    ``seconds``: how long a computation takes; ``odd_lookups``: how many questions are still answered oddly.
    """

    loop: VirtualLoop
    capability: Capability
    seconds: float
    script: tuple[Script, ...] = ()
    odd_lookups: int = 0
    log: list[Arrival] = field(default_factory=list)
    lookups: list[tuple[str, str, float, bool]] = field(default_factory=list)
    forgotten: set[int] = field(default_factory=set)
    replies: dict[DownstreamKey, tuple[float, ModelReply]] = field(default_factory=dict)
    computations: dict[int, ModelReply] = field(default_factory=dict)
    on_arrival: list[Callable[[Arrival], None]] = field(default_factory=list)

    def computed(self, key: DownstreamKey) -> int:
        """How many computations a key has cost."""
        return sum(1 for arrival in self.log if arrival.key == key and arrival.done_at is not None)

    def arrive(self, process: str, key: DownstreamKey, text: str, timeout: float) -> tuple[Script, Arrival]:
        """A request reaches the provider: log it, decide what it comes to, start the computation."""
        number = len(self.log)
        script = self.script[number] if number < len(self.script) else Script.ANSWER
        now = self.loop.time()
        is_known = self._is_deduped(key, now)
        done_at = now + self.seconds if script in (Script.ANSWER, Script.RESET) and not is_known else None
        arrival = Arrival(number=number, process=process, key=key, at=now, timeout=timeout, done_at=done_at)
        self.log.append(arrival)
        if done_at is not None:
            self.computations[number] = reply_to(text, number)
            self.replies.setdefault(key, (done_at, self.computations[number]))
        for tell in self.on_arrival:
            tell(arrival)
        return script, arrival

    def ready_at(self, arrival: Arrival) -> float:
        """When the answer to this request can be heard."""
        return self.replies[arrival.key][0] if arrival.done_at is None else arrival.done_at

    def reply(self, arrival: Arrival) -> ModelReply:
        """What a request is answered with: its own computation, or the stored answer it was served from."""
        return self.replies[arrival.key][1] if arrival.done_at is None else self.computations[arrival.number]

    def _is_deduped(self, key: DownstreamKey, now: float) -> bool:
        """Whether a key's stored answer serves this request too."""
        window = self.capability.dedup_window
        first = next((one.at for one in self.log if one.key == key and one.done_at is not None), None)
        return window is not None and first is not None and now < first + window.total_seconds()


class ModelLine(AnswersAtOnce):
    """The ``Provider`` port of one process, connected to the service."""

    def __init__(self, service: ModelService, process: str, claimed: Capability | None = None) -> None:
        """``process``: who calls, for the log; ``claimed``: what the code is told instead of the truth."""
        self._service = service
        self._process = process
        self.name = "model"
        self.model = "sim-1"
        self.route = "model sim-1"
        self.capability = claimed or service.capability

    def price(self, model: str, usage: Usage | None) -> int | None:
        """The one price."""
        return None if usage is None else PRICE

    def most(self, request: ModelRequest) -> int | None:
        """Nothing is known beforehand."""
        return None

    async def generate(self, request: ModelRequest, key: DownstreamKey, timeout: timedelta) -> ModelReply:
        """One request; the client gives up at ``timeout``, the provider does not."""
        service, patience = self._service, timeout.total_seconds()
        script, arrival = service.arrive(self._process, key, request.messages[0][1], patience)
        match script:
            case Script.BUSY:
                raise CallFailure("429", code="http_429", error_class=ErrorClass.RATE_LIMITED, was_sent=True)
            case Script.DOWN:
                raise CallFailure("503", code="http_503", error_class=ErrorClass.TRANSIENT, was_sent=True)
            case Script.REJECTED:
                raise CallFailure("400", code="http_400", error_class=ErrorClass.PERMANENT, was_sent=True)
            case Script.RESET:
                await asyncio.sleep(service.seconds / 2)
                raise CallFailure("reset", code="reset", error_class=ErrorClass.OUTCOME_UNKNOWN, was_sent=True)
            case Script.ANSWER:
                return await self._answered(arrival, patience)

    async def _answered(self, arrival: Arrival, patience: float) -> ModelReply:
        """Wait for the answer for as long as the client would."""
        service = self._service
        wait = service.ready_at(arrival) - service.loop.time()
        await asyncio.sleep(min(max(wait, 0.0), patience))
        if wait > patience:
            raise CallFailure("timeout", code="timeout", error_class=ErrorClass.OUTCOME_UNKNOWN, was_sent=True)
        return service.reply(arrival)

    async def lookup(self, key: DownstreamKey, timeout: timedelta) -> ModelReply | LookupReply | Submitted:
        """What became of a key, as far as the service's lag lets it be seen."""
        service = self._service
        lag = service.capability.lookup_lag
        assert lag is not None, "asked a target that answers no lookups"
        found = service.replies.get(key)
        is_visible = found is not None and found[0] + lag.total_seconds() <= service.loop.time()
        if service.odd_lookups > 0:
            service.odd_lookups -= 1
            raise ValueError("an answer that its reader does not expect")
        service.lookups.append((self._process, key, service.loop.time(), is_visible))
        return found[1] if found is not None and is_visible else LookupReply.NOT_FOUND


def reply_to(text: str, number: int) -> ModelReply:
    """An answer that tells which request it answers, so that a second purchase cannot pass for the first."""
    answer = '{"text": "%s", "request": %d}' % (text, number)  # noqa: UP031
    return ModelReply(text=answer, finish="stop", model="sim-1", usage=USAGE, request_id=f"request-{number}")
