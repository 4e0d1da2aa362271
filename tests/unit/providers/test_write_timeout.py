"""A server that takes the connection and never reads: the call is left in bounded time, and it is a maybe.

The first byte has left, and how much the other side's kernel has taken nobody can tell: so a write that ran out of
time is no "not sent".
"""

from __future__ import annotations

import asyncio
import socket
from collections.abc import Iterator
from contextlib import suppress
from datetime import timedelta

import pytest

from onceward.errors import CallFailure
from onceward.providers import http
from onceward.usecases.ports import ModelRequest
from tests.unit.providers.asking import ENOUGH, KEY, SOON, Dialect, speaking

HUGE = ModelRequest(messages=(("user", "x" * (24 * 2**20)),), max_output_tokens=50)  # no kernel buffers as much


@pytest.fixture
def deaf() -> Iterator[socket.socket]:
    """A socket whose kernel takes connections, and whose owner reads nothing."""
    with socket.socket() as listener:
        listener.setsockopt(socket.SOL_SOCKET, socket.SO_RCVBUF, 4096)  # before it listens, so that connections have it
        listener.bind(("127.0.0.1", 0))
        listener.listen(5)
        yield listener


def failure_at(deaf: socket.socket, dialect: Dialect, hard_timeout: timedelta) -> CallFailure:
    """How a call with a huge prompt ends there."""

    async def run() -> CallFailure:
        async with speaking(dialect, f"http://127.0.0.1:{deaf.getsockname()[1]}/v1") as provider:
            with pytest.raises(CallFailure) as caught:
                await provider.generate(HUGE, KEY, hard_timeout)
            return caught.value

    return asyncio.run(run())


def taken(deaf: socket.socket) -> list[int]:
    """How many bytes of each connection had left; the clients have closed them, so reading comes to an end."""
    deaf.setblocking(False)
    counts: list[int] = []
    with suppress(BlockingIOError):
        while True:
            connection, _ = deaf.accept()
            counts.append(_bytes_of(connection))
    return counts


def _bytes_of(connection: socket.socket) -> int:
    """Read to the end, or to the reset."""
    count = 0
    with connection, suppress(ConnectionResetError):
        connection.setblocking(True)
        while piece := connection.recv(65536):
            count += len(piece)
    return count


@pytest.mark.parametrize("dialect", ["openai", "anthropic"])
def test_a_write_that_goes_nowhere_ends_by_its_own_limit(
    deaf: socket.socket, dialect: Dialect, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Long before the hard timeout: a model may think for minutes, a line that takes nothing need not be waited for."""
    monkeypatch.setattr(http, "WRITE", SOON)
    failure = failure_at(deaf, dialect, ENOUGH)

    assert (failure.error_class, failure.code, failure.was_sent) == ("outcome_unknown", "provider_timed_out", True)
    assert str(failure) == "WriteTimeout"  # and not the whole call's TimeoutError
    assert [0 < count < len(HUGE.messages[0][1]) for count in taken(deaf)] == [True]  # one send, not finished


@pytest.mark.parametrize("dialect", ["openai", "anthropic", "bedrock"])
def test_a_write_that_goes_nowhere_ends_at_the_hard_timeout(deaf: socket.socket, dialect: Dialect) -> None:
    """Where that comes first; the same maybe, and nobody sends again."""
    failure = failure_at(deaf, dialect, SOON)

    assert (failure.error_class, failure.code, failure.was_sent) == ("outcome_unknown", "provider_timed_out", True)
    assert [0 < count < len(HUGE.messages[0][1]) for count in taken(deaf)] == [True]
