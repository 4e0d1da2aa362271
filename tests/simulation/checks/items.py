"""Cold items are written once, by a run that held their attempt (invariant 3), and never change (invariant 2)."""

from __future__ import annotations

from dataclasses import fields, replace
from operator import is_
from typing import TYPE_CHECKING, Any

from tests.simulation.checks.promised import Process

if TYPE_CHECKING:
    from tests.simulation.invariants import Checker


class ItemCheck:
    """Remembers every item."""

    def __init__(self, checker: Checker) -> None:
        """Start with none."""
        self._checker = checker
        self._seen: dict[tuple[Any, str], Any] = {}
        self._last: dict[Any, tuple[list[str], list[Any]]] = {}

    def after_effect(self, process: Process) -> None:
        """Judge new items; compare the others."""
        for owner, items in self._checker.world.store.items.items():
            if self._is_as_ever(owner, items):
                continue
            for place, item in items.items():
                known = self._seen.get((owner, place))
                if known is None:
                    self._seen[owner, place] = item
                    self._judge(process, place, item)
                elif known is not item:
                    is_kept = known == item or self._is_emptied(known, item)
                    self._checker.expect(2, is_kept, f"the item {place} changed")
                    self._seen[owner, place] = item

    def _is_as_ever(self, owner: Any, items: dict[str, Any]) -> bool:
        """Whether the very same items lie in the same places as when they were last looked at, as mostly they do."""
        places, things = self._last.get(owner, ([], []))
        if len(things) == len(items) and all(map(is_, things, items.values())) and places == list(items):
            return True
        self._last[owner] = [*items], [*items.values()]
        return False

    def _is_emptied(self, known: Any, item: Any) -> bool:
        """Whether it lost its content, and that alone, with a row that is marked as erased."""
        store = self._checker.world.store
        rows = (*store.rows.values(), *store.gone)
        content = {one.name for one in fields(known)} & {"body", "blob_key", "asked"}
        is_marked = any(row.job_id == item.job_id and row.erased_at is not None for row in rows)
        return is_marked and item == replace(known, **dict.fromkeys(content))

    def _judge(self, process: Process, place: str, item: Any) -> None:
        """A new item belongs to an attempt that its writer held, or is what its writer's lookup found."""
        held = self._checker.rows.held.get(process.name, set())
        kind = place.partition("#")[0]
        match kind:
            case "input" | "participant" | "seen" | "operation":
                return
            case "review" | "word":
                is_own = process.name.startswith("operator")
            case "call":
                looked_up = any(
                    (who, key) == (process.name, item.key) and is_found
                    for who, key, _, is_found in self._checker.world.model.lookups
                )
                is_own = (item.job_id, item.epoch, item.attempt) in held or looked_up
            case "result":
                is_own = (item.job_id, item.epoch, item.attempt) in held
                is_own = is_own or (process.name.startswith("operator") and item.attempt == 0) or self._is_shared(item)
            case "attempt":
                is_own = any(job == item.job_id and number >= item.number for job, _, number in held)
                is_own = is_own or self._is_last(item)
            case _:
                is_own = False
        self._checker.expect(3, is_own, f"{process.name} wrote {place}, an attempt it never held")

    def _is_shared(self, item: Any) -> bool:
        """Whether it is a participant's copy of what its flight has accepted: whoever sees that may put it."""
        rows = {row.job_id: row for row in self._checker.world.store.rows.values()}
        row = rows.get(item.job_id)
        flight = None if row is None else rows.get(row.flight)
        return row is not None and flight is not None and flight.state == "succeeded"

    def _is_last(self, item: Any) -> bool:
        """Whether it says what an exhausted row, or a resolved review, says of its last attempt.

        Whoever opens the job again keeps that, and so does a verdict.
        """
        rows = self._checker.world.store.rows.values()
        return any(
            row.state in ("failed", "needs_review")
            and (row.job_id, row.epoch, row.attempts) == (item.job_id, item.epoch, item.number)
            and (row.attempt.started_at, row.attempt.outcome) == (item.attempt.started_at, item.attempt.outcome)
            for row in rows
        )
