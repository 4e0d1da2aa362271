"""The end of a flight, and the loop it belongs to."""

from __future__ import annotations

import asyncio
import threading
from typing import Any

import pytest

from onceward.singleflight import Closed, Reentrant, SingleFlight
from tests.support.flight_loop import RowLoop, fly
from tests.support.flights import working

type Flight = SingleFlight[str, int]

both_ways = pytest.mark.parametrize("eager", [False, True], ids=["lazy", "eager"])


@both_ways
def test_closing_refuses_fails_and_ends_everything(eager: bool) -> None:
    """Participants hear of it at once, as an error; the works are cancelled and awaited; new calls are refused."""

    async def main(loop: RowLoop) -> None:
        one: Flight = SingleFlight(work_timeout=60)
        asked = [one.do(key, working(30)) for key in "aab"]
        await asyncio.sleep(1)

        assert await one.aclose() == 0
        assert len(one) == 0
        assert [type(error) for error in await asyncio.gather(*asked, return_exceptions=True)] == [Closed] * 3
        with pytest.raises(Closed):
            one.do("a", working())
        assert await one.aclose() == 0
        assert loop.time() == 1

    fly(main, eager=eager)


def test_closing_takes_no_longer_than_its_limit() -> None:
    """Tasks that swallow their cancellation are counted, and what they do afterwards is nobody's error."""

    async def main(loop: RowLoop) -> None:
        one: Flight = SingleFlight(work_timeout=60)

        async def stubborn() -> int:
            try:
                await asyncio.sleep(30)
            except asyncio.CancelledError:
                await asyncio.sleep(30)
            raise ValueError("seen by nobody")

        asked = [one.do("a", stubborn), one.do("b", working(9))]
        await asyncio.sleep(1)

        assert await one.aclose(limit=2) == 1
        assert loop.time() == 3
        assert {type(error) for error in await asyncio.gather(*asked, return_exceptions=True)} == {Closed}
        await asyncio.sleep(60)
        assert len(one) == 0

    fly(main)


def test_closing_gives_what_has_been_found() -> None:
    """A work whose factory has just ended is settled, not failed."""

    async def main(loop: RowLoop) -> None:
        one: Flight = SingleFlight(work_timeout=60)
        closing: list[asyncio.Task[int]] = []

        async def ends() -> int:
            await asyncio.sleep(1)
            closing.append(loop.create_task(one.aclose()))
            return 1

        assert await one.do("k", ends) == 1
        assert await closing[0] == 0

    fly(main)


@both_ways
def test_a_factory_cannot_close_its_own_flight(eager: bool) -> None:
    """It would wait for itself."""

    async def main(loop: RowLoop) -> None:
        one: Flight = SingleFlight(work_timeout=60)
        with pytest.raises(Reentrant):
            await one.do("k", one.aclose)
        assert await one.do("k", working()) == 1

    fly(main, eager=eager)


def test_a_dying_factory_cannot_close_its_own_flight() -> None:
    """Nor can it from its cleanup, when its key is free already."""

    async def main(loop: RowLoop) -> None:
        one: Flight = SingleFlight(work_timeout=60)
        told: list[str] = []

        async def closes_in_cleanup() -> int:
            try:
                await asyncio.sleep(30)
            finally:
                try:
                    await one.aclose()
                except Reentrant:
                    told.append("reentrant")
            return 1

        asked = one.do("k", closes_in_cleanup)
        await asyncio.sleep(1)

        assert await one.aclose() == 0
        assert isinstance(asked.exception(), Closed)
        assert told == ["reentrant"]

    fly(main)


def test_no_timer_outlives_what_it_bounds() -> None:
    """A participant's timer ends with its wait, the flight's with the flight."""

    async def main(loop: RowLoop) -> None:
        one: Flight = SingleFlight(work_timeout=60)
        await one.do("k", working(), timeout=30)
        await asyncio.sleep(0)
        timers = [timer for *_, timer in loop._timers if not timer.cancelled()]

        assert len(timers) == 1  # the flight's own
        assert await one.aclose() == 0
        assert all(timer.cancelled() for timer in timers)

    fly(main)


def test_a_flight_belongs_to_the_loop_of_its_first_call() -> None:
    """It may be made anywhere; another loop, another thread, and a place without a loop are refused."""
    one: Flight = SingleFlight(work_timeout=60)
    refused: list[BaseException] = []

    async def elsewhere() -> None:
        with pytest.raises(RuntimeError, match="another event loop"):
            one.do("k", working(0))
        with pytest.raises(RuntimeError, match="another event loop") as info:
            await one.aclose()
        refused.append(info.value)

    def without_loop() -> None:
        with pytest.raises(RuntimeError) as info:
            one.do("k", working(0))
        refused.append(info.value)

    async def at_home() -> None:
        asked = one.do("k", working(0))
        for target in (without_loop, lambda: asyncio.run(elsewhere())):
            thread = threading.Thread(target=target)
            thread.start()
            await asyncio.to_thread(thread.join)
        assert await asked == 1

    asyncio.run(at_home())
    asyncio.run(elsewhere())

    assert len(refused) == 3


def test_the_real_eager_task_factory_works() -> None:
    """As installed by users: ``asyncio.eager_task_factory``, with a factory that never awaits."""

    async def main() -> list[int]:
        asyncio.get_running_loop().set_task_factory(asyncio.eager_task_factory)
        one: Flight = SingleFlight(work_timeout=60)

        async def at_once() -> int:
            return 1

        answers = await asyncio.gather(*[one.do("k", at_once) for _ in range(3)])
        assert one.counters.started + one.counters.joined == 3
        return answers

    assert asyncio.run(main()) == [1, 1, 1]


def test_a_task_that_cannot_be_made_leaves_nothing_behind() -> None:
    """A task factory of the user's that fails is the caller's error, and the key stays free."""

    def fails(*_: object, **__: object) -> Any:
        raise ZeroDivisionError

    async def main() -> None:
        loop = asyncio.get_running_loop()
        one: Flight = SingleFlight(work_timeout=60)
        loop.set_task_factory(fails)
        with pytest.raises(ZeroDivisionError):
            one.do("k", working(0))
        loop.set_task_factory(None)

        assert len(one) == 0
        assert await one.do("k", working(0)) == 1

    asyncio.run(main())
