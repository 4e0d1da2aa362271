"""The environment's one loop: what a task of a kind's code does to it ends neither the story nor what a log may say."""

from __future__ import annotations

import asyncio
import gc
import sys

import pytest

from onceward.adapters.dynamodb.table import Tables
from onceward.domain.timing import Timing
from onceward.handlers import wiring as module
from onceward.handlers.wiring import Wiring
from onceward.usecases.registry import Registry

SECRET = "Alice owes 5 EUR to Bob"


def an_environment() -> Wiring:
    """An environment that asks nothing of AWS."""
    return Wiring(tables=Tables(jobs="jobs", accounts="accounts"), timing=Timing(), registry=Registry())


async def exits() -> None:
    """A leg that ends the process, or so it means."""
    sys.exit(2)


def test_task_that_exits_does_not_end_the_other_jobs() -> None:
    """Asyncio raises ``SystemExit`` out of the loop itself; the story goes on where it was."""

    async def story() -> str:
        leg = asyncio.ensure_future(exits())
        await asyncio.sleep(0.01)
        return type(leg.exception()).__name__

    environment = an_environment()
    with environment.invocation():
        assert environment.run(story()) == "SystemExit"


def test_error_that_nobody_asked_for_is_logged_without_its_text(caplog: pytest.LogCaptureFixture) -> None:
    """A forgotten task's error is told by its class and line (invariant 12)."""

    async def fails() -> None:
        raise ValueError(SECRET)

    async def story() -> None:
        asyncio.ensure_future(fails())  # noqa: RUF006 - forgotten on purpose
        await asyncio.sleep(0)
        await asyncio.sleep(0)

    environment = an_environment()
    with environment.invocation():
        environment.run(story())
        gc.collect()

    assert "ValueError at test_wiring.py" in caplog.text
    assert SECRET not in caplog.text


def test_task_that_heeds_no_cancel_fails_its_invocation_in_bounded_time(monkeypatch: pytest.MonkeyPatch) -> None:
    """Invariant 17: it is named, loudly, and soon."""
    monkeypatch.setattr(module, "LAST_WAIT", 0.1)
    freed = asyncio.Event()

    async def clings() -> None:
        while not freed.is_set():
            try:
                await asyncio.sleep(0.01)
            except asyncio.CancelledError:
                continue

    async def story() -> None:
        asyncio.create_task(clings(), name="clinging")  # noqa: RUF006 - left on purpose
        await asyncio.sleep(0.01)

    environment = an_environment()
    with pytest.raises(RuntimeError, match="outlived their invocation: clinging"), environment.invocation():
        environment.run(story())

    async def end() -> None:
        freed.set()
        await asyncio.sleep(0.05)

    environment.run(end())
