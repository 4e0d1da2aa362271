"""What a test of the ledger works with: kinds of every tariff, a provider's acts, and a store that fails at a call."""

from __future__ import annotations

import asyncio
from collections.abc import Iterator
from datetime import timedelta
from functools import partial
from typing import Any

from hypothesis import strategies as st
from pydantic import BaseModel

from onceward.adapters.memory.blob import MemoryBlob
from onceward.adapters.memory.queue import MemoryQueue
from onceward.adapters.memory.store import MemoryStore
from onceward.domain.breaking import BreakerRule
from onceward.domain.claim import Claim
from onceward.domain.policy import KindPolicy, OnUnknown, RetryPolicy
from onceward.domain.tariff import Metered, PerPage, PerToken
from onceward.domain.timing import Timing
from onceward.errors import CallFailure, StoreUnavailable
from onceward.usecases.breakers import Breakers
from onceward.usecases.context import Context
from onceward.usecases.deps import Deps
from onceward.usecases.registry import Registry
from onceward.usecases.run_job import RunReport
from onceward.usecases.submit_job import Intake
from onceward.usecases.switches import Switches
from tests.support.fakes import FakeClock, FakeIds, FakeProvider, FakeSpawn, a_reply

MOST = 1_000  # the tariff, or its maximum
TARIFFS: dict[str, Metered | None] = {
    "fixed": None,
    "tokens": PerToken(input=20_000_000, output=30_000_000),
    "tokens_beyond": PerToken(input=900_000_000, output=0),
    "pages": PerPage(70),
}
ACTS: dict[str, Any] = {
    "answer": a_reply,
    "nonsense": partial(a_reply, '{"other": 1}'),
    "busy": partial(CallFailure, code="busy", error_class="rate_limited", was_sent=True),
    "down": partial(CallFailure, code="http_503", error_class="transient", was_sent=True),
    "refused": partial(CallFailure, code="http_400", error_class="permanent", was_sent=True),
    "lost": partial(CallFailure, code="connection_lost", error_class="outcome_unknown", was_sent=True),
}
KINDS = sorted(TARIFFS)
FATES = ("answer", "busy", "lost", "refused")  # of all calls of a job: accepted, exhausted, in review, failed
FAULTS = st.tuples(
    st.sampled_from([None, None, None, "crash before", "crash after", "lost before", "lost after"]), st.integers(1, 14)
)
WHICH = st.tuples(st.integers(0, 11), st.sampled_from([True, True, True, False]))  # and whether only of those that fit
# What a proof must have come to, by the step that did it: an entry of the book, an attempt, an erasure, a death.
REACHES = {
    *("create reserve", "create StoreUnavailable"),
    *("work attempt", "work takeover", "work capture", "work release", "work Crash"),
    *("cancel release", "redrive reserve", "redrive attempt", "redrive capture"),
    *("resolve capture", "resolve release", "resolve carry", "erase erased"),
}
RARELY = {f"{step} Crash" for step in ("create", "cancel", "redrive", "resolve", "erase")}  # by a thousand examples


class Crash(BaseException):
    """The process is dead."""


class Asked(BaseModel):
    """The input."""

    steps: int = 1


class Read(BaseModel):
    """The output."""

    text: str


class Fragile:
    """A store as one process has it: at the n-th call it dies, or hears nothing, before or after the effect."""

    def __init__(self, store: MemoryStore, fault: str | None, at: int) -> None:
        """``fault``: ``crash`` or ``lost``, with ``before`` or ``after``; ``None``: nothing goes wrong."""
        self._store = store
        self._fault = fault
        self._left = at
        self._is_dead = False

    def __getattr__(self, name: str) -> Any:
        """Every method of the port."""
        return partial(self._call, getattr(self._store, name))

    async def _call(self, method: Any, *arguments: Any) -> Any:
        """One call; the drawn one goes wrong."""
        if self._is_dead:
            raise Crash
        self._left -= 1
        if self._fault is None or self._left != 0:
            return await method(*arguments)
        kind, _, when = self._fault.partition(" ")
        if when == "after":
            await method(*arguments)
        if kind == "lost":
            raise StoreUnavailable("planned")
        self._is_dead = True
        raise Crash


def a_registry() -> Registry:
    """A kind of two steps for each tariff, one of which may be bought again after a maybe."""
    registry = Registry()

    async def run(context: Context, given: Asked) -> Read:
        text = "{}"
        for number in range(given.steps):
            text = (await context.model.generate(f"step-{number}", [("user", "?")])).text
        return Read.model_validate_json(text)

    for name, metered in TARIFFS.items():
        on_unknown = OnUnknown.RETRY if name == "tokens" else OnUnknown.REVIEW
        policy = KindPolicy(
            name=name,
            tariff_micro_usd=MOST,
            metered=metered,
            max_call_cost=900,
            retry=RetryPolicy(max_attempts=2, on_unknown=on_unknown),
        )
        registry.kind(policy=policy, input_model=Asked, output_model=Read, pages_of=lambda output: len(output.text))(
            run
        )
    return registry


def came_to(before: MemoryStore, after: MemoryStore, end: object) -> Iterator[str]:
    """What a step came to: its error's name, the verbs of new entries, attempts, takeovers and erasures."""
    if isinstance(end, BaseException):
        yield type(end).__name__
    if isinstance(end, RunReport) and end.found is Claim.TAKEOVER:
        yield "takeover"
    for place in after.entries.keys() - before.entries.keys():
        yield str(after.entries[place].verb)
    for place, job in after.rows.items():
        was = before.rows.get(place)
        if was is None:
            continue
        if (job.epoch, job.attempts) > (was.epoch, was.attempts):
            yield "attempt"
        if job.erased_at is not None and was.erased_at is None:
            yield "erased"


class LedgerWorld:
    """One deployment over memory; each process reaches its store in its own way."""

    def __init__(self) -> None:
        """Nothing was ever created."""
        self.clock = FakeClock()
        self.store = MemoryStore()
        self.queue = MemoryQueue(self.clock, visibility=timedelta(minutes=90), max_receive_count=50)
        self.blob = MemoryBlob(self.clock)
        self.ids = FakeIds()
        self.registry = a_registry()
        self.timing = Timing()

    def intake(self, fault: tuple[str | None, int]) -> Intake:
        """The API's ports."""
        store: Any = Fragile(self.store, *fault)
        return Intake(
            store=store,
            blob=self.blob,
            queue=self.queue,
            clock=self.clock,
            ids=self.ids,
            registry=self.registry,
            timing=self.timing,
        )

    def deps(self, fault: tuple[str | None, int], act: str, then: str) -> Deps:
        """One worker's ports; its provider acts as drawn."""
        store: Any = Fragile(self.store, *fault)
        return Deps(
            store=store,
            queue=self.queue,
            blob=self.blob,
            provider=FakeProvider(script=[ACTS[act](), ACTS[then]()]),
            clock=self.clock,
            ids=self.ids,
            spawn=FakeSpawn(),
            registry=self.registry,
            timing=self.timing,
            call_slots=asyncio.Semaphore(10),
            child_slots=asyncio.Semaphore(1),
            max_receive_count=50,
            switches=Switches(store, self.clock),
            breakers=Breakers(store, self.clock, self.ids, BreakerRule(failures=3)),
        )
