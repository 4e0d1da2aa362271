"""Random schedules: joins, leaves, timeouts, errors, deadlines, stubborn factories and a close, all at random instants.

Every schedule is a number. Time is virtual and whole seconds, so instants can be compared exactly; pauses of a few
ticks put calls into the gaps between an end, its callback and a cancellation.
"""

from __future__ import annotations

import asyncio
from collections.abc import Callable
from dataclasses import dataclass, field
from random import Random

import pytest

from onceward.singleflight import Busy, Closed, DeadlineExceeded, SingleFlight, WorkCancelled
from tests.support.flight_loop import RowLoop, fly

PER_CHUNK = 2_000
QUICK, THOROUGH = range(3), range(3, 10)  # twenty thousand schedules in all


class Planned(Exception):
    """A factory that fails as planned; it carries the number of its call."""


@dataclass(slots=True)
class Pause:
    """Some ticks, then some seconds."""

    ticks: int
    seconds: int

    async def __call__(self) -> None:
        """Let others go on."""
        for _ in range(self.ticks):
            await asyncio.sleep(0)
        if self.seconds:
            await asyncio.sleep(self.seconds)


@dataclass(slots=True)
class Call:
    """One call of ``do`` with what came of it, and of its factory if it was the one to start the work."""

    number: int
    key: str
    ending: str
    work: Pause
    cleanup: Pause
    timeout: int | None
    cancel_after: Pause | None
    began_at: float = -1.0
    cancelled: bool = False
    origin: Call | None = None  # whose factory this call depends on
    present: list[asyncio.Future[int]] = field(default_factory=list)
    runs: int = 0
    ended_at: float | None = None


class Schedule:
    """One flight, some callers, and the promises checked as things happen."""

    def __init__(self, seed: int) -> None:
        """Draw everything that will happen."""
        self.draw = Random(seed)
        self.work_timeout, self.max_keys, self.max_waiters = (self.draw.randint(*of) for of in ((2, 6), (1, 3), (1, 4)))
        self.cancel_when_empty = self.draw.random() < 0.5
        self.close_after = self._pause(6) if self.draw.random() < 0.2 else None
        self.calls = [self._call(number) for number in range(self.draw.randint(3, 8))]
        self.starts = [self._pause(6) for _ in self.calls]
        self.closed_at: float | None = None
        self.latest: dict[str, Call] = {}
        self.running: set[str] = set()
        self.refused = 0

    def _pause(self, longest: int) -> Pause:
        return Pause(self.draw.choice((0, 0, 1, 2, 3)), self.draw.choice((0, self.draw.randint(0, longest))))

    def _call(self, number: int) -> Call:
        may_cancel, may_time_out = self.draw.random() < 0.4, self.draw.random() < 0.2
        return Call(
            number=number,
            key=self.draw.choice("aab"),
            ending=self.draw.choice(("value", "value", "error", "swallow", "cancel")),
            work=self._pause(7),
            cleanup=self._pause(3),
            timeout=self.draw.randint(1, 5) if may_time_out else None,
            cancel_after=self._pause(5) if may_cancel else None,
        )

    async def run(self, loop: RowLoop) -> None:
        """Let everything happen and compare it with the promises."""
        self.loop = loop
        self.flight = SingleFlight[str, int](
            work_timeout=self.work_timeout,
            max_keys=self.max_keys,
            max_waiters=self.max_waiters,
            cancel_when_empty=self.cancel_when_empty,
        )
        others = [loop.create_task(self._close(self.close_after))] if self.close_after else []
        await asyncio.gather(*[self._caller(*each) for each in zip(self.calls, self.starts, strict=True)], *others)
        await asyncio.sleep(2 * self.work_timeout + 20)
        self._check_end()

    async def _close(self, after: Pause) -> None:
        await after()
        self.closed_at = self.loop.time()
        await self.flight.aclose(limit=1)

    async def _caller(self, call: Call, start: Pause) -> None:
        await start()
        task = self.loop.create_task(self._participate(call))
        if call.cancel_after is not None:
            await call.cancel_after()
            call.cancelled = task.cancel()
        await asyncio.wait([task])
        assert not task.cancelled() or call.cancelled, "cancelled by somebody else's fate"
        if not task.cancelled():
            task.result()

    async def _participate(self, call: Call) -> None:
        call.began_at = self.loop.time()
        started = self.flight.counters.started
        try:
            future = self.flight.do(call.key, lambda: self._factory(call), timeout=call.timeout)
        except Busy:
            self._check_busy(call)
            return
        except Closed:
            assert self.closed_at is not None
            return
        if self.flight.counters.started > started:
            self.latest[call.key] = call
        call.origin = self.latest[call.key]
        assert call.origin is call or call.origin.ended_at is None, "joined a work whose factory had ended"
        call.origin.present.append(future)
        try:
            value = await future
        except Exception as error:  # noqa: BLE001 - each kind is judged
            self._check_error(call, call.origin, error)
        else:
            assert value == call.origin.number, "the value of another work"
            assert call.origin.ending in {"value", "swallow"}
            assert call.origin.ended_at == self.loop.time() <= call.origin.began_at + self.work_timeout

    async def _factory(self, call: Call) -> int:
        assert call.key not in self.running, "two factories of one key"
        assert call.runs == 0, "one work, two calls"
        call.runs += 1
        self.running.add(call.key)
        try:
            try:
                await call.work()
            except asyncio.CancelledError:
                await call.cleanup()
                if call.ending != "swallow":
                    raise
            if call.ending == "error":
                raise Planned(call.number)
            if call.ending == "cancel":
                raise asyncio.CancelledError
            return call.number
        finally:
            call.ended_at = self.loop.time()
            self.running.remove(call.key)

    def _check_busy(self, call: Call) -> None:
        self.refused += 1
        present = [one for one in self.latest[call.key].present if not one.done()] if call.key in self.latest else []
        assert len(present) == self.max_waiters or len(self.flight) == self.max_keys, "refused with room left"

    def _check_error(self, call: Call, origin: Call, error: Exception) -> None:
        now, deadline_at = self.loop.time(), origin.began_at + self.work_timeout
        right: dict[type[Exception], Callable[[], bool]] = {
            Planned: lambda: error.args == (origin.number,) and origin.ended_at == now <= deadline_at,
            WorkCancelled: lambda: origin.ending == "cancel" and origin.ended_at == now <= deadline_at,
            DeadlineExceeded: lambda: now == deadline_at and (origin.ended_at is None or origin.ended_at >= now),
            Closed: lambda: now == self.closed_at,
            TimeoutError: lambda: call.timeout is not None and now == call.began_at + call.timeout,
        }
        assert right[type(error)](), f"{error!r} at {now} for {call}"

    def _check_end(self) -> None:
        seen, works = self.flight.counters, {id(call.origin): call.origin for call in self.calls if call.origin}
        accepted = [call for call in self.calls if call.origin]
        assert len(self.flight) == 0
        assert not self.running
        assert seen.started == len(works)
        assert seen.joined == len(accepted) - len(works)
        assert seen.busy == self.refused
        assert seen.orphaned + seen.errors <= 2 * seen.started
        for work in works.values():
            assert all(future.done() for future in work.present), "a participant without an answer"
            assert work.runs == 1 or self.cancel_when_empty or self.closed_at is not None or self._came_too_late(work)

    def _came_too_late(self, work: Call) -> bool:
        """Whether its factory never began because the key's former one took until its deadline to die."""
        deadline_at = work.began_at + self.work_timeout
        former = [one for one in self.calls if one.key == work.key and one.ended_at is not None]
        return any(one.began_at <= work.began_at and (one.ended_at or 0) >= deadline_at for one in former)


@pytest.mark.parametrize("chunk", [*QUICK, *(pytest.param(one, marks=pytest.mark.thorough) for one in THOROUGH)])
def test_no_schedule_breaks_a_promise(chunk: int) -> None:
    """Two thousand schedules each: right answers at the right instants, one factory per key, nothing left behind."""
    for seed in range(chunk * PER_CHUNK, (chunk + 1) * PER_CHUNK):
        try:
            fly(Schedule(seed).run, eager=seed % 2 == 1, collect=False)
        except BaseException as error:
            error.add_note(f"schedule {seed}")
            raise
