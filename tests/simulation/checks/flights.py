"""Flights and their participants: counted exactly, never stale, never neither (invariants 2, 9, 10 and 13).

Judged after every write: who waits for a flight is among its participants, is counted, and joined while it was under
way; a shared result is the result of the very flight that its job waited for.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from tests.simulation.invariants import Checker

TERMINAL = frozenset({"succeeded", "failed", "cancelled"})


class FlightCheck:
    """Remembers which flight each job was seen in."""

    def __init__(self, checker: Checker) -> None:
        """Start before the first write."""
        self._checker = checker
        self._joined: dict[Any, Any] = {}

    def after_effect(self) -> None:
        """Judge every participant and every flight."""
        rows = {row.job_id: row for row in self._checker.world.store.rows.values()}
        if not any(row.participants is not None for row in rows.values()):
            return
        for row in rows.values():
            if row.state == "cancelled" and row.participants is None:
                self._checker.expect(13, row.cancel_requested_at is not None, "cancelled, and nobody asked for that")
            if row.flight is not None:
                self._participant(row, rows)
            if row.participants is not None and row.state not in TERMINAL:
                self._count(row, rows)
        self._open(rows)

    def _participant(self, row: Any, rows: dict[Any, Any]) -> None:
        """A join is of a flight under way; what was accepted is what that flight has accepted."""
        expect, flight = self._checker.expect, rows.get(row.flight)
        expect(9, flight is not None and flight.tenant_id == row.tenant_id, "a participant of no flight of its tenant")
        if flight is None:
            return
        if self._joined.get(row.job_id) != row.flight:
            self._joined[row.job_id] = row.flight
            expect(2, flight.state not in TERMINAL, "joined a flight that had {}", flight.state)
            expect(4, not row.open and not row.accepted, "joined with calls of its own")
        if row.state == "succeeded" and not row.accepted:
            expect(2, flight.state == "succeeded", "a shared result of a flight that has {}", flight.state)
            expect(10, row.spent.high == 0, "a participant was booked what its flight has spent")

    def _count(self, flight: Any, rows: dict[Any, Any]) -> None:
        """A flight under way counts exactly those who are in it."""
        inside = [row for row in rows.values() if row.flight == flight.job_id and row.state not in TERMINAL]
        inside = [row for row in inside if not row.open and not row.accepted]
        counted, there = flight.participants, len(inside)
        self._checker.expect(13, counted == there, "{} participants counted, {} are there", counted, there)

    def _open(self, rows: dict[Any, Any]) -> None:
        """The tenant's count is that of its flights that have not ended."""
        under_way = len([row for row in rows.values() if row.participants is not None and row.state not in TERMINAL])
        counted = sum(self._checker.world.store.open_flights.values())
        self._checker.expect(1, counted == under_way, "{} flights counted, {} under way", counted, under_way)
