"""One paid call of one step: journal, guard, send, keep the answer.

The order is the whole point. ``sent`` is durable before the request leaves, so that a crash cannot hide a payment;
the guard asks once more before the socket, so that a process that was frozen in between does not pay late; the answer
is put as an item of its own attempt, the one thing a run that has lost its lease may still write; it counts when the
next fenced write names it.

=====================================  ====================================================================
we die                                 what is left, and who goes on
=====================================  ====================================================================
before the journal                     nothing was sent; the next run calls
between journal and answer item        a maybe: the next run recovers it (``recover_calls``)
between answer item and fenced write   the next run finds the item and adopts it; nothing is sent again
between reference and fenced write     the next run finds the reference, and polls
=====================================  ====================================================================
"""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable, Coroutine, Iterator
from contextlib import contextmanager
from contextvars import copy_context
from dataclasses import replace
from datetime import timedelta
from typing import Any, NoReturn

from onceward.domain.error_class import ErrorClass
from onceward.domain.job import OpenCall
from onceward.domain.names import CallFingerprint, StepKey
from onceward.domain.policy import KindPolicy
from onceward.domain.repeating import after_refusal
from onceward.domain.sending import Guard
from onceward.domain.states import CallState
from onceward.errors import (
    AnswerLater,
    CallFailure,
    InfrastructureError,
    StopRun,
    StoreUnavailable,
)
from onceward.usecases.breakers import watched
from onceward.usecases.deps import Deps
from onceward.usecases.held_job import CANCELLED, HeldJob
from onceward.usecases.journal_call import Journal, Limits
from onceward.usecases.keep_answer import keep_failure, keep_made, keep_reference, keep_reply
from onceward.usecases.local_slot import hold_slot
from onceward.usecases.ports import ModelReply, ModelRequest, Submitted
from onceward.usecases.question import Question, question_to_model
from onceward.usecases.steps import Steps, within_step

TURNS = 5  # of the event loop, in which a kind's code that was just answered comes to its next call


class CallMaker:
    """Makes the calls of one run; what it learns it notes on the held job."""

    def __init__(self, deps: Deps, held: HeldJob, policy: KindPolicy, limits: Limits) -> None:
        """One per run."""
        self._deps = deps
        self._held = held
        self._policy = policy
        self._limits = limits
        self._journal = Journal(deps, held, policy, limits)
        self._steps = Steps(deps, held, policy, limits)
        self._home = copy_context()  # calls belong to the run, whatever becomes of the task that asked
        self._calls: dict[StepKey, asyncio.Task[ModelReply | Submitted] | asyncio.Task[str]] = {}
        self._began = deps.clock.monotonic()
        self._works: set[asyncio.Future[None]] = set()
        self._left: set[StepKey] = set()

    async def ask(self, step: StepKey, request: ModelRequest) -> ModelReply:
        """The model's answer to a step; see ``call``."""
        return await self.call(step, question_to_model(self._deps.provider, request))

    async def call(self, step: StepKey, question: Question) -> ModelReply:
        """The step's accepted answer, or one call.

        A request that has left is let come to its answer although nobody waits for it any more (another leg of a
        ``gather`` failed, say): it is paid for. Where the provider answers later, the run ends here (``AnswerLater``),
        as soon as all else that the kind's code has begun has come as far. Raises ``CallFailure``, ``StopRun``,
        ``MayNotSend``, ``LeaseLost``, and ``JobFailure`` for a question that is not the one it asked before.
        """
        asked = question.fingerprint
        known = await self._steps.known(step, asked)
        if known is not None:
            return known
        self._steps.begin(step, asked)
        if self._is_submitted(step):
            return await self._wait_with_others()
        self._calls[step] = call = asyncio.create_task(self._call(step, question), context=self._home.copy())
        try:
            reply = await asyncio.shield(call)
        except asyncio.CancelledError:
            if step not in self._left:
                call.cancel()
            raise
        return await self._wait_with_others() if isinstance(reply, Submitted) else reply

    async def take(self, step: StepKey, asked: CallFingerprint, make: Callable[[], Awaitable[str]]) -> str:
        """The step's accepted result, or what ``make`` makes of it here: it calls nobody, and needs no slot or guard.

        The result counts, durably, before the kind's code has it. A closing run keeps none: nothing that it could send
        would rest on it. Raises ``StopRun``, ``LeaseLost``, what ``make`` raises, and ``JobFailure`` as a call does.
        """
        known = await self._steps.known(step, asked)
        if known is not None:
            return known.text
        self._steps.begin(step, asked, is_local=True)
        with self.working(), within_step():
            text = await make()
        if self._limits.may_send:
            keeping = keep_made(self._deps, self._held, step, asked, text)
            self._calls[step] = kept = asyncio.create_task(keeping, context=self._home.copy())
            return await asyncio.shield(kept)  # a write that is cut off is one that may have happened
        return text

    @contextmanager
    def working(self) -> Iterator[None]:
        """What the kind's code does besides, such as parsing a document: whoever waits for a provider waits for it."""
        work = asyncio.get_running_loop().create_future()
        self._works.add(work)
        try:
            yield
        finally:
            self._works.discard(work)
            work.set_result(None)

    def _is_submitted(self, step: StepKey) -> bool:
        """Whether a provider works on this step since an earlier run."""
        before = self._held.job.call_of(step)
        return before is not None and before.state is CallState.SUBMITTED

    async def _wait_with_others(self) -> NoReturn:
        """Let go only when nothing else is on its way: what is asked at once is submitted in one run.

        A kind's code that does more than it asks of its context is cut here, and runs again from its first line.
        """
        for _ in range(TURNS):
            while others := self._others():
                await asyncio.wait(others)
            await asyncio.sleep(0)
        raise AnswerLater("the provider answers later")

    def _others(self) -> list[asyncio.Future[Any]]:
        """What is under way."""
        return [*self._works, *(call for call in self._calls.values() if not call.done())]

    def latest_start(self, before: timedelta = timedelta(0)) -> float:
        """Until when something that takes ``before`` leaves time for a call after it, on the monotonic clock.

        An attempt too short for both, if each took all the time that it may, gives its first half to waiting.
        """
        call = self._policy.call_timeout if self._limits.may_send else timedelta(0)
        ends = min(self._limits.attempt_ends, self._limits.invocation_ends)
        latest = ends - (before + call).total_seconds()
        return latest if latest > self._began else (self._began + ends) / 2

    async def finish(self) -> None:
        """Wait until every request that has left is answered; the kind's code has ended, and nothing new is asked.

        The guard let each leave only with time for its hard timeout, so this ends within the attempt.
        """
        self._steps.is_over = True
        if not self._calls:
            return
        ends = min(self._limits.attempt_ends, self._limits.invocation_ends)
        _, late = await asyncio.wait(self._calls.values(), timeout=max(ends - self._deps.clock.monotonic(), 0))
        for call in late:
            call.cancel()
        await asyncio.gather(*self._calls.values(), return_exceptions=True)

    async def _call(self, step: StepKey, question: Question) -> ModelReply | Submitted:
        """One call, as soon as a slot is free."""
        async with hold_slot(self._deps.call_slots, self._deps.clock, self.latest_start()):
            before = self._held.job.call_of(step)
            call, noted_at = await self._journal.write(step, before, question)
            sending = self._send(call, before, question, noted_at)
            return await watched(self._deps.breakers, question.breaker, call.sent_at, sending)

    async def _send(
        self, call: OpenCall, before: OpenCall | None, question: Question, noted_at: float
    ) -> ModelReply | Submitted:
        """One request; its answer, good or bad, becomes an item before anything is made of it."""
        try:
            reply = await self.unless_cancelled(self._leave(call, question, noted_at))
        except CallFailure as failure:
            await self._note_failure(call, before, failure)
            raise
        except BaseException as ended:
            if call.step not in self._left or _is_unsent(ended):
                self._journal.restore(call.step, before)
                self._held.sent.discard(call.step)
            else:
                self._held.open_call(replace(call, state=CallState.UNKNOWN))
            raise
        if isinstance(reply, Submitted):
            await keep_reference(self._deps, self._held, call, reply.reference)
            return reply
        return await keep_reply(self._deps, self._held, call, reply, self._policy)

    async def unless_cancelled[Result](self, doing: Coroutine[Any, Any, Result]) -> Result:
        """What comes of it, unless a cancel comes first: a connection is dropped then, its outcome unknown.

        A lost lease does not stop a request that is under way: its answer is evidence for whoever holds the job now.
        """
        asking = asyncio.ensure_future(doing)
        stopped = asyncio.ensure_future(self._held.lease.stop.wait())
        try:
            await asyncio.wait((asking, stopped), return_when=asyncio.FIRST_COMPLETED)
            if asking.done():
                return asking.result()
            raise StopRun("a cancel is recorded", code=CANCELLED)
        finally:
            for task in (asking, stopped):
                task.cancel()
            await asyncio.gather(asking, stopped, return_exceptions=True)

    async def _leave(self, call: OpenCall, question: Question, noted_at: float) -> ModelReply | Submitted:
        """Ask the guard again in the very step in which the request leaves.

        This task was only made ready when the journal passed it; the batch's other jobs may have run since, and the
        process may have been frozen in one of them.
        """
        guard = self._journal.guard(noted_at, question.target)
        if guard is Guard.STOP_SWITCHED_OFF:
            raise StopRun("switched off before the socket", code=guard)
        if guard is not Guard.SEND:
            raise StoreUnavailable(f"held up before the socket: {guard}")
        self._left.add(call.step)
        return await question.send(call.key, call.hard_timeout)

    async def _note_failure(self, call: OpenCall, before: OpenCall | None, failure: CallFailure) -> None:
        """Not sent leaves no trace; an answered failure is recorded; anything else is a maybe.

        What a repeat is refused with leaves the send before it as it was (``domain/repeating.py``).
        """
        if not failure.was_sent:
            self._journal.restore(call.step, before)
            return
        if failure.error_class == ErrorClass.OUTCOME_UNKNOWN:
            self._held.open_call(replace(call, state=CallState.UNKNOWN))
            return
        refusal = await keep_failure(self._deps, self._held, call, failure, self._policy)
        self._held.job = after_refusal(self._held.job, call, refusal)


def _is_unsent(error: BaseException) -> bool:
    """Whether it was raised before anything left: held up or switched off before the socket, or an unreadable key."""
    is_switched_off = isinstance(error, StopRun) and error.code == Guard.STOP_SWITCHED_OFF
    return is_switched_off or isinstance(error, InfrastructureError)
