"""A synchronous handler on the virtual loop waits as its task does, and ends as it does."""

from __future__ import annotations

import asyncio

import pytest

from tests.simulation.bridge import Run, across
from tests.simulation.faults import Counter, Plan
from tests.simulation.process import Crashed, Died, Process
from tests.simulation.scheduler import VirtualLoop, simulate

MINUTE = 60.0


async def one_minute(answer: str) -> str:
    """A story that takes its time."""
    await asyncio.sleep(MINUTE)
    return answer


async def fails() -> None:
    """A story that ends badly."""
    raise LookupError("nothing there")


def test_handlers_wait_side_by_side() -> None:
    """Two invocations share the loop: what each of them runs takes its own virtual time, not the other's as well."""

    def handler(run: Run) -> list[str]:
        return [run(one_minute("first")), run(one_minute("second"))]

    async def main(loop: VirtualLoop) -> tuple[object, float]:
        return await asyncio.gather(across(handler), across(handler)), loop.time()

    assert simulate(main) == ([["first", "second"]] * 2, 2 * MINUTE)


def test_a_handler_may_catch_what_its_story_raises() -> None:
    """As it could where the story runs on a loop of its own."""

    def handler(run: Run) -> str:
        try:
            run(fails())
        except LookupError as error:
            return f"caught {error}"
        return "nothing was raised"

    async def main(_: VirtualLoop) -> str:
        return await across(handler)

    assert simulate(main) == "caught nothing there"


def test_what_a_handler_raises_reaches_its_caller() -> None:
    """Nothing is kept back."""

    def handler(run: Run) -> None:
        run(one_minute("and then"))
        raise ValueError("the handler's own")

    async def main(_: VirtualLoop) -> None:
        await across(handler)

    with pytest.raises(ValueError, match="the handler's own"):
        simulate(main)


def test_a_killed_process_unwinds_its_handler() -> None:
    """The handler goes no further, and whatever it holds is let go: nothing of it is left."""
    told: list[str] = []

    def handler(run: Run) -> None:
        try:
            run(one_minute("never heard"))
        except Exception:  # noqa: BLE001  # whatever a handler catches
            told.append("caught")
        finally:
            told.append("unwound")
        told.append("went on")

    async def main(loop: VirtualLoop) -> object:
        process = Process(loop, "api#1", Counter(Plan()))
        loop.call_later(MINUTE / 2, process.crash)
        return await process.run(across(handler))

    assert isinstance(simulate(main), Died)
    assert told == ["unwound"]


def test_a_dead_process_is_no_error_that_a_handler_could_catch() -> None:
    """It calls a port once more on its way out, and hears nothing."""

    async def dies() -> None:
        raise Crashed("api#1")

    def handler(run: Run) -> str:
        try:
            run(dies())
        except Exception:  # noqa: BLE001  # whatever a handler catches
            return "caught"
        return "went on"

    async def main(_: VirtualLoop) -> str:
        return await across(handler)

    with pytest.raises(Crashed):
        simulate(main)
