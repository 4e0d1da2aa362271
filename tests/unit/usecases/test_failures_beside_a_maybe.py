"""A failure beside a call whose outcome is unknown: the maybe decides, whatever else went wrong (invariant 6)."""

from __future__ import annotations

import asyncio
import contextlib

import pytest

from onceward.domain.money import Cost
from onceward.domain.policy import Capability
from onceward.domain.states import AttemptOutcome, JobState, WaitingFor
from onceward.errors import CallFailure, JobFailure
from onceward.usecases.context import Context
from onceward.usecases.ports import ModelReply
from tests.support.builders import seconds
from tests.support.worker_world import Ask, Said, WorkerWorld

pytestmark = pytest.mark.anyio

LOOKUP = Capability(lookup_lag=seconds(1))
UNKNOWN = CallFailure("", code="connection_lost", error_class="outcome_unknown", was_sent=True)
REFUSED = CallFailure("", code="provider_refused_request", error_class="permanent", was_sent=True)
BUSY = CallFailure("", code="rate_limited", error_class="rate_limited", was_sent=True)
UNREACHABLE = CallFailure("", code="provider_unreachable", error_class="transient", was_sent=False)


async def first_then_second(context: Context, given: Ask) -> Said:
    """A kind that goes on after its first step has failed."""
    with contextlib.suppress(CallFailure):
        await context.model.generate("first", [("user", "x")])
    return Said.model_validate_json((await context.model.generate("second", [("user", "x")], answer=Said)).text)


@pytest.mark.parametrize("second", [REFUSED, BUSY, UNREACHABLE], ids=lambda failure: str(failure.code))
async def test_failure_after_a_maybe_leaves_the_maybe_for_a_person(second: CallFailure) -> None:
    """Neither a final failure nor a retry closes over it: reservation held, letter sent, bound in the books."""
    world = WorkerWorld(first_then_second)
    world.provider.script = [UNKNOWN, second]
    await world.create(reserved_micro_usd=5_000)
    await world.deliver()

    assert (world.row.state, world.account.reserved) == (JobState.NEEDS_REVIEW, 5_000)
    assert ([call.step for call in world.row.open], world.row.possible_spent) == (["first/1"], Cost.maybe(1_000))
    assert world.row.attempt is not None
    assert (world.row.attempt.outcome, world.row.attempt.error_code) == (AttemptOutcome.UNKNOWN, second.code)
    assert len(world.queue.dead_letters) == 1


async def test_failure_beside_a_request_under_way_is_a_maybe() -> None:
    """The other leg's request is on its way when the first is refused for good; its answer is then lost."""

    async def under_way() -> ModelReply:
        is_sent.set()
        for _ in range(20):  # the first leg has failed by then
            await asyncio.sleep(0)
        raise UNKNOWN

    async def refused() -> ModelReply:
        await is_sent.wait()
        raise REFUSED

    async def run(context: Context, given: Ask) -> Said:
        ask = context.model.generate
        await asyncio.gather(ask("first", [("user", "x")]), ask("second", [("user", "x")]))
        return Said(text="")

    is_sent = asyncio.Event()
    world = WorkerWorld(run)
    world.provider.script = [under_way, refused]
    await world.create()
    await world.deliver()

    assert (world.row.state, [call.step for call in world.row.open]) == (JobState.NEEDS_REVIEW, ["first/1"])


@pytest.mark.parametrize(
    "error", [ValueError("a bug"), JobFailure("", code="no_text")], ids=["a bug", "a failure on purpose"]
)
async def test_kind_s_own_error_after_a_maybe_is_a_maybe(error: Exception) -> None:
    """The kind's code swallowed the unknown outcome and then raised something else."""

    async def run(context: Context, given: Ask) -> Said:
        with contextlib.suppress(CallFailure):
            await context.model.generate("first", [("user", "x")])
        raise error

    world = WorkerWorld(run)
    world.provider.script = [UNKNOWN]
    await world.create()
    await world.deliver()

    assert world.row.state is JobState.NEEDS_REVIEW


async def test_output_that_does_not_fit_after_a_maybe_is_a_maybe() -> None:
    """An invalid output is final only where nothing is unknown."""

    async def run(context: Context, given: Ask) -> Said:
        with contextlib.suppress(CallFailure):
            await context.model.generate("first", [("user", "x")])
        return Said.model_validate_json("{}")

    world = WorkerWorld(run)
    world.provider.script = [UNKNOWN]
    await world.create()
    await world.deliver()

    assert world.row.state is JobState.NEEDS_REVIEW


async def test_attempt_that_runs_out_of_time_after_a_maybe_is_a_maybe() -> None:
    """Also where it is the guard that stops the second step."""
    worlds: list[WorkerWorld] = []

    async def run(context: Context, given: Ask) -> Said:
        with contextlib.suppress(CallFailure):
            await context.model.generate("first", [("user", "x")])
        worlds[0].clock.move(seconds(45))
        await context.model.generate("second", [("user", "x")])
        return Said(text="")

    worlds.append(WorkerWorld(run))
    (world,) = worlds
    world.provider.script = [UNKNOWN]
    await world.create(attempts=2)
    await world.deliver()

    assert (world.row.state, len(world.provider.keys)) == (JobState.NEEDS_REVIEW, 1)


async def test_failure_beside_a_maybe_that_can_be_looked_up_waits_for_the_lookup() -> None:
    """A target that answers questions is asked before anyone is."""
    world = WorkerWorld(first_then_second)
    world.provider.capability = LOOKUP
    world.provider.script = [UNKNOWN, REFUSED]
    await world.create()
    await world.deliver()

    assert (world.row.state, world.row.waiting_for) == (JobState.WAITING, WaitingFor.LOOKUP)


async def test_failure_without_a_maybe_stays_what_it_is() -> None:
    """The control: an answered failure of both steps ends the job."""
    world = WorkerWorld(first_then_second)
    world.provider.script = [BUSY, REFUSED]
    await world.create()
    await world.deliver()

    assert (world.row.state, world.row.error_code) == (JobState.FAILED, "provider_refused_request")
