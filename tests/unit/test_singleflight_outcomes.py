"""What participants get: the value, a copy, or the error; from a work that knows nothing of them, and keeps nothing."""

from __future__ import annotations

import asyncio
import gc
import weakref
from collections.abc import Awaitable
from contextvars import ContextVar, copy_context

import pytest

from onceward.singleflight import SingleFlight, WorkCancelled
from tests.support.flight_loop import RowLoop, fly
from tests.support.flights import LONG, Works, ask, flight

both_ways = pytest.mark.parametrize("eager", [False, True], ids=["lazy", "eager"])


@both_ways
def test_an_error_is_shared_once_and_not_kept(eager: bool) -> None:
    """SF-06: everyone present gets the same error from one call; the next call runs anew."""

    async def main(loop: RowLoop) -> None:
        one, broken = flight(), Works(ValueError("broken"))
        errors = await asyncio.gather(*[ask(one, broken) for _ in range(20)], return_exceptions=True)

        assert [str(error) for error in errors] == ["broken"] * 20
        assert len({id(error) for error in errors}) == 1
        assert broken.calls == 1
        assert await one.do("k", Works()) == "value"
        assert one.counters.errors == 1

    fly(main, eager=eager)


@pytest.mark.parametrize("cancel_when_empty", [False, True])
def test_an_error_that_nobody_waits_for_is_retrieved(cancel_when_empty: bool) -> None:
    """SF-04: no "exception was never retrieved", whether the work ends, is cancelled, or its task answers late."""

    async def fails_when_cancelled() -> object:
        try:
            await asyncio.sleep(5)
        finally:
            raise ValueError("seen by nobody")

    async def main(loop: RowLoop) -> None:
        one = flight(cancel_when_empty=cancel_when_empty)
        asked = [ask(one, fails_when_cancelled) for _ in range(3)]
        never_awaited = one.do("other", Works(ValueError("not awaited")))
        await asyncio.sleep(2)
        for participant in asked:
            participant.cancel()
        await asyncio.sleep(LONG)

        assert never_awaited.done()
        assert len(one) == 0

    fly(main)


def test_a_factory_that_is_no_coroutine_function_is_an_error_of_the_work() -> None:
    """What it raises, and what it returns that cannot be awaited, reaches its participants."""

    async def main(loop: RowLoop) -> None:
        one = flight()

        def fails() -> Awaitable[object]:
            raise LookupError("no such document")

        with pytest.raises(LookupError):
            await one.do("k", fails)
        with pytest.raises(TypeError):
            await one.do("k", lambda: 5)  # type: ignore[arg-type, return-value]

    fly(main)


def test_a_cancelled_work_is_no_cancellation_of_its_participants() -> None:
    """They get an error: a bare ``CancelledError`` would end the tasks that wait as if they had been cancelled."""

    async def main(loop: RowLoop) -> None:
        one = flight()
        with pytest.raises(WorkCancelled):
            await one.do("k", Works(asyncio.CancelledError()))

    fly(main)


@both_ways
def test_a_call_after_the_end_never_gets_what_was_found_before(eager: bool) -> None:
    """Not even between the factory's end and its callback; that late callback leaves the newer work alone."""

    async def main(loop: RowLoop) -> None:
        one, second = flight(), Works("second")
        gate: asyncio.Future[object] = loop.create_future()
        joined: list[asyncio.Future[object]] = []

        async def first() -> object:
            await gate
            loop.call_soon(lambda: joined.append(one.do("k", second)))  # runs before the callbacks of this task
            return "first"

        before = ask(one, first)
        await asyncio.sleep(1)
        gate.set_result(None)

        assert await before == "first"
        assert len(one) == 1
        for later in (joined[0], ask(one, second)):
            assert await later == "second"
        assert second.calls == 1
        assert (one.counters.started, one.counters.joined) == (2, 1)

    fly(main, eager=eager)


USER: ContextVar[str] = ContextVar("USER")


@pytest.mark.failure_mode("F41")
@both_ways
def test_the_work_sees_no_callers_context(eager: bool) -> None:
    """SF-14: the first caller's variables stay the first caller's; the factory starts with an empty context."""

    async def main(loop: RowLoop) -> None:
        one = flight()

        async def reads() -> object:
            await asyncio.sleep(1)
            return tuple(variable.name for variable in copy_context())

        async def user(name: str) -> object:
            USER.set(name)
            return await one.do("k", reads)

        assert set(await asyncio.gather(user("A"), user("B"))) == {()}

    fly(main, eager=eager)


def test_a_result_that_may_change_is_refused_or_copied() -> None:
    """What one participant does to its result, no other sees: unhashable results need ``copy``."""

    async def main(loop: RowLoop) -> None:
        with pytest.raises(TypeError, match="list may change"):
            await flight().do("k", Works([1]))
        with pytest.raises(TypeError, match="tuple may change"):
            await flight().do("k", Works(([1],)))

        one = SingleFlight[str, list[int]](work_timeout=LONG, copy=list)

        async def numbers() -> list[int]:
            await asyncio.sleep(1)
            return [1]

        first, second = one.do("k", numbers), one.do("k", numbers)
        (await first).append(2)
        assert await second == [1]

    fly(main)


def test_a_copy_that_fails_is_one_participants_error() -> None:
    """The others get theirs."""

    async def main(loop: RowLoop) -> None:
        copies = iter([KeyError("first copy"), [1]])

        def copy(_: object) -> object:
            copied = next(copies)
            if isinstance(copied, Exception):
                raise copied
            return copied

        one = flight(copy=copy)
        answers = await asyncio.gather(*[one.do("k", Works()) for _ in range(2)], return_exceptions=True)

        assert isinstance(answers[0], KeyError)
        assert answers[1] == [1]

    fly(main)


def test_a_copier_may_do_anything() -> None:
    """One that cancels a participant who is still to be served, or asks for the very key, breaks nothing."""

    async def main(loop: RowLoop) -> None:
        asked: list[asyncio.Future[object]] = []

        def copy(value: object) -> object:
            if len(asked) == 3:
                asked[1].cancel()
                asked.append(one.do("k", Works("asked by the copier")))
            return value

        async def ends() -> object:
            await asyncio.sleep(1)
            loop.call_soon(lambda: asked.append(one.do("k", Works("never needed"))))  # before this task's callbacks
            return "first"

        one = flight(copy=copy)
        asked += [one.do("k", ends), one.do("k", ends)]
        asked.append(one.do("other", Works(seconds=2)))
        answers = await asyncio.gather(*asked, return_exceptions=True)
        await asyncio.sleep(3)

        assert answers[0] == "first"
        assert isinstance(answers[1], asyncio.CancelledError)
        assert [one.result() for one in asked[2:]] == ["value", "asked by the copier", "asked by the copier"]

    fly(main)


def test_nothing_is_kept() -> None:
    """SF-17: after ten thousand keys the table is empty and no result is alive."""

    class Result:
        """Something to hold a weak reference to."""

    async def main() -> None:
        one, alive = flight(work_timeout=1e6), weakref.WeakSet[object]()

        async def makes() -> object:
            await asyncio.sleep(0)
            result = Result()
            alive.add(result)
            return result

        for n in range(10_000):
            await one.do(str(n), makes)
            assert len(one) <= 1
        await asyncio.sleep(0)  # the callback that woke this task still holds the last result
        gc.collect()

        assert len(one) == 0
        assert len(alive) == 0
        assert one.counters.started == 10_000

    asyncio.run(main())  # not the virtual loop: it remembers its tasks
