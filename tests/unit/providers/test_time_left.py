"""A call's time counts from where it was handed over: a key that comes late leaves less for the request, or nothing."""

from __future__ import annotations

import asyncio
import time
from dataclasses import dataclass, field
from datetime import UTC, datetime, timedelta

import pytest

from onceward.adapters.system import ThreadRunner
from onceward.domain.recovery import LookupReply
from onceward.errors import CallFailure, SecretUnavailable
from onceward.providers.anthropic_messages import AnthropicMessages, MessagesTarget
from onceward.providers.bedrock_converse import BedrockConverse, ConverseTarget
from onceward.providers.http import make_client
from onceward.providers.openai_chat import ChatTarget, OpenAIChat
from onceward.providers.time_left import TimeLeft
from onceward.usecases.ports import ModelReply
from tests.unit.providers.asking import ENOUGH, KEY, REQUEST, bedrock_client
from tests.unit.providers.scripted_server import Seen, answering, completion, serving, silence

MINUTE = timedelta(minutes=1)


@dataclass(slots=True)
class TwoClocks:
    """A wall clock and a monotonic one that a test moves apart."""

    wall: datetime = field(default_factory=lambda: datetime(2026, 11, 30, tzinfo=UTC))
    seconds: float = 0.0

    def now(self) -> datetime:
        """The wall clock."""
        return self.wall

    def monotonic(self) -> float:
        """The other one."""
        return self.seconds

    async def sleep(self, duration: timedelta) -> None:
        """Not at all."""

    def move(self, wall: timedelta, monotonic: timedelta) -> None:
        """Let time pass."""
        self.wall += wall
        self.seconds += monotonic.total_seconds()


type Passing = tuple[timedelta, timedelta]
BOTH: Passing = (MINUTE, MINUTE)
FROZEN: Passing = (MINUTE, timedelta(0))
SET_BACK: Passing = (-MINUTE, MINUTE)


async def with_key_after(
    passing: Passing, dialect: str, seen: Seen, use: str = "generate", timeout: timedelta = MINUTE
) -> object:
    """Call with a key that is there only when so much time has passed."""
    clock = TwoClocks()

    async def late() -> str:
        clock.move(*passing)
        return "sk-1"

    async with make_client() as client:
        provider: OpenAIChat | AnthropicMessages
        if dialect == "openai":
            provider = OpenAIChat(client, ChatTarget(base_url=seen.url, model="m"), late, clock)
        else:
            provider = AnthropicMessages(client, MessagesTarget(base_url=seen.url, model="m"), late, clock)
        if use == "lookup":
            return await provider.lookup(KEY, timeout)
        return await provider.generate(REQUEST, KEY, timeout)


@pytest.mark.parametrize("passing", [BOTH, FROZEN, SET_BACK])
@pytest.mark.parametrize("dialect", ["openai", "anthropic"])
def test_nothing_is_sent_when_the_key_came_too_late(dialect: str, passing: Passing) -> None:
    """Whichever clock says so; no maybe is left, for nothing left this process."""

    async def run() -> tuple[CallFailure, int]:
        async with serving(answering(200, completion())) as seen:
            with pytest.raises(CallFailure) as caught:
                await with_key_after(passing, dialect, seen)
            return caught.value, seen.connections

    failure, connections = asyncio.run(run())
    assert (failure.error_class, failure.code, failure.was_sent) == ("transient", "held_up", False)
    assert connections == 0


@pytest.mark.parametrize("dialect", ["openai", "anthropic"])
def test_what_the_key_took_is_gone_from_the_request_s_time(dialect: str) -> None:
    """A minute of a minute and 0.2 s: the request is left after 0.2 s, with a maybe."""

    async def run() -> CallFailure:
        async with serving(silence) as seen:
            with pytest.raises(CallFailure) as caught:
                await with_key_after(BOTH, dialect, seen, timeout=MINUTE + timedelta(seconds=0.2))
            return caught.value

    started = time.monotonic()
    failure = asyncio.run(run())
    assert (failure.code, failure.was_sent) == ("provider_timed_out", True)
    assert time.monotonic() - started < 30


def test_a_lookup_whose_key_came_too_late_found_nothing_out() -> None:
    """It is not sent, and proves nothing."""

    async def run() -> tuple[object, int]:
        async with serving(silence) as seen:
            return await with_key_after(BOTH, "openai", seen, "lookup"), seen.connections

    assert asyncio.run(run()) == (LookupReply.UNREACHABLE, 0)


def test_a_key_that_never_comes_is_waited_for_no_longer_than_the_call_may_take() -> None:
    """It is ours that did not answer: the attempt is given back."""

    async def never() -> str:
        await asyncio.Event().wait()
        raise AssertionError

    async def run() -> int:
        async with serving(silence) as seen, make_client() as client:
            provider = OpenAIChat(client, ChatTarget(base_url=seen.url, model="m"), never, TwoClocks())
            with pytest.raises(SecretUnavailable):
                await provider.generate(REQUEST, KEY, timedelta(seconds=0.05))
            return seen.connections

    assert asyncio.run(run()) == 0


def test_bedrock_sends_nothing_when_its_client_took_the_whole_time() -> None:
    """Making one reads files and credentials; the first call of a process pays for it with its own time."""

    async def run() -> tuple[CallFailure, int]:
        clock = TwoClocks()
        async with serving(silence) as seen:
            with ThreadRunner() as threads:

                def make(config: object) -> object:
                    clock.move(*BOTH)
                    return bedrock_client(seen.url, config)  # type: ignore[arg-type]

                provider = BedrockConverse(make, ConverseTarget(model="m"), threads, clock)  # type: ignore[arg-type]
                with pytest.raises(CallFailure) as caught:
                    await provider.generate(REQUEST, KEY, MINUTE)
            return caught.value, seen.connections

    failure, connections = asyncio.run(run())
    assert (failure.code, failure.was_sent, connections) == ("held_up", False, 0)


def test_bedrock_sends_nothing_from_a_thread_that_came_free_too_late() -> None:
    """Its caller may have left with a maybe; what leaves after that would be paid behind everybody's back."""

    class Queue:
        """Threads that are all taken for a minute."""

        def __init__(self, clock: TwoClocks) -> None:
            self._clock = clock

        async def call(self, blocking: object, /, **arguments: object) -> object:
            """Run it late."""
            self._clock.move(*BOTH)
            return blocking(**arguments)  # type: ignore[operator]

    async def run() -> tuple[CallFailure, int]:
        clock = TwoClocks()
        async with serving(silence) as seen:
            provider = BedrockConverse(
                lambda config: bedrock_client(seen.url, config),
                ConverseTarget(model="m"),
                Queue(clock),  # type: ignore[arg-type]
                clock,
            )
            with pytest.raises(CallFailure) as caught:
                await provider.generate(REQUEST, KEY, MINUTE)
            return caught.value, seen.connections

    failure, connections = asyncio.run(run())
    assert (failure.code, failure.was_sent, connections) == ("held_up", False, 0)


def test_the_clock_that_has_gone_further_counts() -> None:
    """A frozen process stops one; a correction sets the other back."""
    for passing in (BOTH, FROZEN, SET_BACK):
        clock = TwoClocks()
        running = TimeLeft(clock, ENOUGH + MINUTE)
        clock.move(*passing)

        assert running.left() == running.for_request() == ENOUGH


def test_a_key_in_time_changes_nothing() -> None:
    """Most are kept in memory and take no time at all."""

    async def run() -> object:
        async with serving(answering(200, completion())) as seen:
            return await with_key_after((timedelta(0), timedelta(0)), "openai", seen)

    assert isinstance(asyncio.run(run()), ModelReply)
