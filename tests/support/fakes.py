"""Ports with a will of the test's own: a clock that is set, a provider with a script, background work on demand."""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable
from dataclasses import dataclass, field
from datetime import datetime, timedelta

from onceward.domain.names import DownstreamKey
from onceward.domain.policy import Capability
from onceward.domain.records import Usage
from onceward.domain.recovery import LookupReply, PollReply
from onceward.domain.states import ProviderCancel
from onceward.usecases.ports import ChildEnd, ModelReply, ModelRequest, Stopper, Submitted
from tests.support.builders import NOW


class FakeClock:
    """Stands still until it is moved; both clocks move together unless told otherwise."""

    def __init__(self, now: datetime = NOW) -> None:
        """At ``now``; the monotonic clock begins at 1000 s."""
        self._now = now
        self._monotonic = 1_000.0

    def now(self) -> datetime:
        """The wall clock."""
        return self._now

    def monotonic(self) -> float:
        """The monotonic clock."""
        return self._monotonic

    async def sleep(self, duration: timedelta) -> None:
        """Move instead of waiting."""
        self.move(duration)

    def jump(self, duration: timedelta) -> None:
        """Move the wall clock alone, as after a freeze through which the monotonic one slept too."""
        self._now += duration

    def move(self, duration: timedelta) -> None:
        """Let time pass."""
        self._now += duration
        self._monotonic += duration.total_seconds()


class FakeIds:
    """Tokens that count, and a jitter in the middle."""

    def __init__(self, made: int = 0) -> None:
        """Begin with the first; another process's begin further on."""
        self._made = made

    def token(self) -> str:
        """26 characters, all different from the last."""
        self._made += 1
        digits = "".join("ABCDEFGHIJ"[int(digit)] for digit in str(self._made))
        return digits.rjust(26, "Z")[::-1]

    def jitter(self) -> float:
        """Half."""
        return 0.5


class FakeSpawn:
    """Background work is kept, and runs only when a test lets it beat; children are functions."""

    def __init__(self, children: dict[str, Callable[[bytes], bytes]] | None = None) -> None:
        """``children`` by module."""
        self._children = children or {}
        self.running: list[FakeBackground] = []

    def background(self, work: Callable[[Stopper], Awaitable[None]]) -> FakeBackground:
        """Keep it."""
        made = FakeBackground(work, self.running)
        self.running.append(made)
        return made

    def signal(self) -> FakeSignal:
        """A flag of this loop."""
        return FakeSignal()

    async def child(self, module: str, stdin: bytes, *, timeout: timedelta, memory_bytes: int) -> ChildEnd:
        """Call its function."""
        return ChildEnd(0, self._children[module](stdin), is_timed_out=False)


class FakeSignal(asyncio.Event):
    """An event is a flag; ``wait`` answers nothing."""

    async def wait(self) -> None:  # type: ignore[override]  # the port's answer
        """Until it is raised."""
        await super().wait()


class FakeBackground:
    """Work that beats once for each ``beat``."""

    def __init__(self, work: Callable[[Stopper], Awaitable[None]], running: list[FakeBackground]) -> None:
        """Not started yet."""
        self._work = work
        self._running = running
        self.left = 0

    async def beat(self, times: int = 1) -> None:
        """Let the interval pass so many times, then pause the work."""
        self.left = times
        await self._work(self)

    async def wait(self, duration: timedelta) -> bool:
        """The stopper's part: end when no beats are left."""
        self.left -= 1
        return self.left < 0

    async def stop(self) -> None:
        """End it."""
        self._running.remove(self)


type Act = ModelReply | Submitted | Exception | Callable[[], Awaitable[ModelReply]]


@dataclass
class FakeProvider:
    """Answers by its script, then with a standard reply; counts what arrived."""

    capability: Capability = field(default_factory=Capability)
    script: list[Act] = field(default_factory=list)
    found: dict[str, ModelReply | LookupReply | Submitted | Exception] = field(default_factory=dict)
    keys: list[DownstreamKey] = field(default_factory=list)
    lookups: list[DownstreamKey] = field(default_factory=list)
    polled: dict[str, ModelReply | PollReply | Exception] = field(default_factory=dict)
    polls: list[str] = field(default_factory=list)
    stopped: list[str] = field(default_factory=list)
    forgotten: list[str] = field(default_factory=list)
    stop_says: ProviderCancel = ProviderCancel.CONFIRMED
    name: str = "fake"
    model: str = "fake-1"
    route: str = "fake fake-1"
    bound: int | None = None

    def price(self, model: str, usage: Usage | None) -> int | None:
        """A micro-USD a token, for the one model it knows."""
        return None if usage is None or model != "fake-1" else usage.input + usage.output

    def most(self, request: ModelRequest) -> int | None:
        """What the test says."""
        return self.bound

    async def generate(self, request: ModelRequest, key: DownstreamKey, timeout: timedelta) -> ModelReply | Submitted:
        """The next act."""
        self.keys.append(key)
        act = self.script.pop(0) if self.script else a_reply()
        if isinstance(act, Exception):
            raise act
        return act if isinstance(act, ModelReply | Submitted) else await act()

    async def lookup(self, key: DownstreamKey, timeout: timedelta) -> ModelReply | LookupReply | Submitted:
        """What the test says of any key."""
        self.lookups.append(key)
        answer = self.found.get(key, self.found.get("*", LookupReply.NOT_FOUND))
        if isinstance(answer, Exception):
            raise answer
        return answer

    async def poll(self, reference: str, key: DownstreamKey, timeout: timedelta) -> ModelReply | PollReply:
        """What the test says of a reference; of any other, that it is worked on."""
        self.polls.append(reference)
        answer = self.polled.get(reference, PollReply.PENDING)
        if isinstance(answer, Exception):
            raise answer
        return answer

    async def stop(self, reference: str, timeout: timedelta) -> ProviderCancel:
        """What the test says."""
        self.stopped.append(reference)
        return self.stop_says

    async def forget(self, reference: str, timeout: timedelta) -> None:
        """Keep it no more."""
        self.forgotten.append(reference)
        self.polled[reference] = PollReply.GONE


def a_reply(text: str = '{"text":"yes"}') -> ModelReply:
    """A good reply of 7 + 3 tokens."""
    return ModelReply(text=text, finish="stop", model="fake-1", usage=Usage(input=7, output=3), request_id="req-1")
