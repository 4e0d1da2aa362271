"""What must be true when a request reaches the provider (invariants 5, 6, 10 and 16)."""

from __future__ import annotations

from datetime import timedelta
from typing import TYPE_CHECKING, Any

from tests.simulation.checks.promised import LEASE_MARGIN, SEND_WINDOW, Arrival, wall

if TYPE_CHECKING:
    from tests.simulation.invariants import Checker

ON_THE_WAY = timedelta(milliseconds=50)  # from the guard to the socket: a few task switches and the port's latency
KNOWN_FOR = 5.0  # seconds for which a process may go by what it has read of the switches
MOST_LOST = 3  # after as many lost runs none of the kind's code may run again
SKEW = timedelta(seconds=1)  # what the clock of a person's process may be off by
NOTICEABLE = 0.001  # seconds; a process that was frozen between its guard and the socket sends late, whatever it does


class CallCheck:
    """Judges each request at the instant of its arrival, against the row as it is then."""

    def __init__(self, checker: Checker) -> None:
        """Nothing has arrived."""
        self._checker = checker
        self.residual: set[int] = set()

    def at_arrival(self, arrival: Arrival) -> None:
        """One request."""
        checker, world = self._checker, self._checker.world
        row = checker.job_of_key(arrival.key)
        checker.expect(5, row is not None, f"a request for no job: {arrival.key}")
        if row is None:
            return
        process = world.processes[arrival.process]
        if process.held_up > NOTICEABLE:
            self.residual.add(arrival.number)
        entry = next((call for call in row.open if call.key == arrival.key), None)
        is_late = arrival.number in self.residual
        if not is_late:
            self._in_time(arrival, row, entry, is_holder=row.run_token in process.tokens)
        self._repeated(arrival, row, is_late=is_late)
        self._counted(arrival)

    def _in_time(self, arrival: Arrival, row: Any, entry: Any, *, is_holder: bool) -> None:
        """The sender holds the job, has made the send durable, and has time for it."""
        expect = self._checker.expect
        now = wall(arrival.at)
        expect(5, entry is not None, "a request without a durable intent")
        expect(16, is_holder and row.state == "running", f"a request by who does not hold the job ({row.state})")
        if entry is None or not is_holder or row.state != "running":
            return
        expect(5, entry.step not in row.accepted, "a request for a step whose answer is accepted")
        known = self._checker.world.processes[arrival.process].known_kinds.get(row.kind, 0)
        expect(18, row.kind_version <= known, "a request by code that does not know the kind")
        expect(4, row.lost < MOST_LOST, f"a request of a job that was lost {row.lost} times")
        off = timedelta(seconds=self._checker.world.scenario.skew_seconds) + ON_THE_WAY
        expect(16, row.lease_until - now > LEASE_MARGIN - off, "a request inside the lease's margin")
        expect(16, now - entry.sent_at <= SEND_WINDOW + off, "a request outside the send window")
        expect(16, not self._is_switched_off(arrival.at), "a request while everything is switched off")
        expect(16, row.deadline_at - now >= timedelta(seconds=arrival.timeout) - off, "no time left for the call")

    def _is_switched_off(self, at: float) -> bool:
        """Whether the switch is off for longer than a process may go by what it has read, and a journal be old."""
        off = self._checker.world.scenario.off
        if off is None:
            return False
        return bool(off[0] + KNOWN_FOR + SEND_WINDOW.total_seconds() < at < off[1])

    def _repeated(self, arrival: Arrival, row: Any, *, is_late: bool) -> None:
        """What was computed once is not asked for again, unless the target dedupes or policy accepts it.

        Judged by what really happened: a lookup that finds nothing is no excuse, since it must have come too early.
        """
        world = self._checker.world
        for earlier in world.model.log[: arrival.number]:
            if step_of(earlier.key) != step_of(arrival.key) or earlier.number in self.residual or is_late:
                continue
            if world.scenario.on_unknown == "retry" or self._is_allowed(earlier, row):
                continue
            may = earlier.done_at is None or self._is_deduped(earlier, arrival)
            self._checker.expect(6, may, f"request {arrival.number} repeats {earlier.number}, which was computed")

    def _is_allowed(self, earlier: Arrival, row: Any) -> bool:
        """Whether a person has allowed, after the earlier request, that it may be paid a second time."""
        items: dict[str, Any] = self._checker.world.store.items.get((row.tenant_id, row.job_id), {})
        records = [item for place, item in items.items() if place.startswith("review#")]
        retries = [one.at for one in records if one.after.epoch > one.epoch]
        return any(wall(earlier.at) <= at + SKEW for at in retries)

    def _is_deduped(self, earlier: Arrival, arrival: Arrival) -> bool:
        window = self._checker.world.scenario.capability.dedup_window
        is_same = earlier.key == arrival.key
        return is_same and window is not None and arrival.at - earlier.at < window.total_seconds()

    def _counted(self, arrival: Arrival) -> None:
        """Requests seen are never more than sends recorded, per step and epoch."""
        sends = self._checker.rows.sends.get(arrival.key, set())
        seen = sum(1 for one in self._checker.world.model.log if one.key == arrival.key)
        self._checker.expect(10, seen <= len(sends), f"{seen} requests of {arrival.key}, {len(sends)} sends noted")


def step_of(key: str) -> tuple[str, ...]:
    """Which job and step a downstream key is for, whatever its epoch: the key is identity-suffix-epoch-step-digest."""
    identity, suffix, _, *step = key.split("-")
    return identity, suffix, *step
