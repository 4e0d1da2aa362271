"""Kinds that misbehave: one kind's code ends its own job, in its own words, and nothing else."""

from __future__ import annotations

import asyncio
import sys
from typing import Any

import pytest
from pydantic import BaseModel, ConfigDict

from onceward.domain.deliveries import Acknowledge
from onceward.domain.states import JobState
from onceward.errors import CallFailure, InfrastructureError, StopRun, StoreUnavailable
from onceward.usecases.context import Context
from onceward.usecases.registry import Registry
from onceward.usecases.run_batch import run_batch
from onceward.usecases.run_job import Delivery, RunReport
from tests.support.builders import JOB_ID, TENANT, a_policy, seconds
from tests.support.worker_world import Ask, Said, WorkerWorld

pytestmark = pytest.mark.anyio
SECRET = "Alice owes 5 EUR to Bob"
REFUSED = CallFailure("", code="model_refused", error_class="policy_rejected", was_sent=True, model="fake-1")
BUSY = CallFailure("", code="rate_limited", error_class="rate_limited", was_sent=True)


class PanicError(BaseException):
    """What a library in another language raises for its own bugs: no ``Exception``."""


class OwnCode(StopRun):
    """An error of ours whose class a kind has given a code of its own."""

    code = SECRET


async def batch_of(world: WorkerWorld) -> RunReport:
    """One delivery as a batch of one."""
    world.queue.put("{}")
    receipt = world.queue.receive()[-1].receipt
    one = Delivery(
        tenant_id=TENANT,
        job_id=JOB_ID,
        receipt=receipt,
        receive_count=1,
        invocation_ends=world.clock.monotonic() + 900,
    )
    (report,) = await run_batch(world.deps(), [one])
    return report


def raising(make: Any) -> Any:
    """A kind whose code raises what ``make`` makes, when it runs."""

    async def run(context: Context, given: Ask) -> Said:
        raise make()

    return run


def in_group(*errors: Any) -> Any:
    """A kind whose legs raise these, each only after all have begun."""

    async def run(context: Context, given: Ask) -> Said:
        gate = asyncio.Barrier(len(errors))

        async def leg(error: BaseException) -> None:
            await gate.wait()
            raise error

        async with asyncio.TaskGroup() as group:
            for error in errors:
                group.create_task(leg(error))
        return Said(text="")

    return run


def of_output(model: Any, run: Any, **options: Any) -> WorkerWorld:
    """A world whose one kind has that output."""
    world = WorkerWorld()
    world.registry = Registry()
    world.registry.kind(policy=world.policy, input_model=Ask, output_model=model, **options)(run)
    return world


async def cancels_its_own_leg(context: Context, given: Ask) -> Said:
    """``CancelledError`` of the kind's own making."""
    leg = asyncio.create_task(asyncio.sleep(60))
    leg.cancel()
    await leg
    return Said(text="")


async def cancels_itself(context: Context, given: Ask) -> Said:
    """A kind that cancels the task that it runs in."""
    task = asyncio.current_task()
    assert task is not None
    task.cancel()
    await asyncio.sleep(0)
    return Said(text="")


async def panics(context: Context, given: Ask) -> Said:
    """Not an ``Exception``."""
    raise PanicError(SECRET)


async def exits(context: Context, given: Ask) -> Said:
    """What a command line's code does."""
    sys.exit(2)


@pytest.mark.failure_mode("F61")
@pytest.mark.parametrize("run", [cancels_its_own_leg, cancels_itself, panics, exits])
async def test_base_exception_of_a_kind_ends_its_attempt_and_not_the_batch(run: Any) -> None:
    """Whatever it is, it is a fault of that kind's code: tried again, told by class and line, its text by nobody."""
    world = WorkerWorld(run)
    await world.create()
    report = await batch_of(world)

    assert world.row.state is JobState.WAITING
    assert any("kind_error" in note for note in report.notes)
    assert SECRET not in repr(report)


@pytest.mark.parametrize(
    "make",
    [
        lambda: CallFailure("", code=SECRET, error_class="permanent", was_sent=True),
        lambda: InfrastructureError("", code=SECRET),
        lambda: StopRun("", code=SECRET),
        OwnCode,
    ],
    ids=["CallFailure", "InfrastructureError", "StopRun", "class"],
)
async def test_code_of_any_error_that_a_kind_raises_is_no_content(make: Any) -> None:
    """Every branch's code goes to rows, letters or logs: all are checked in one place (invariant 12)."""
    world = WorkerWorld(raising(make))
    await world.create()
    report = await world.deliver()

    assert SECRET not in repr((report, world.row, world.items))


@pytest.mark.parametrize(
    "make",
    [
        lambda: CallFailure("", code="x", error_class="no_such_class", was_sent=True),
        lambda: CallFailure.__new__(CallFailure),
    ],
    ids=["class", "never made"],
)
async def test_failure_that_is_none_is_a_fault_of_the_kind(make: Any) -> None:
    """An error of ours, made wrongly, must not break what reads it: the run ends by a write of its own."""
    world = WorkerWorld(raising(make))
    await world.create()
    report = await world.deliver()

    assert (world.row.state, world.row.attempt and world.row.attempt.error_code) == (JobState.WAITING, "kind_error")
    assert any("kind_error" in note for note in report.notes)


async def two_at_once(context: Context, given: Ask) -> Said:
    """Two legs, each asks."""
    async with asyncio.TaskGroup() as group:
        for step in ("one", "two"):
            group.create_task(context.model.generate(step, [("user", step)]))
    return Said(text="")


async def test_task_group_tells_the_failure_of_its_leg() -> None:
    """A final, charged refusal in a group is final: asked again, it would be paid again."""
    world = WorkerWorld(two_at_once)
    world.provider.script = [REFUSED, REFUSED]
    await world.create()
    await world.deliver()

    assert (world.row.state, world.row.error_code) == (JobState.FAILED, "model_refused")


@pytest.mark.parametrize(
    ("errors", "state", "attempts"),
    [
        ([StoreUnavailable("down")], JobState.QUEUED, 0),
        ([ValueError(SECRET), StoreUnavailable("down")], JobState.QUEUED, 0),
        ([StoreUnavailable("down"), REFUSED], JobState.FAILED, 1),
        ([ValueError(SECRET), BUSY], JobState.WAITING, 1),
        ([ExceptionGroup("", [ValueError(SECRET), ExceptionGroup("", [REFUSED])])], JobState.FAILED, 1),
        ([ValueError(SECRET), KeyError(SECRET)], JobState.WAITING, 1),
    ],
    ids=["outage", "outage beside a bug", "final beside an outage", "busy beside a bug", "nested", "bugs"],
)
async def test_most_telling_failure_of_a_group_decides(errors: Any, state: JobState, attempts: int) -> None:
    """Final, then unknown, then an outage (attempt given back), then what may be tried again, a bug last."""
    world = WorkerWorld(in_group(*errors))
    await world.create()
    await world.deliver()

    assert (world.row.state, world.row.attempts) == (state, attempts)
    assert SECRET not in repr((world.row, world.items))


class Score(BaseModel):
    """An output with a float."""

    score: float


class Loose(BaseModel):
    """An output of anything."""

    model_config = ConfigDict(arbitrary_types_allowed=True)
    what: Any


@pytest.mark.parametrize(
    ("model", "output"),
    [
        (Score, lambda: Score(score=float("nan"))),
        (Loose, lambda: Loose(what=object())),
        (Said, lambda: Said.model_construct(text="half \ud83d")),
    ],
    ids=["nan", "no json", "half a surrogate"],
)
async def test_output_that_is_no_json_is_invalid(model: Any, output: Any) -> None:
    """What not everybody can read is not stored, and ends where a kind's faults end."""

    async def run(context: Context, given: Ask) -> Any:
        return output()

    world = of_output(model, run)
    await world.create()
    await world.deliver()

    assert (world.row.state, world.row.error_code) == (JobState.FAILED, "invalid_output")
    assert [place for place in world.items if place.startswith("result")] == []


async def test_pages_that_cannot_be_counted_are_a_fault_of_the_kind() -> None:
    """``pages_of`` is the kind's code too: it is tried where its faults are taken, not first where money moves."""

    def pages(output: BaseModel) -> int:
        raise ValueError(SECRET)

    async def run(context: Context, given: Ask) -> Said:
        return Said(text="yes")

    world = of_output(Said, run, pages_of=pages)
    await world.create()
    report = await world.deliver()

    assert (world.row.state, report.bug) == (JobState.WAITING, None)


async def clings(context: Context, given: Ask) -> Said:
    """A kind that takes no notice of its cancel."""
    while True:
        try:
            await asyncio.sleep(0.1)
        except asyncio.CancelledError:
            continue


async def leaves_a_clinging_leg(context: Context, given: Ask) -> Said:
    """A kind that ends, with a leg that does not."""
    leg = asyncio.create_task(clings(context, given))
    await asyncio.sleep(0)
    assert not leg.done()
    return Said(text="yes")


@pytest.mark.timeout(30)
@pytest.mark.parametrize(
    ("run", "state"),
    [(clings, JobState.WAITING), (leaves_a_clinging_leg, JobState.SUCCEEDED)],
    ids=["itself", "its leg"],
)
async def test_kind_that_swallows_its_cancel_does_not_hold_the_batch(run: Any, state: JobState) -> None:
    """It is waited for a moment, then closed where it stands: settled in time, and nothing of it is left running."""
    before = asyncio.all_tasks()
    world = WorkerWorld(run, policy=a_policy(timeout=seconds(2), call_timeout=seconds(1)))
    await world.create()
    async with asyncio.timeout(8):
        report = await world.deliver()

    assert (world.row.state, asyncio.all_tasks() - before) == (state, set())
    assert "kind_clings" in report.notes
    assert state is not JobState.SUCCEEDED or report.disposition == Acknowledge()
