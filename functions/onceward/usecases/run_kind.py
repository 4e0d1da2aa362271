"""Run a kind's code in an attempt, within its time, and say how that ended; nothing is written to the row here.

Whatever the code does, it does to its own run alone: it has a task of its own, out of which nothing is raised, and a
task that does not heed its cancel is taken off the loop. The other jobs of the batch share that loop.
"""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Coroutine, Iterable
from contextlib import suppress
from contextvars import ContextVar, copy_context
from dataclasses import dataclass
from datetime import timedelta
from typing import Any

from pydantic import BaseModel

from onceward.domain.job import Job
from onceward.domain.records import INPUT_PLACE, Input
from onceward.domain.retry import ErrorClass
from onceward.domain.sending import Guard
from onceward.errors import CallFailure, InfrastructureError, JobFailure
from onceward.usecases.attempt_context import AttemptContext
from onceward.usecases.bodies import load_body
from onceward.usecases.deps import Deps
from onceward.usecases.held_job import HeldJob
from onceward.usecases.journal_call import Limits
from onceward.usecases.kind_end import Finished, KindEnd, Stopped, end_of
from onceward.usecases.make_call import CallMaker
from onceward.usecases.output_text import output_text
from onceward.usecases.registry import AnyKind
from onceward.usecases.stored_input import StoredInput

LET_GO = 1.0  # seconds from a cancel to its end: for a ``finally`` that closes things; well inside the settle budget
_RUN: ContextVar[object] = ContextVar("run")


@dataclass(frozen=True, slots=True)
class Raised:
    """What the kind's code raised, as a value: raised out of a task, ``SystemExit`` would end the whole loop."""

    error: BaseException


async def run_kind(deps: Deps, held: HeldJob, kind: AnyKind, limits: Limits) -> KindEnd:
    """Run the code once. Raises ``LeaseLost`` and ``InfrastructureError``: those are no fault of the attempt."""
    try:
        stored = await load_input(deps, held.job)
    except Exception as error:  # noqa: BLE001  # an input that newer code wrote, say
        return end_of(error)
    calls = CallMaker(deps, held, kind.policy, limits)
    context = AttemptContext(deps, held, calls, stored.documents)
    left = min(limits.attempt_ends, limits.invocation_ends) - deps.clock.monotonic()
    end = await _in_time(_contained(lambda: _output_of(kind, context, stored)), max(left, 0), calls, held.notes)
    if not isinstance(end, Raised):
        return Finished(end)
    try:
        return end_of(end.error)
    except InfrastructureError as error:
        if error.code == Guard.STOP_NO_SLOT and limits.may_send:
            return Stopped(error.code)  # what this attempt has sent and accepted stays its own: it goes on later
        raise


async def _output_of(kind: AnyKind, context: AttemptContext, stored: StoredInput) -> BaseModel:
    """All that is the kind's own code: its input, its function, its output and what that is charged by."""
    output = await kind.run(context, kind.input_model.model_validate(stored.input))
    output = kind.output_model.model_validate(output)
    try:
        output_text(output)
    except ValueError:
        raise CallFailure(
            "no JSON", code="invalid_output", error_class=ErrorClass.INVALID_OUTPUT, was_sent=True
        ) from None
    kind.pages_of(output)  # asked again when it is charged, where an error would be nobody's
    return output


async def _contained(start: Callable[[], Coroutine[Any, Any, BaseModel]]) -> BaseModel | Raised:
    """Await code that may raise anything: a panic of a library, an exit, a cancel of a task of its own.

    Only a cancel of this very task, which is ours, passes through. ``start``: what is cancelled before it began has
    made no coroutine that nobody awaits.
    """
    try:
        return await start()
    except BaseException as error:  # the one place where code that is not ours runs
        task = asyncio.current_task()
        if isinstance(error, asyncio.CancelledError) and task is not None and task.cancelling():
            raise
        return Raised(error)


async def _in_time(
    running: Coroutine[Any, Any, BaseModel | Raised], seconds: float, calls: CallMaker, notes: set[str]
) -> BaseModel | Raised:
    """Await the kind's code for so long; its own ``TimeoutError`` is a fault of its own, not the attempt's end."""
    run, scope = object(), copy_context()
    scope.run(_RUN.set, run)
    task = asyncio.create_task(running, context=scope)
    try:
        _, late = await asyncio.wait({task}, timeout=seconds)
        await _end(late, notes)
        if task.cancelled() and not late:
            return Raised(asyncio.CancelledError())  # by another task of the code's own
        return task.result() if not late or _has_output(task) else Raised(_too_long())
    finally:
        # What the code started and did not wait for, such as the other legs of a ``gather`` that failed, would send
        # for a run that is over. Tasks inherit their starter's context, so all of this run's are known; what they
        # have sent is waited for apart.
        await _end([one for one in asyncio.all_tasks() if one.get_context().get(_RUN) is run], notes)
        await calls.finish()


async def _end(tasks: Iterable[asyncio.Task[Any]], notes: set[str]) -> None:
    """Cancel tasks of the kind's code and wait until they have ended; those that cling on are closed where they stand.

    One that survives even that is found, named and reported by the invocation's end, which then fails (invariant 17).
    """
    waiting = set(tasks)
    for task in waiting:
        task.cancel()
    _, clinging = await asyncio.wait(waiting, timeout=LET_GO) if waiting else ((), ())
    for task in clinging:
        notes.add("kind_clings")
        coroutine = task.get_coro()
        if coroutine is not None:
            with suppress(Exception):
                coroutine.close()
        task.cancel()
    if clinging:
        await asyncio.wait(clinging, timeout=LET_GO)
    for task in waiting:
        if task.done() and not task.cancelled():
            task.exception()  # asked for, so that the loop does not log what it says


def _has_output(task: asyncio.Task[BaseModel | Raised]) -> bool:
    """Whether the code came to its end all the same, between its time's end and its cancel's."""
    return task.done() and not task.cancelled() and task.exception() is None and not isinstance(task.result(), Raised)


def _too_long() -> CallFailure:
    """The attempt's own time is up."""
    return CallFailure(
        "the attempt took too long", code="attempt_timeout", error_class=ErrorClass.TRANSIENT, was_sent=True
    )


def limits_of(deps: Deps, job: Job, timeout: timedelta, invocation_ends: float, *, may_send: bool) -> Limits:
    """Until when this run's code may work: the attempt's own end, and the invocation's less the time to settle.

    They are kept apart: an attempt that its own time ends has failed, one that its invocation cuts is given back.
    """
    ends = deps.clock.monotonic() + timeout.total_seconds()
    left = invocation_ends - deps.timing.settle_budget.total_seconds()
    return Limits(attempt_ends=ends, invocation_ends=left, job_deadline=job.deadline_at, may_send=may_send)


async def load_input(deps: Deps, job: Job) -> StoredInput:
    """What the client sent, and the documents it resolved to."""
    item = await deps.store.get_cold(job.tenant_id, job.job_id, INPUT_PLACE)
    if not isinstance(item, Input):
        raise JobFailure("the input is not there any more", code="input_gone")
    return StoredInput.model_validate_json(await load_body(deps.blob, item.body, item.blob_key))
