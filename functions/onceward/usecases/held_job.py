"""A job that a run holds: its own copy of the row, and the only way it writes to it.

Only the lease holder changes what a run knows (calls, answers, costs), so between two writes the copy is exact for
these fields. Writes are one at a time, also when a kind's code makes several calls at once.
"""

from __future__ import annotations

import asyncio
from collections.abc import Callable
from dataclasses import replace
from datetime import datetime
from typing import NoReturn

from onceward.domain.change import RowChange
from onceward.domain.ending import is_own_end, is_own_journal, is_own_next_attempt
from onceward.domain.flights import Boarding, is_wanted
from onceward.domain.job import AnswerRef, Job, OpenCall
from onceward.domain.money import Cost
from onceward.domain.names import JobId, RunToken, StepKey, TenantId
from onceward.domain.policy import KindPolicy
from onceward.domain.records import Answer
from onceward.domain.states import CallState, JobState
from onceward.domain.transaction import Refused
from onceward.errors import CallFailure, InfrastructureError, LeaseLost, StopRun, StoreUnavailable
from onceward.usecases.deps import Deps
from onceward.usecases.lease import LeaseView

CANCELLED = "cancelled"


class HeldJob:
    """The row under our token, its lease, and what was learned but is not yet written."""

    def __init__(self, deps: Deps, job: Job, token: RunToken, lease: LeaseView) -> None:
        """``job`` is the row as our claim left it.

        ``sent``: the steps that this run sent; ``texts``: the accepted answers that its code has read;
        ``failures``: steps that the present attempt sent in an earlier run, and that have failed since;
        ``became_unknown``: calls that were learned to be a maybe; ``boarding``: whether it went into a flight;
        ``crashed``: the flight of its question that had failed before.
        """
        self._deps = deps
        self._lock = asyncio.Lock()
        self.job = job
        self.token = token
        self.lease = lease
        self.sent: set[StepKey] = set()
        self.texts: dict[StepKey, str] = {}
        self.failures: dict[StepKey, CallFailure] = {}
        self.became_unknown = 0
        self.has_news = True  # or recovery found nothing out
        self.notes: set[str] = set()
        self.boarding: Boarding | None = None
        self.crashed: JobId | None = None
        self._is_uncertain = False

    @property
    def tenant_id(self) -> TenantId:
        """Whose job it is."""
        return self.job.tenant_id

    @property
    def job_id(self) -> JobId:
        """Which job it is."""
        return self.job.job_id

    async def prolong(self, build: Callable[[Job, datetime], RowChange]) -> None:
        """Write a change of a running row, which also prolongs the lease.

        After a write whose fate is unknown there is none of these any more: applied late, it would put an older
        journal over a newer one.
        """
        async with self._lock:
            if self._is_uncertain:
                raise StoreUnavailable("an earlier write of this run was not answered")
            until = self.lease.begin(self._deps.timing.lease)
            is_applied = False
            try:
                row = await self._write(build(self.job, until), may_have_ended=False)
                # A step that ended meanwhile has been noted on our copy and is newer than what this write carried.
                now = self.job
                self.job = replace(row, open=now.open, accepted=now.accepted, spent=now.spent, attempt=now.attempt)
                is_applied = True
            finally:
                self.lease.end(is_applied=is_applied)

    async def move(self, build: Callable[[Job], RowChange]) -> None:
        """Write a change of state or attempt; no call of the kind's code is running."""
        async with self._lock:
            self.job = await self._write(build(self.job))

    async def _write(self, change: RowChange, *, may_have_ended: bool = True) -> Job:
        """Apply a fenced change, or raise: ``StopRun`` for a cancel, ``LeaseLost`` when the job is another's."""
        try:
            reply = await self._deps.store.update_job(self.tenant_id, self.job_id, change)
        except (InfrastructureError, asyncio.CancelledError):
            self._is_uncertain = True  # a cancelled caller leaves at once, and its write goes on without it
            raise
        if isinstance(reply, Refused):
            row = reply.row
            if row is None or not self._is_own(row, change):
                return self.judge(reply, may_have_ended=may_have_ended)
        else:
            row = change.apply(self.job if reply.before is None else reply.before)
        if row.cancel_requested_at is not None:
            self.lease.hear_cancel(row.cancel_requested_at)
        return row

    def _is_own(self, row: Job, change: RowChange) -> bool:
        """Whether a refusal shows our own write, applied and repeated: it holds, and a cancel is heard after it."""
        is_next = is_own_next_attempt(row, self.token, change, self.job)
        return is_next or is_own_journal(row, self.token, change, self.job)

    def judge(self, refused: Refused, *, may_have_ended: bool = True) -> Job:
        """Say why a fenced write was refused; returns a row only if it was our own write, applied and retried.

        Only an ending can be refused by its own effect. A journal refused by an ended row must never count as
        written: whoever asks for it has outlived its run, and would pay without a record.
        """
        row = refused.row
        if may_have_ended and row is not None and is_own_end(row, self.token):
            return row
        is_ours = row is not None and row.run_token == self.token and row.state is JobState.RUNNING
        if row is not None and is_ours and row.cancel_requested_at is not None:
            self.lease.hear_cancel(row.cancel_requested_at)
            raise StopRun("a cancel is recorded", code=CANCELLED)
        if row is not None and is_ours and row.participants == 0:
            self._give_up()
        self.lease.lose()
        raise LeaseLost("another run holds the job")

    def heed_being_unwanted(self, policy: KindPolicy) -> None:
        """Stop a flight that nobody waits for (any more), as its kind says; raises ``StopRun``."""
        by, job = policy.coalesce, self.job
        has_sent = bool(job.open or job.bought) or job.spent != Cost.nothing()
        if by is not None and not is_wanted(job, by.on_empty, has_sent=has_sent):
            self._give_up()

    def _give_up(self) -> NoReturn:
        """A flight without participants is as good as cancelled: a job that joins it now goes on by itself."""
        self.lease.hear_cancel(self._deps.clock.now())
        raise StopRun("nobody waits for this flight any more", code=CANCELLED)

    def heed_cancel(self) -> None:
        """Take note, on our copy, of a cancel that a heartbeat or a refused write told of."""
        heard = self.lease.cancel_requested_at
        if heard is not None:
            self.job = replace(self.job, cancel_requested_at=heard)

    def forget(self, claimed: Job) -> None:
        """Give up what a look has learned: written down without its use, it would be no news to the next look."""
        kept = claimed
        self.job = replace(self.job, open=kept.open, accepted=kept.accepted, spent=kept.spent, attempt=kept.attempt)

    def open_call(self, call: OpenCall) -> None:
        """Note a call in place of an earlier one of its step; not durable before the next write."""
        before = self.job.call_of(call.step)
        if call.state is CallState.UNKNOWN and (before is None or before.state is not CallState.UNKNOWN):
            self.became_unknown += 1
        others = tuple(one for one in self.job.open if one.step != call.step)
        self.job = replace(self.job, open=(*others, call))

    def close_call(self, step: StepKey) -> None:
        """Note that nothing of this step is open any more."""
        self.job = replace(self.job, open=tuple(one for one in self.job.open if one.step != step))

    def accept(self, step: StepKey, answer: AnswerRef) -> None:
        """Note that a stored answer counts; durable, and so never bought again, with the next fenced write."""
        self.close_call(step)
        self.job = replace(self.job, accepted={**self.job.accepted, step: answer})

    def book(self, cost: Cost, sent: OpenCall | Answer) -> None:
        """Note what a call cost: on the job, and on its attempt if that is the present one."""
        present = self.job.attempt
        if present is not None and self.job.is_present(sent.epoch, sent.attempt):
            present = replace(present, cost=present.cost + cost)
        self.job = replace(self.job, spent=self.job.spent + cost, attempt=present)
