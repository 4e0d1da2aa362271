"""What holds once faults have stopped and nothing moves any more (invariants 1, 4, 8, 10, 14)."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from tests.simulation.checks.promised import PRICE, wall
from tests.simulation.faults import Fault

if TYPE_CHECKING:
    from tests.simulation.invariants import Checker

TERMINAL = frozenset({"succeeded", "failed", "cancelled"})
DECLARED = "action.act"  # the kind of an action that is declared as a deployment does it
HARMLESS = frozenset(  # cost seconds, never an attempt
    {
        Fault.SDK_RETRY,
        Fault.LATE_RETRY,
        Fault.DUPLICATE,
        Fault.REORDER,
        Fault.STALE,
        Fault.CLOCK_AHEAD,
        Fault.CLOCK_BEHIND,
        Fault.NEWER_CODE,
    }
)


def check_end(checker: Checker) -> None:
    """Judge the whole run."""
    world = checker.world
    rows = list(world.store.rows.values())
    gone = {row.job_id for row in world.store.gone}
    for one in world.accepted:
        is_kept = one.job_id in gone or any(row.job_id == one.job_id for row in rows)
        checker.expect(1, is_kept, f"the job of {one.key} was accepted and is not there")
    for key in {one.key for one in world.accepted}:
        ids = {one.job_id for one in world.accepted if one.key == key} - gone
        checker.expect(8, len(ids) <= 1, f"{key} has led to {len(ids)} jobs")
    checker.expect(8, len(rows) == len({row.identity for row in rows}), "two rows for one identity")
    is_harmless = all(fault in HARMLESS for _, fault in world.counter.struck)
    for row in rows:
        checker.expect(1, row.state in TERMINAL or row.state == "needs_review", f"{row.job_id} ended {row.state}")
        _check_letters(checker, row)
        _check_costs(checker, row)
        _check_answer(checker, row)
        if is_harmless and not world.scenario.script and world.scenario.cancel_at is None:
            _check_one_attempt(checker, row)


def _check_letters(checker: Checker, row: Any) -> None:
    """An exhausted job, or one in review, has had a dead letter for its epoch; nothing else has one."""
    mine = [one for one in checker.world.queue.buried if one.job_id == row.job_id]
    is_dead = row.state == "needs_review" or (row.state == "failed" and row.error_code == "attempts_exhausted")
    if row.participants is not None and row.state == "failed":
        is_dead = False  # its participants have the letters
    about = row
    if row.flight is not None and row.state == "needs_review":  # one entry for all of them
        about = next(one for one in checker.world.store.rows.values() if one.job_id == row.flight)
        mine = [one for one in checker.world.queue.buried if one.job_id == about.job_id]
    has_one = any(one.epoch == about.epoch for one in mine)
    checker.expect(14, has_one or not is_dead, f"{row.state} without a dead letter")
    items = checker.world.store.items.get((row.tenant_id, row.job_id), {})
    was_reviewed = any(place.startswith("review#") for place in items)
    was_dead = row.state != "succeeded" or row.epoch > 1 or bool(checker.world.counter.struck) or was_reviewed
    checker.expect(14, is_dead or not mine or was_dead, "a dead letter of a job that was never dead")


def _check_costs(checker: Checker, row: Any) -> None:
    """Every possibly spent amount lies within the books' bounds; a residual request's cost may be missing.

    So may that of a maybe of a declared action: it names no most that a request may cost.
    """
    unbounded = {call.key for call in row.open if row.kind == DECLARED}
    arrivals = [one for one in checker.world.model.log if one.key.startswith(row.job_id) and one.done_at is not None]
    late = sum(PRICE for one in arrivals if one.number in checker.calls.residual or one.key in unbounded)
    truth = sum(PRICE for one in arrivals)
    high = row.spent.high + sum(call.max_cost for call in row.open)
    checker.expect(10, truth - late <= high, f"{truth} spent, the books say {row.spent.high} and {len(row.open)} open")
    checker.expect(10, row.spent.low <= truth, f"{truth} spent, the books say at least {row.spent.low}")


def _check_answer(checker: Checker, row: Any) -> None:
    """A result can be read, and it is one that the provider really computed for this job."""
    if row.state != "succeeded":
        return
    ref = row.result
    place = f"result#{ref.epoch:04d}#{ref.attempt:04d}"
    if ref.step is not None:
        place = f"call#{ref.epoch:04d}#{ref.step}#{ref.attempt:04d}"
    item = checker.world.store.items.get((row.tenant_id, row.job_id), {}).get(place)
    is_over = row.expires_at <= wall(checker.world.loop.time())  # then TTL may have taken it before the row
    checker.expect(2, item is not None or is_over, f"the accepted result {place} is not there")


def _check_one_attempt(checker: Checker, row: Any) -> None:
    """Without a real fault a job takes one attempt and one request per step."""
    checker.expect(4, row.attempts == 1, f"{row.attempts} attempts in a run without faults that cost one")
    checker.expect(4, row.state == "succeeded", f"ended {row.state} without a fault")
    bought = [step for step, ref in row.accepted.items() if not ref.is_local]
    if row.accepted:
        keys = [one.key for one in checker.world.model.log if one.key.startswith(row.job_id)]
        checker.expect(10, len(keys) == len(bought), f"{len(keys)} requests for {bought}")
