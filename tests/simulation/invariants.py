"""The judge: it reads tables, queues and the provider's log after every effect, and at the end.

It imports nothing of ``onceward`` (a contract of import-linter says so) and compares states by their written words,
so a wrong table in the code cannot justify itself here. Each finding names the invariant of the design that it
breaks; what is found is written down, not raised: the code under test could swallow it.

A process frozen between its guard and the socket sends late, and no code can prevent that (the declared residual
risk): such a request is not blamed for its lateness, and what it cost may be missing in the books.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any

from tests.simulation.checks.books import check_books
from tests.simulation.checks.calls import CallCheck
from tests.simulation.checks.ends import check_end
from tests.simulation.checks.flights import FlightCheck
from tests.simulation.checks.items import ItemCheck
from tests.simulation.checks.privacy import check_privacy
from tests.simulation.checks.promised import Process
from tests.simulation.checks.rows import RowCheck

READS = ("store.get_", "store.list_", "store.due_page", "store.tenant_page", "store.count_due", "store.switched_off")
TERMINAL = frozenset({"succeeded", "failed", "cancelled"})


@dataclass(frozen=True, slots=True)
class Nobody:
    """Who writes at the end of a run: no process does."""

    name: str = "nobody"
    tokens: set[str] = field(default_factory=set)
    held_up: float = 0.0
    known_kinds: dict[str, int] = field(default_factory=dict)


NOBODY = Nobody()


class Checker:
    """All invariants of one run, over the ``World``: tables, queues, the provider's log, the clients' answers."""

    looks_after_reads = False

    def __init__(self, world: Any) -> None:
        """Watch every effect of every process, and every request that reaches the provider."""
        self.world = world
        self.most_attempts = world.scenario.most_attempts
        self.violations: list[str] = []
        self.checks = 0
        self.last_created_at = 0.0
        self.rows = RowCheck(self)
        self.items = ItemCheck(self)
        self.calls = CallCheck(self)
        self.flights = FlightCheck(self)
        world.watch.append(self.after_effect)
        world.model.on_arrival.append(self.calls.at_arrival)

    def blame(self, invariant: int, what: str) -> None:
        """Write down a violation, where it was seen."""
        trace = self.world.counter.trace
        where = trace[-1] if trace else "start"
        self.violations.append(f"invariant {invariant}: {what} [seen at {where}]")

    def expect(self, invariant: int, is_true: bool, what: str, *about: object) -> None:
        """Check one sentence; ``about`` goes into the gaps of ``what``, which are filled only for a violation."""
        self.checks += 1
        if not is_true:
            self.blame(invariant, what.format(*about) if about else what)

    def after_effect(self, process: Process, name: str) -> None:
        """Compare what the tables hold now with what they held before this effect.

        After a read nothing has changed; if it has, the next write or the end of the run shows it.
        """
        if name.startswith("store.") and (self.looks_after_reads or not name.startswith(READS)):
            self._look(process)

    def _look(self, process: Process) -> None:
        """Compare everything with what it was."""
        has_changed = self.rows.after_effect(process)
        self.items.after_effect(process)
        if has_changed:
            check_books(self)
            self.flights.after_effect()

    def job_of_key(self, key: str) -> Any:
        """The row whose calls carry this downstream key."""
        return next((row for row in self.world.store.rows.values() if key.startswith(row.job_id)), None)

    def is_all_final(self) -> bool:
        """Whether every stored job has ended, or is in review, and its dead letter is on its way no more."""
        return all(self._is_final(row) for row in self.world.store.rows.values())

    def _is_final(self, row: Any) -> bool:
        in_review = row.state == "needs_review" and row.wake_at is not None
        return in_review or (row.state in TERMINAL and row.due is None)

    def at_the_end(self) -> None:
        """Check what holds once nothing moves any more, and that nothing has changed unseen."""
        self._look(NOBODY)
        check_books(self)
        for error in (*self.world.errors, *self.world.events.errors):
            self.blame(17 if "returned and left" in str(error) else 0, f"a process ended by {error!r}")
        check_end(self)
        check_privacy(self)
        if self.world.scenario.judge is not None:
            self.world.scenario.judge(self)
