"""What a flight refuses: too many, too late, from elsewhere, from inside its own work, and what makes no sense."""

from __future__ import annotations

import asyncio

import pytest

from onceward.singleflight import Busy, DeadlineExceeded, Reentrant, SingleFlight
from tests.support.flight_loop import RowLoop, fly
from tests.support.flights import working

type Flight = SingleFlight[str, int]

both_ways = pytest.mark.parametrize("eager", [False, True], ids=["lazy", "eager"])


def test_when_keys_are_full_a_new_key_is_busy_and_a_known_one_can_be_joined() -> None:
    """The limit bounds works, not participants; it is free again when a work has ended."""

    async def main(loop: RowLoop) -> None:
        one: Flight = SingleFlight(work_timeout=60, max_keys=2)
        asked = [one.do(key, working()) for key in "ab"]
        with pytest.raises(Busy):
            one.do("c", working())
        asked.append(one.do("a", working()))

        assert await asyncio.gather(*asked) == [1, 1, 1]
        assert await one.do("c", working()) == 1
        assert (one.counters.started, one.counters.joined, one.counters.busy) == (3, 1, 1)

    fly(main)


def test_a_work_that_will_not_die_still_counts_as_a_key() -> None:
    """Given up is not ended: a flight of dead keys does not start more and more, but the key itself may go on."""

    async def stubborn() -> int:
        try:
            await asyncio.sleep(60)
        except asyncio.CancelledError:
            await asyncio.sleep(5)
        return 0

    async def main(loop: RowLoop) -> None:
        one: Flight = SingleFlight(work_timeout=10, max_keys=1)
        with pytest.raises(DeadlineExceeded):
            await one.do("a", stubborn)
        with pytest.raises(Busy):
            one.do("b", working())
        assert await one.do("a", working()) == 1
        assert await one.do("b", working()) == 1

    fly(main)


def test_participants_are_limited_and_those_who_left_make_room() -> None:
    """Beyond ``max_waiters`` a join is busy; a cancelled or timed out participant no longer counts."""

    async def main(loop: RowLoop) -> None:
        one: Flight = SingleFlight(work_timeout=60, max_waiters=3)
        stays, hasty, leaves = one.do("k", working(9)), one.do("k", working(), timeout=1), one.do("k", working())
        with pytest.raises(Busy):
            one.do("k", working())
        leaves.cancel()
        later = [one.do("k", working())]
        with pytest.raises(TimeoutError):
            await hasty
        later.append(one.do("k", working()))
        with pytest.raises(Busy):
            one.do("k", working())

        assert await asyncio.gather(stays, *later) == [1, 1, 1]
        assert one.counters.busy == 2

    fly(main)


@both_ways
def test_a_factory_that_asks_for_its_own_key_is_told_so(eager: bool) -> None:
    """SF-13: at once, before and after its first await; the key is usable afterwards."""

    async def main(loop: RowLoop) -> None:
        one: Flight = SingleFlight(work_timeout=60)

        async def at_once() -> int:
            return await one.do("k", working())

        async def later() -> int:
            await asyncio.sleep(1)
            return sum(await asyncio.gather(one.do("k", working())))

        for factory in (at_once, later):
            with pytest.raises(Reentrant):
                await one.do("k", factory)
        assert loop.time() == 1
        assert await one.do("k", working()) == 1

    fly(main, eager=eager)


@both_ways
def test_a_ring_of_works_ends_at_the_deadline(eager: bool) -> None:
    """SF-13, the long way round: through a child task, through another key, and from a cleanup."""

    async def main(loop: RowLoop) -> None:
        one: Flight = SingleFlight(work_timeout=10)

        async def by_child() -> int:
            await asyncio.sleep(0)
            async with asyncio.TaskGroup() as group:
                return await group.create_task(asked())

        async def asked() -> int:
            return await one.do("child", working())

        async def ping() -> int:
            await asyncio.sleep(0)
            return await one.do("pong", pong)

        async def pong() -> int:
            await asyncio.sleep(0)
            return await one.do("ping", ping)

        async def asks_in_cleanup() -> int:
            try:
                await asyncio.sleep(60)
            finally:
                await one.do("cleanup", working())
            return 0

        rings = [one.do("child", by_child), one.do("ping", ping), one.do("cleanup", asks_in_cleanup)]
        errors = await asyncio.gather(*rings, return_exceptions=True)
        await asyncio.sleep(20)

        assert {type(error) for error in errors} == {DeadlineExceeded}
        assert len(one) == 0

    fly(main, eager=eager)


def test_works_may_ask_for_other_keys() -> None:
    """A factory is an ordinary participant of any key but its own."""

    async def main(loop: RowLoop) -> int:
        one: Flight = SingleFlight(work_timeout=60)

        async def outer() -> int:
            return 1 + await one.do("inner", working())

        return await one.do("outer", outer)

    assert fly(main) == 2


@pytest.mark.parametrize("seconds", [0, -1, float("nan"), float("inf")])
def test_durations_must_bound_something(seconds: float) -> None:
    """Zero, negative, endless and not-a-number are refused before anything is started."""

    async def main(loop: RowLoop) -> None:
        one: Flight = SingleFlight(work_timeout=60)
        with pytest.raises(ValueError, match="work_timeout must be"):
            SingleFlight(work_timeout=seconds)
        with pytest.raises(ValueError, match="timeout must be"):
            one.do("k", working(), timeout=seconds)
        with pytest.raises(ValueError, match="limit must be"):
            await one.aclose(limit=seconds)
        assert len(one) == 0

    fly(main)


def test_limits_and_functions_are_checked() -> None:
    """A limit of nothing, a coroutine in place of its function, and a copier that cannot be called are refused."""

    async def main(loop: RowLoop) -> None:
        one: Flight = SingleFlight(work_timeout=60)
        with pytest.raises(ValueError, match="max_keys must be"):
            SingleFlight(work_timeout=60, max_keys=0)
        with pytest.raises(ValueError, match="max_waiters must be"):
            SingleFlight(work_timeout=60, max_waiters=0)
        with pytest.raises(TypeError, match="copy must be"):
            SingleFlight(work_timeout=60, copy="list")  # type: ignore[arg-type]
        coroutine = asyncio.sleep(0, 1)
        with pytest.raises(TypeError, match="factory must be"):
            one.do("k", coroutine)  # type: ignore[arg-type]
        coroutine.close()

    fly(main)


def test_the_counters_tell_what_happened() -> None:
    """Started, joined, busy, errors, orphaned, and the seconds that the answered participants waited."""

    async def main(loop: RowLoop) -> None:
        one: Flight = SingleFlight(work_timeout=5, max_waiters=2)
        asked = [one.do("k", working(3))]
        await asyncio.sleep(1)
        asked.append(one.do("k", working()))
        with pytest.raises(Busy):
            one.do("k", working())
        await asyncio.gather(*asked)
        one.do("left", working(1)).cancel()
        with pytest.raises(DeadlineExceeded):
            await one.do("late", working(9))
        seen = one.counters

        assert (seen.started, seen.joined, seen.busy, seen.errors, seen.orphaned) == (3, 1, 1, 1, 1)
        assert seen.waited == 3 + 2 + 5

    fly(main)
