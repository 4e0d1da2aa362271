"""What one write may do to a row: legal moves, fences, leases, counts, and what never changes (invariants 2 3 4 14 15).

The writer is known to the harness; which tokens it made is known from its ``Ids``. Times are true ones: clocks of
processes are off by at most half of the skew allowance.
"""

from __future__ import annotations

from dataclasses import fields
from datetime import timedelta
from functools import cache
from itertools import compress
from operator import attrgetter, is_not
from typing import TYPE_CHECKING, Any

from tests.simulation.checks.promised import ORPHANED, Process, wall

if TYPE_CHECKING:
    from tests.simulation.invariants import Checker

TERMINAL = frozenset({"succeeded", "failed", "cancelled"})
MOVES = {
    ("queued", "running"),
    ("queued", "cancelled"),
    ("running", "queued"),
    ("running", "waiting"),
    ("running", "needs_review"),
    ("running", "succeeded"),
    ("running", "failed"),
    ("running", "cancelled"),
    ("waiting", "running"),
    ("waiting", "queued"),
    ("waiting", "cancelled"),
    ("waiting", "succeeded"),
    ("waiting", "failed"),
    ("waiting", "needs_review"),
    ("needs_review", "running"),
    ("needs_review", "queued"),
    ("needs_review", "succeeded"),
    ("needs_review", "failed"),
    ("needs_review", "cancelled"),
    ("failed", "queued"),
    ("failed", "waiting"),
}
FOREVER = (
    "tenant_id",
    "job_id",
    "create_token",
    "fingerprint",
    "kind",
    "kind_version",
    "created_at",
    "created_by",
    "expires_at",
)
BOOKKEEPING = frozenset(
    {"due", "wake_at", "seq", "cancel_requested_at", "participants"}
)  # what others than the holder may write


class RowCheck:
    """Remembers every row as it was after the last effect."""

    def __init__(self, checker: Checker) -> None:
        """Start before the first write."""
        self._checker = checker
        self._seen: dict[Any, Any] = {}
        self._used_tokens: set[str] = set()
        self.held: dict[str, set[tuple[str, int, int]]] = {}
        self.sends: dict[str, set[tuple[int, int, Any]]] = {}
        self.epochs: dict[str, list[int]] = {}

    def after_effect(self, process: Process) -> bool:
        """Judge every row that changed; tells whether any did."""
        has_changed = False
        for place, row in self._checker.world.store.rows.items():
            before = self._seen.get(place)
            if before is row:
                continue
            has_changed = True
            self._seen[place] = row
            if before is None or before.job_id != row.job_id:
                self._born(row, before)
            else:
                self._moved(process, before, row)
            self._standing(row)
            self._remember(process, row)
        return has_changed

    def _born(self, row: Any, before: Any) -> None:
        """A new row is queued, or waits for a person's approval; it is due and untouched.

        Where there was a row ``before``, that one's time is over, by the fastest clock there is.
        """
        expect = self._checker.expect
        if before is not None:
            fastest = self._checker.world.loop.time() + self._checker.world.scenario.skew_seconds
            expect(8, before.expires_at <= wall(fastest), "a key has a new job, and the old one's time is not over")
        self._checker.last_created_at = self._checker.world.loop.time()
        fresh = (row.epoch, row.attempts, row.seq, row.run_token) == (1, 0, 1, None)
        expect(1, fresh and self._is_beginning(row), "a new row is not fresh")

    def _moved(self, process: Process, before: Any, row: Any) -> None:
        """One write of an existing row."""
        expect = self._checker.expect
        move = (str(before.state), str(row.state))
        changed = self._changed(before, row)
        expect(2, move[0] == move[1] or move in MOVES, "{} -> {} is no legal move", *move)
        expect(2, changed.isdisjoint(FOREVER), "what never changes has changed: {}", changed)
        expect(2, row.seq >= before.seq, "the transition count fell")
        expect(2, move[0] == move[1] or row.seq == before.seq + 1, "a transition is not counted once")
        self._epoch(before, row)
        self._accepted(before, row)
        if before.state in TERMINAL and row.epoch == before.epoch:
            is_left = row.participants is not None and not self._is_waited_for(row)  # what it holds may be erased
            is_asked = process.name.startswith("api") and row.participants is None and before.erased_at is None
            more = {"erased_at", "seq"} if is_left or is_asked else set()
            expect(2, changed <= {"due", "participants"} | more, "a terminal row changed: {}", changed)
        if before.state == "running":
            self._fence(process, before, row, changed)
        elif row.state == "running":
            self._claim(process, before, row)
        elif move[0] == move[1]:
            more = {"erased_at"} if row.state in TERMINAL else set()
            expect(3, changed <= BOOKKEEPING | more, "a row that nobody holds changed: {}", changed)
        self._attempts(process, before, row)

    def _is_waited_for(self, flight: Any) -> bool:
        """Whether a flight still owes somebody its end."""
        rows = self._checker.world.store.rows.values()
        return any(row.flight == flight.job_id and row.state not in TERMINAL for row in rows)

    def _changed(self, before: Any, row: Any) -> set[str]:
        """The names of the fields that differ."""
        names, values = _fields_of(row.__class__)
        old, new = values(before), values(row)
        touched = compress(zip(names, old, new, strict=True), map(is_not, old, new))
        return {name for name, was, is_now in touched if was != is_now}

    def _epoch(self, before: Any, row: Any) -> None:
        """Epochs rise by one, and only by a re-opening."""
        if row.epoch != before.epoch:
            is_reopened = before.state in ("failed", "needs_review") and self._is_beginning(row)
            self._checker.expect(
                15, is_reopened and row.epoch == before.epoch + 1, "the epoch changed by no re-opening"
            )
            self.epochs.setdefault(row.job_id, []).append(row.epoch)

    def _is_beginning(self, row: Any) -> bool:
        """Whether the row stands as an epoch begins."""
        return row.state == "queued" or (row.state, row.waiting_for) == ("waiting", "approval")

    def _accepted(self, before: Any, row: Any) -> None:
        """An accepted answer stays the accepted answer, and is there."""
        for step, ref in before.accepted.items():
            self._checker.expect(2, row.accepted.get(step) == ref, "the accepted answer of {} changed", step)
        items = self._checker.world.store.items.get((row.tenant_id, row.job_id), {})
        for step, ref in row.accepted.items():
            item = items.get(f"call#{ref.epoch:04d}#{step}#{ref.attempt:04d}")
            is_over = row.expires_at <= wall(self._checker.world.loop.time())  # TTL takes items and rows in any order
            is_good = is_over if item is None else getattr(item, "state", None) == "succeeded"
            self._checker.expect(2, is_good, "{} is accepted without a stored answer", step)

    def _fence(self, process: Process, before: Any, row: Any, changed: set[str]) -> None:
        """A running row is written by its holder, taken over after its lease, or only noted on."""
        expect = self._checker.expect
        if changed <= BOOKKEEPING:
            return
        if row.run_token == before.run_token:
            is_holder = row.run_token in process.tokens
            expect(3, is_holder, "{} wrote {} without the lease", process.name, changed)
            return
        now = wall(self._checker.world.loop.time())
        slowest = timedelta(seconds=self._checker.world.scenario.skew_seconds)
        is_over = before.lease_until is not None and now >= before.lease_until + slowest
        expect(3, is_over, "{} took a live lease over (until {}, at {})", process.name, before.lease_until, now)
        expect(3, row.state == "running" and row.run_token in process.tokens, "a lease changed hands by no takeover")
        self._new_token(row)

    def _claim(self, process: Process, before: Any, row: Any) -> None:
        """A claim brings a token that nobody ever had, and a lease."""
        expect = self._checker.expect
        expect(3, row.run_token in process.tokens, "a claim with a token that its process did not make")
        is_known = row.kind_version <= process.known_kinds.get(row.kind, 0)
        is_counted = row.attempts != before.attempts
        may = is_known or (self._is_orphan(before) and not is_counted)
        expect(18, may, "{} claimed a job of newer code than its own", process.name)
        self._new_token(row)

    def _is_orphan(self, row: Any) -> bool:
        """Whether any code may end the job, as none that knows its kind has, for so long."""
        now = wall(self._checker.world.loop.time()) + timedelta(seconds=self._checker.world.scenario.skew_seconds)
        ends = (row.deadline_at, row.cancel_requested_at, row.review_until)
        return any(at is not None and at + ORPHANED <= now for at in ends)

    def _new_token(self, row: Any) -> None:
        self._checker.expect(3, row.run_token not in self._used_tokens, "a run token was used twice")
        self._used_tokens.add(row.run_token)

    def _attempts(self, process: Process, before: Any, row: Any) -> None:
        """Attempts rise by one while running; one is given back only by a run that sent nothing."""
        expect = self._checker.expect
        step = row.attempts - before.attempts
        if row.epoch != before.epoch:
            return
        expect(4, step in (-1, 0, 1), "attempts jumped from {} to {}", before.attempts, row.attempts)
        if step == 1:
            expect(4, row.state == "running", "an attempt was counted on a row that does not run")
        if step == -1:
            has_sent = any(
                one.process == process.name and one.key.startswith(row.job_id) for one in self._checker.world.model.log
            )
            is_left = before.state == "running" and row.state != "running"
            expect(4, is_left and not has_sent, "an attempt was given back although something was sent in it")
        elif before.state == "queued" and row.state == "running":
            is_closing = before.attempts >= self._checker.most_attempts or before.cancel_requested_at is not None
            expect(4, step == 1 or is_closing or self._is_late(before), "a start was not counted")

    def _is_late(self, row: Any) -> bool:
        return bool(wall(self._checker.world.loop.time()) >= row.deadline_at - timedelta(seconds=2))

    def _standing(self, row: Any) -> None:
        """What is true of every row at every time."""
        expect = self._checker.expect
        expect(4, row.attempts <= self._checker.most_attempts, "{} attempts in one epoch", row.attempts)
        has_lease = row.run_token is not None and row.lease_until is not None
        expect(3, (row.state == "running") == has_lease or row.lease_until is None, "lease and state differ")
        expect(14, row.state in TERMINAL or row.due is not None, "{} and not due", row.state)
        is_letter_due = row.state == "failed" and row.error_code == "attempts_exhausted"
        expect(14, row.state not in TERMINAL or row.due is None or is_letter_due, "terminal and still due")
        expect(1, row.state != "waiting" or None not in (row.wake_at, row.waiting_for), "waiting for nothing")
        expect(10, row.state not in TERMINAL or row.open == (), "terminal with an open call")
        expect(2, (row.state == "succeeded") == (row.result is not None), "a result without success, or none with it")
        is_cancelled_first = row.cancel_requested_at is not None and row.state == "succeeded"
        expect(2, not is_cancelled_first, "a cancel was recorded before acceptance and lost")
        place = (row.tenant_id, row.identity)
        shard = self._checker.world.store.shards[place]
        expect(
            14,
            (shard == "review") == (row.state == "needs_review")
            or row.state in TERMINAL
            or row.due is None
            or row.state == "running",
            "{} is indexed under {}",
            row.state,
            shard,
        )

    def _remember(self, process: Process, row: Any) -> None:
        """Who held which attempt, and which sends were ever made durable."""
        if row.state == "running" and row.run_token in process.tokens:
            self.held.setdefault(process.name, set()).add((row.job_id, row.epoch, row.attempts))
        for call in row.open:
            sends = self.sends.setdefault(call.key, set())
            sends.add((call.epoch, call.attempt, call.sent_at))


@cache
def _fields_of(kind: Any) -> tuple[tuple[str, ...], attrgetter[tuple[Any, ...]]]:
    """The names of a row's fields, and what reads them all."""
    names = tuple(one.name for one in fields(kind))
    return names, attrgetter(*names)
