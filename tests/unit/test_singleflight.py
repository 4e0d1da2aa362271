"""One factory call, one deadline for the work, and a fate of their own for each participant."""

from __future__ import annotations

import asyncio

import pytest

from onceward.singleflight import DeadlineExceeded
from tests.support.flight_loop import RowLoop, fly
from tests.support.flights import Works, ask, flight

both_ways = pytest.mark.parametrize("eager", [False, True], ids=["lazy", "eager"])


@both_ways
def test_many_who_ask_at_once_share_one_call(eager: bool) -> None:
    """Twenty participants, one factory call, twenty values."""

    async def main(loop: RowLoop) -> tuple[list[object], int]:
        one, works = flight(), Works()
        return await asyncio.gather(*[ask(one, works) for _ in range(20)]), works.calls

    assert fly(main, eager=eager) == (["value"] * 20, 1)


@both_ways
@pytest.mark.parametrize("leaver", [0, 1, 4], ids=["first", "second", "last"])
def test_a_cancelled_participant_hurts_nobody_else(leaver: int, eager: bool) -> None:
    """SF-01, SF-02, SF-09: whoever leaves, the others get the value of the one call."""

    async def main(loop: RowLoop) -> None:
        one, works = flight(cancel_when_empty=True), Works()
        asked = [ask(one, works) for _ in range(5)]
        await asyncio.sleep(0.5)
        asked[leaver].cancel()
        answers = await asyncio.gather(*asked, return_exceptions=True)
        left = answers.pop(leaver)

        assert isinstance(left, asyncio.CancelledError)
        assert answers == ["value"] * 4
        assert works.calls == 1

    fly(main, eager=eager)


def test_a_participant_cancelled_with_the_answer_on_its_way_hurts_nobody_else() -> None:
    """SF-09: some are cancelled in the very tick in which the result is handed out."""

    async def main(loop: RowLoop) -> None:
        one = flight()
        gate: asyncio.Future[object] = loop.create_future()
        asked = [ask(one, lambda: gate) for _ in range(5)]
        await asyncio.sleep(1)
        gate.set_result("value")
        await asyncio.sleep(0)
        asked[1].cancel()
        await asyncio.sleep(0)
        asked[2].cancel()
        answers = await asyncio.gather(*asked, return_exceptions=True)

        assert answers[0] == answers[3] == answers[4] == "value"

    fly(main)


def test_a_timeout_is_its_participants_alone() -> None:
    """SF-15, SF-16: twenty time out one by one, nobody starts a call of their own, the patient one is served."""

    async def main(loop: RowLoop) -> None:
        one, works = flight(), Works(seconds=30)
        hasty = [one.do("k", works, timeout=1 + n) for n in range(20)]
        patient = one.do("k", works)
        errors = await asyncio.gather(*hasty, return_exceptions=True)

        assert {type(error) for error in errors} == {TimeoutError}
        assert loop.time() == 20
        assert await patient == "value"
        assert works.calls == 1

    fly(main)


def test_asyncio_timeouts_work_as_well() -> None:
    """``asyncio.timeout`` and ``wait_for`` around a participant end that one only."""

    async def main(loop: RowLoop) -> None:
        one, works = flight(), Works(seconds=5)
        other = ask(one, works)
        with pytest.raises(TimeoutError):
            await asyncio.wait_for(one.do("k", works), 1)
        with pytest.raises(TimeoutError):
            async with asyncio.timeout(1):
                await one.do("k", works)

        assert await other == "value"
        assert works.calls == 1

    fly(main)


@both_ways
def test_the_deadline_belongs_to_the_work(eager: bool) -> None:
    """It is fixed at the creation: those who join late do not put it off, and all hear of it at that instant."""

    async def main(loop: RowLoop) -> None:
        one, works = flight(work_timeout=10), Works(seconds=100)
        early = ask(one, works)
        await asyncio.sleep(9)
        late = ask(one, works)
        errors = await asyncio.gather(early, late, return_exceptions=True)

        assert [type(error) for error in errors] == [DeadlineExceeded, DeadlineExceeded]
        assert loop.time() == 10
        assert (works.calls, works.cancelled) == (1, 1)

    fly(main, eager=eager)


def test_every_work_has_its_own_deadline() -> None:
    """Keys entered one after another expire one after another, and one that ended in time is not missed."""

    async def main(loop: RowLoop) -> list[float]:
        one, ends = flight(work_timeout=10), []

        async def wait_for_end(key: str) -> None:
            with pytest.raises(DeadlineExceeded):
                await one.do(key, Works(seconds=100))
            ends.append(loop.time())

        asked = []
        for n in range(4):
            asked.append(loop.create_task(wait_for_end(str(n))))
            asked.append(ask(one, Works(seconds=2), key=f"quick {n}"))
            await asyncio.sleep(3)
        await asyncio.gather(*asked)
        return ends

    assert fly(main) == [10, 13, 16, 19]


def test_participants_do_not_wait_for_a_factory_that_will_not_die() -> None:
    """The deadline is told at once; the key's next call waits for the old factory, within its own deadline."""

    async def main(loop: RowLoop) -> None:
        one, running = flight(work_timeout=10), 0

        async def stubborn() -> object:
            nonlocal running
            assert running == 0
            running += 1
            try:
                await asyncio.sleep(100)
            except asyncio.CancelledError:
                await asyncio.sleep(25)
            running -= 1
            return "too late"

        for second in (10, 20, 30):
            with pytest.raises(DeadlineExceeded):
                await one.do("k", stubborn)
            assert loop.time() == second
        assert await one.do("k", Works(seconds=1)) == "value"
        assert loop.time() == 36
        await asyncio.sleep(0)
        assert len(one) == 0

    fly(main)


def test_the_last_to_leave_cancels_the_work_if_so_chosen() -> None:
    """``cancel_when_empty``: nobody pays for what nobody waits for; otherwise the work goes on to its end."""

    async def main(loop: RowLoop, *, cancel: bool) -> tuple[int, int, int]:
        one, works = flight(cancel_when_empty=cancel), Works()
        asked = [ask(one, works) for _ in range(3)]
        for participant in asked:
            await asyncio.sleep(0.1)
            participant.cancel()
        await asyncio.sleep(0.1)
        still_there = len(one)
        await asyncio.sleep(1)
        assert len(one) == 0
        return works.cancelled, still_there, one.counters.orphaned

    assert fly(lambda loop: main(loop, cancel=True)) == (1, 0, 1)
    assert fly(lambda loop: main(loop, cancel=False)) == (0, 1, 1)


@both_ways
@pytest.mark.parametrize("ticks", range(5))
def test_a_join_in_the_tick_of_the_last_leaving_is_served(ticks: int, eager: bool) -> None:
    """However many ticks lie between: it either keeps the work alive or starts the next; one factory runs at a time."""

    async def main(loop: RowLoop) -> None:
        one, running, calls = flight(cancel_when_empty=True), 0, 0

        async def works() -> object:
            nonlocal running, calls
            running, calls = running + 1, calls + 1
            assert running == 1
            try:
                await asyncio.sleep(1)
            finally:
                await asyncio.sleep(0)
                running -= 1
            return calls

        last = ask(one, works)
        await asyncio.sleep(0.5)
        last.cancel()
        for _ in range(ticks):
            await asyncio.sleep(0)
        assert await one.do("k", works) == calls
        assert calls <= 2
        assert ticks > 0 or calls == 1

    fly(main, eager=eager)
