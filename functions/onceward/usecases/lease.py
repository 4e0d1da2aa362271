"""A run's view of its lease, shared between its event loop and the heartbeat's thread.

The lease is prolonged by heartbeats and by journal writes, from two threads. Two such writes that overlap may be
applied in either order, so the view believes in a longer lease only when no write is on its way, and then in the
shortest of those that overlapped: it may think too little of the lease, never too much.
"""

from __future__ import annotations

import threading
from datetime import datetime, timedelta

from onceward.usecases.ports import Clock, Signal


class LeaseView:
    """Until when the job is surely ours, on both clocks, and what has been heard about it."""

    def __init__(self, clock: Clock, until: datetime, ends: float, stop: Signal) -> None:
        """``until`` on the wall clock, ``ends`` on the monotonic one, ``stop`` raised when the call must be dropped."""
        self._clock = clock
        self._until = until
        self._ends = ends
        self._lock = threading.Lock()
        self._pending: list[tuple[datetime, float]] = []
        self._in_flight = 0
        self.stop = stop
        self.is_lost = False
        self.cancel_requested_at: datetime | None = None

    def left(self) -> timedelta:
        """What is left by the more pessimistic clock: one may jump, the other may have slept with the process."""
        with self._lock:
            wall = self._until - self._clock.now()
            monotonic = timedelta(seconds=self._ends - self._clock.monotonic())
        return min(wall, monotonic)

    def begin(self, lease: timedelta) -> datetime:
        """A write that prolongs the lease is about to leave; returns the instant to write."""
        until = self._clock.now() + lease
        with self._lock:
            self._pending.append((until, self._clock.monotonic() + lease.total_seconds()))
            self._in_flight += 1
        return until

    def end(self, *, is_applied: bool) -> None:
        """That write has been answered; one that failed may still be applied late, so it keeps its say."""
        with self._lock:
            self._in_flight -= 1
            if self._in_flight > 0:
                return
            if is_applied:
                self._until = min(until for until, _ in self._pending)
                self._ends = min(ends for _, ends in self._pending)
            self._pending.clear()

    def lose(self) -> None:
        """Another run holds the job, or it has ended."""
        self.is_lost = True

    def hear_cancel(self, at: datetime) -> None:
        """Somebody asked to stop: the outgoing call is dropped now."""
        self.cancel_requested_at = at
        self.stop.set()
