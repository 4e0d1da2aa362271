"""What no one else may see (invariants 9 and 12): content stays in its items, a tenant's things with the tenant."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from tests.simulation.checks.promised import CANARY

if TYPE_CHECKING:
    from tests.simulation.invariants import Checker


def check_privacy(checker: Checker) -> None:
    """Look through all that a run has left: rows, entries, messages, letters and errors."""
    world = checker.world
    ours = {row.tenant_id for row in world.store.rows.values()}
    for owner in (*world.store.items, *world.store.entries, *world.store.shards):
        checker.expect(9, owner[0] in ours or not ours, f"something of {owner[0]}, who has no job here")
    for (tenant, job_id), items in world.store.items.items():
        is_own = all((item.tenant_id, item.job_id) == (tenant, job_id) for item in items.values())
        checker.expect(9, is_own, f"an item of another lies among those of {job_id}")
    for place, thing in _open_things(world):
        checker.expect(12, CANARY not in thing, f"content in {place}: {thing[:200]}")


def _open_things(world: Any) -> list[tuple[str, str]]:
    """All that operators, logs and other functions may read, as text."""
    things = [("a row", repr(row)) for row in world.store.rows.values()]
    things += [("an entry", repr(entry)) for entry in world.store.entries.values()]
    things += [("a message", body) for body in (*world.queue.bodies, *world.queue.dead_letters)]
    things += [("a log line", line) for line in world.lines]
    things += [("an error", repr(error)) for error in (*world.errors, *world.events.errors)]
    return things
