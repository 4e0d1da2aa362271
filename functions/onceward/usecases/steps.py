"""The steps of one run: what is known of each, and whether it may be begun.

A step is asked once in an attempt, and asks the same in every attempt and after every deploy.
"""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from contextvars import ContextVar

from onceward.domain.job import AnswerRef, OpenCall
from onceward.domain.money import Cost
from onceward.domain.names import CallFingerprint, StepKey
from onceward.domain.policy import MAX_ACCEPTED_STEPS, KindPolicy, OnUnknown
from onceward.domain.records import Answer, answer_place
from onceward.domain.recovery import is_carried
from onceward.errors import JobFailure, LeaseLost, MayNotSend, StopRun
from onceward.usecases.bodies import load_body
from onceward.usecases.deps import Deps
from onceward.usecases.held_job import CANCELLED, HeldJob
from onceward.usecases.journal_call import Limits
from onceward.usecases.keep_answer import CHANGED, REPLY
from onceward.usecases.ports import ModelReply

_IN_STEP: ContextVar[bool] = ContextVar("in_step", default=False)


class Steps:
    """What a run's code has asked for; ``is_over``: that code has ended."""

    def __init__(self, deps: Deps, held: HeldJob, policy: KindPolicy, limits: Limits) -> None:
        """One per run."""
        self._deps = deps
        self._held = held
        self._policy = policy
        self._limits = limits
        self._begun: set[StepKey] = set()
        self.is_over = False

    async def known(self, step: StepKey, asked: CallFingerprint) -> ModelReply | None:
        """The step's accepted answer, if there is one; raises the failure that this attempt has had of it."""
        if _IN_STEP.get():
            # A wait for an answer would wait for the very step that it is in; and what a step has asked for is
            # accepted on its own, while the step around it runs again.
            raise JobFailure("a step's own code asks for no other step", code="step_in_step")
        accepted = self._held.job.accepted.get(step)
        if accepted is not None:
            return await self._recorded(step, accepted, asked)
        if step in self._held.failures:
            raise self._held.failures[step]
        return None

    async def _recorded(self, step: StepKey, ref: AnswerRef, asked: CallFingerprint) -> ModelReply:
        """The stored answer that the row names, if it answers this very question."""
        place = answer_place(ref.epoch, step, ref.attempt)
        item = await self._deps.store.get_cold(self._held.tenant_id, self._held.job_id, place)
        if not isinstance(item, Answer):
            raise JobFailure("an accepted answer is not there any more", code="answer_gone")
        if item.asked not in (None, asked):
            raise JobFailure("the accepted answer is to another question", code=CHANGED)
        reply = REPLY.validate_json(await load_body(self._deps.blob, item.body, item.blob_key))
        self._held.texts[step] = reply.text
        return reply

    def begin(self, step: StepKey, asked: CallFingerprint, *, is_local: bool = False) -> None:
        """Note that a step begins, or refuse what may not be sent, or run, at all; ``is_local``: it calls nobody."""
        lease, job = self._held.lease, self._held.job
        if lease.is_lost:
            raise LeaseLost("another run holds the job")
        if self.is_over or not (is_local or self._limits.may_send):
            raise MayNotSend("a closing run sends nothing, and neither does one whose code has ended")
        if is_local and lease.cancel_requested_at is not None:
            raise StopRun("a cancel is recorded", code=CANCELLED)
        if step in self._held.sent or step in self._begun:
            raise JobFailure("one attempt asks a step at most once", code="step_repeated")
        # What has begun counts too: of many at once none is journaled yet, and the row must have room for all.
        if len({*job.accepted, *(call.step for call in job.open), *self._begun, step}) > MAX_ACCEPTED_STEPS:
            raise JobFailure(f"a job has at most {MAX_ACCEPTED_STEPS} steps", code="too_many_steps")
        before = job.call_of(step)
        if before is not None and (is_local or before.asked not in (None, asked)):
            self._give_up(before)
            raise JobFailure("this step has been sent, and asked something else", code=CHANGED)
        self._begun.add(step)

    def _give_up(self, before: OpenCall) -> None:
        """A maybe that can never be asked again: where policy or a person allowed a second answer, it is only booked.

        Anywhere else it stays a maybe, which a person decides. So does what may have changed the world outside: failed,
        it could be reset, and be done once more.
        """
        may_repeat = self._policy.retry.on_unknown is OnUnknown.RETRY or is_carried(before, self._held.job.epoch)
        if may_repeat and before.target is None:
            self._held.close_call(before.step)
            self._held.book(Cost.maybe(before.max_cost), before)


@contextmanager
def within_step() -> Iterator[None]:
    """The kind's code is in a step that calls nobody."""
    before = _IN_STEP.set(True)
    try:
        yield
    finally:
        _IN_STEP.reset(before)
