"""The journal of one run's calls: make ``sent`` durable before anything leaves, and guard what is about to leave.

What cannot be sent now leaves no trace of a maybe: what was known before a refused entry is what is known.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from datetime import datetime, timedelta

from onceward.domain.change import RowChange
from onceward.domain.ending import journal_change
from onceward.domain.flights import only_if_wanted
from onceward.domain.job import EarlierSend, Job, OpenCall
from onceward.domain.money import Cost
from onceward.domain.names import StepKey, downstream_key
from onceward.domain.policy import KindPolicy
from onceward.domain.recovery import MayResend, without_lookup
from onceward.domain.sending import BeforeSend, Guard, decide_send
from onceward.domain.states import CallState
from onceward.errors import JobFailure, StopRun
from onceward.usecases.deps import Deps
from onceward.usecases.held_job import CANCELLED, HeldJob
from onceward.usecases.ports import Target
from onceward.usecases.question import Question

MOST_JOURNALS = 3  # a process held up longer than the send window this often is in no state to spend money


@dataclass(frozen=True, slots=True, kw_only=True)
class Limits:
    """Until when this run may work: on the monotonic clock, the attempt's end and the invocation's less its settle."""

    attempt_ends: float
    invocation_ends: float
    job_deadline: datetime
    may_send: bool


class Journal:
    """Writes the intents of one run; what it learns it notes on the held job."""

    def __init__(self, deps: Deps, held: HeldJob, policy: KindPolicy, limits: Limits) -> None:
        """One per run."""
        self._deps = deps
        self._held = held
        self._policy = policy
        self._limits = limits
        self._booked: dict[StepKey, Cost] = {}

    async def write(self, step: StepKey, before: OpenCall | None, question: Question) -> tuple[OpenCall, float]:
        """Make ``sent`` durable and pass the guard; what cannot be sent now leaves no trace of a maybe.

        With the entry comes the monotonic instant that its send window counts from.
        """
        extra = self._second_purchase(before)
        for _ in range(MOST_JOURNALS):
            # Before the journal: whoever cannot read the switches must not leave a ``sent`` behind.
            await self._deps.switches.refresh()
            if self._is_switched_off(question.target):
                self.restore(step, before)
                raise StopRun("this kind or its provider is switched off", code=Guard.STOP_SWITCHED_OFF)
            await self._pass_breaker(step, before, question)
            call, noted_at = self._entry(step, before, question, extra), self._deps.clock.monotonic()
            self._keep_below_cap(call, before, extra)
            self._held.open_call(call)
            try:
                await self._held.prolong(lambda job, until: self._change(job, step, extra, until))
            except BaseException:
                self.restore(step, before)
                raise
            guard = self.guard(noted_at, question.target)
            if guard is Guard.SEND:
                self._held.sent.add(step)
                self._held.job = replace(self._held.job, spent=self._held.job.spent + extra)
                self._booked[step] = extra
                return call, noted_at
            if guard is not Guard.JOURNAL_AGAIN:
                self.restore(step, before)
                raise StopRun("nothing may be sent now", code=CANCELLED if guard is Guard.STOP_CANCEL else guard)
        self.restore(step, before)
        raise StopRun("this process keeps being held up", code=Guard.STOP_TIME)

    async def _pass_breaker(self, step: StepKey, before: OpenCall | None, question: Question) -> None:
        """Ask the target's circuit breaker, before anything is journaled; raises ``StopRun`` while it is open."""
        if self._deps.breakers is None or question.breaker is None:
            return
        try:
            await self._deps.breakers.admit(question.breaker)
        except BaseException:
            self.restore(step, before)
            raise

    def _change(self, job: Job, step: StepKey, extra: Cost, until: datetime) -> RowChange:
        """The journal's write; a flight's first send is journaled only while somebody waits for it."""
        change = journal_change(replace(job, spent=job.spent + extra), self._held.token, until)
        others = any(call.step != step for call in job.open)
        has_sent = bool(others or job.bought or self._held.sent) or job.spent != Cost.nothing()
        by = self._policy.coalesce
        return change if by is None else only_if_wanted(change, job, by.on_empty, has_sent=has_sent)

    def _keep_below_cap(self, call: OpenCall, before: OpenCall | None, extra: Cost) -> None:
        """Refuse a call that could take the job past its spend cap, possible spend included.

        The call itself counts as no more than its kind says that one can cost: its bound by size takes every byte for a
        token, and would refuse large documents that cost a quarter of it. What the books hold counts in full.
        Between this and the note of the call nothing is awaited: calls made at once cannot share what is left.
        """
        cap, job = self._policy.max_provider_cost, self._held.job
        others = sum(one.max_cost for one in job.open if one.step != call.step)
        if (
            cap is not None
            and job.spent.high + extra.high + others + min(call.max_cost, self._policy.max_call_cost) > cap
        ):
            self.restore(call.step, before)
            raise JobFailure("one more call could pass the job's spend cap", code="spend_cap_reached")

    def _second_purchase(self, before: OpenCall | None) -> Cost:
        """What an earlier maybe of this step may have cost: its entry is replaced, its money must stay in the books."""
        if before is None or self._is_deduped(before):
            return Cost.nothing()
        return Cost.maybe(before.max_cost)

    def _is_deduped(self, before: OpenCall) -> bool:
        """Whether one more send under this call's key changes nothing, by its target's own word."""
        capability, on_unknown = self._deps.promise_to(before), self._policy.retry.on_unknown
        found = without_lookup(before, capability, on_unknown, self._deps.timing, self._deps.clock.now())
        return isinstance(found, MayResend) and found.is_deduped

    def _most(self, question: Question) -> int:
        """What this call may cost while its outcome is unknown: by size and price; else what the kind says.

        Never cut to the kind's word: every amount that may have been spent is in the books (invariant 10).
        """
        return self._policy.max_call_cost if question.most is None else question.most

    def _entry(self, step: StepKey, before: OpenCall | None, question: Question, extra: Cost) -> OpenCall:
        """The journal's entry; a re-send keeps the key and the first instant, from which a dedup window counts.

        It names the maybe whose place it takes, and its bound covers that one too where nothing else does.
        """
        job, now, most = self._held.job, self._deps.clock.now(), self._most(question)
        earlier = None if before is None else _earlier(before, extra)
        return OpenCall(
            step=step,
            epoch=job.epoch,
            attempt=job.attempts,
            key=downstream_key(job.job_id, job.epoch, step) if before is None else before.key,
            state=CallState.SENT,
            sent_at=now,
            first_sent_at=now if before is None else before.first_sent_at,
            hard_timeout=self._policy.call_timeout,
            max_cost=most if earlier is None or earlier.is_booked else max(most, earlier.max_cost),
            asked=question.fingerprint,
            target=question.http,
            promised=self._deps.promised_by(question.http),
            repeats=earlier,
        )

    def restore(self, step: StepKey, before: OpenCall | None) -> None:
        """Nothing left this process for the new entry: what was known before is what is known, and what is booked."""
        extra = self._booked.pop(step, None)
        if extra is not None:
            self._held.job = replace(self._held.job, spent=self._held.job.spent.without(extra))
        if before is None:
            self._held.close_call(step)
        else:
            self._held.open_call(before)

    def guard(self, noted_at: float, target: Target) -> Guard:
        """Whether a request whose entry was written then may leave at this instant."""
        return decide_send(self._left(noted_at, target), self._deps.timing)

    def _left(self, noted_at: float, target: Target) -> BeforeSend:
        """What is left of every limit at this instant."""
        clock, limits = self._deps.clock, self._limits
        mono = clock.monotonic()
        return BeforeSend(
            lease_left=self._held.lease.left(),
            attempt_left=timedelta(seconds=limits.attempt_ends - mono),
            job_left=limits.job_deadline - clock.now(),
            invocation_left=timedelta(seconds=limits.invocation_ends - mono),
            since_journal=timedelta(seconds=mono - noted_at),
            hard_timeout=self._policy.call_timeout,
            is_cancelled=self._held.lease.cancel_requested_at is not None,
            is_switched_off=self._is_switched_off(target),
        )

    def _is_switched_off(self, target: Target) -> bool:
        """Whether an operator has stopped this kind or whom it calls, by what this process knows."""
        return self._deps.switches.is_off(self._held.job.kind, target.name)


def _earlier(before: OpenCall, extra: Cost) -> EarlierSend:
    """What a repeat keeps of the maybe that it repeats, until an answer says which of the two did what."""
    return EarlierSend(
        epoch=before.epoch,
        attempt=before.attempt,
        sent_at=before.sent_at,
        max_cost=before.max_cost,
        is_booked=extra != Cost.nothing(),
        promised=before.promised,
    )
