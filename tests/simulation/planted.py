"""Bugs to plant: stores and queues that forget one thing, and durations that switch one guard off.

Each stands for a mistake that a change of the code could make. The code under test stays as it is; what it is given
lies to it.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import replace
from datetime import datetime, timedelta
from typing import Any, cast

from onceward.adapters.memory.store import MemoryStore
from onceward.domain.change import Counts, Fields, RowChange
from onceward.domain.names import JobId, TenantId
from onceward.domain.records import ColdItem
from onceward.domain.timing import Timing
from onceward.domain.transaction import Applied, Op, Refused, UpdateRow, WriteReply
from onceward.usecases.ports import DeadLetter, Queue, Store, Wakeup

type Rewrite = Callable[[RowChange], RowChange]


class RewritingStore:
    """A store that changes each change of a row before it applies it, and each reply before it returns it."""

    def __init__(
        self,
        store: Store,
        rewrite: Rewrite = lambda change: change,
        *,
        reply: Callable[[WriteReply], WriteReply] = lambda reply: reply,
        keeps: Callable[[Op], bool] = lambda _: True,
    ) -> None:
        """``keeps``: which parts of a transaction are applied at all."""
        self._store = store
        self._rewrite = rewrite
        self._reply = reply
        self._keeps = keeps

    def __getattr__(self, name: str) -> Any:
        """Everything else is the store's own."""
        return getattr(self._store, name)

    async def update_job(self, tenant_id: TenantId, job_id: JobId, change: RowChange) -> WriteReply:
        """Rewrite, then write."""
        return self._reply(await self._store.update_job(tenant_id, job_id, self._rewrite(change)))

    async def transact(self, ops: Sequence[Op], token: str) -> WriteReply:
        """Rewrite every row's part, and leave out what is not kept."""
        kept = [
            replace(op, change=self._rewrite(op.change)) if isinstance(op, UpdateRow) else op
            for op in ops
            if self._keeps(op)
        ]
        return self._reply(await self._store.transact(kept, token))


class OverwritingStore(RewritingStore):
    """Forgets that a cold item is put only where nothing is."""

    async def put_cold(self, item: ColdItem, expires_at: datetime) -> bool:
        """Put it whatever is there."""
        memory = cast("MemoryStore", self._store)
        memory.items.setdefault((item.tenant_id, item.job_id), {})[item.sort_key] = item
        return True


class JournalLosingStore(RewritingStore):
    """Says that an intent is durable, and it is not."""

    async def update_job(self, tenant_id: TenantId, job_id: JobId, change: RowChange) -> WriteReply:
        """Leave out the write of an intent."""
        is_journal = bool(change.set.get("open")) and "state" not in change.set
        if is_journal:
            change = replace(change, set=Fields(lease_until=change.set.get("lease_until")))
        return await self._store.update_job(tenant_id, job_id, change)


class ForgetfulQueue:
    """Loses every dead letter, and says that it was sent."""

    def __init__(self, queue: Queue) -> None:
        """Over a queue that does not."""
        self._queue = queue

    def __getattr__(self, name: str) -> Any:
        """Everything else is the queue's own."""
        return getattr(self._queue, name)

    async def bury(self, letter: DeadLetter) -> None:
        """Lose it."""


class DeafQueue(ForgetfulQueue):
    """Loses every wake-up, and says that it was sent."""

    async def wake(self, wakeup: Wakeup) -> None:
        """Lose it."""


class NoMargin(Timing):
    """Durations under which the guard before the socket never finds the lease too short."""

    @property
    def lease_margin(self) -> timedelta:
        """Less than nothing."""
        return timedelta(hours=-1)


def without(*conditions: type) -> Callable[[Store], Store]:
    """A store that does not check these conditions."""

    def rewrite(change: RowChange) -> RowChange:
        return replace(change, when=tuple(one for one in change.when if not isinstance(one, conditions)))

    return lambda store: cast("Store", RewritingStore(store, rewrite))


def not_counting(*names: str) -> Callable[[Store], Store]:
    """A store that does not add to these fields."""

    def rewrite(change: RowChange) -> RowChange:
        return replace(change, add=cast("Counts", {name: by for name, by in change.add.items() if name not in names}))

    return lambda store: cast("Store", RewritingStore(store, rewrite))


def not_setting(*names: str) -> Callable[[Store], Store]:
    """A store that leaves these fields as they were."""

    def rewrite(change: RowChange) -> RowChange:
        return replace(change, set=cast("Fields", {name: to for name, to in change.set.items() if name not in names}))

    return lambda store: cast("Store", RewritingStore(store, rewrite))


def never_due(store: Store) -> Store:
    """A store that takes every waiting row off the sweeper's list."""

    def rewrite(change: RowChange) -> RowChange:
        return replace(change, set=Fields(**{**change.set, "due": None})) if "due" in change.set else change

    return cast("Store", RewritingStore(store, rewrite))


def deaf_to_beats(store: Store) -> Store:
    """A store that answers heartbeats and does not prolong the lease."""

    def rewrite(change: RowChange) -> RowChange:
        return replace(change, set=Fields()) if set(change.set) == {"lease_until"} else change

    return cast("Store", RewritingStore(store, rewrite))


def leaving_out(*ops: type) -> Callable[[Store], Store]:
    """A store whose transactions lack a part."""
    return lambda store: cast("Store", RewritingStore(store, keeps=lambda op: not isinstance(op, ops)))


def forgetting_whose(store: Store) -> Store:
    """A store whose refusals do not tell whose token the row carries: no one can ask "was it me?"."""

    def reply(answer: WriteReply) -> WriteReply:
        if isinstance(answer, Applied) or answer.row is None:
            return answer
        return Refused(row=replace(answer.row, run_token=None, create_token=cast("Any", "")), is_row_refused=True)

    return cast("Store", RewritingStore(store, reply=reply))


def overwriting(store: Store) -> Store:
    """A store that overwrites cold items."""
    return cast("Store", OverwritingStore(store))


def losing_journals(store: Store) -> Store:
    """A store that loses intents."""
    return cast("Store", JournalLosingStore(store))


def losing_letters(queue: Queue) -> Queue:
    """A queue that loses dead letters."""
    return cast("Queue", ForgetfulQueue(queue))


def losing_wakeups(queue: Queue) -> Queue:
    """A queue that loses wake-ups."""
    return cast("Queue", DeafQueue(queue))
