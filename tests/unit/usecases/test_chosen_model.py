"""A kind's own model, what a maybe may have cost, and the name under which a provider knows a failed call."""

from __future__ import annotations

from dataclasses import replace
from datetime import timedelta

import pytest

from onceward.domain.money import Cost
from onceward.domain.retry import ErrorClass
from onceward.domain.states import JobState
from onceward.errors import CallFailure
from onceward.usecases.run_job import Delivery, run_job
from tests.support.builders import JOB_ID, TENANT
from tests.support.fakes import FakeProvider
from tests.support.worker_world import WorkerWorld

pytestmark = pytest.mark.anyio


def a_maybe() -> CallFailure:
    """A call that was sent and never answered."""
    return CallFailure(code="provider_timed_out", error_class=ErrorClass.OUTCOME_UNKNOWN, was_sent=True)


async def deliver(world: WorkerWorld, **chosen: FakeProvider) -> None:
    """One delivery, where kinds have models of their own."""
    deps = replace(world.deps(), chosen={name.replace("_", "."): one for name, one in chosen.items()})
    world.queue.put("{}")
    delivery = Delivery(
        tenant_id=TENANT,
        job_id=JOB_ID,
        receipt=world.queue.receive()[-1].receipt,
        receive_count=1,
        invocation_ends=world.clock.monotonic() + timedelta(minutes=15).total_seconds(),
    )
    await run_job(deps, delivery, may_take_over=True)


async def test_a_kind_s_own_model_is_asked_and_booked() -> None:
    """Everybody's is left alone."""
    world, own = WorkerWorld(), FakeProvider(name="own")
    await world.create()
    await deliver(world, text_generate=own, other_kind=FakeProvider())

    assert world.row.state is JobState.SUCCEEDED
    assert (len(own.keys), world.provider.keys) == (1, [])
    assert world.items["call#0001#generate/1#0001"].provider == "own"


@pytest.mark.parametrize(("known", "bound"), [(None, 1_000), (400, 400), (5_000, 5_000)])
async def test_a_maybe_is_bounded_by_its_request_whatever_the_kind_says(known: int | None, bound: int) -> None:
    """Input counted, output capped, at the model's price; without a price the kind's maximum.

    Not cut to that: the books hold every amount that may have been spent (invariant 10).
    """
    world = WorkerWorld()
    world.provider.bound = known
    world.provider.script = [a_maybe()]
    await world.create()
    await world.deliver()
    row = world.row

    assert row.state is JobState.NEEDS_REVIEW
    assert [call.max_cost for call in row.open] == [bound]
    assert row.spent + Cost.maybe(bound) == Cost(low=0, high=row.spent.high + bound)


async def test_a_failed_call_keeps_the_provider_s_name_of_it() -> None:
    """For the person who has to ask there."""
    world = WorkerWorld()
    refusal = CallFailure(
        code="provider_refused_request", error_class=ErrorClass.PERMANENT, was_sent=True, request_id="req_7"
    )
    world.provider.script = [refusal]
    await world.create()
    await world.deliver()
    answer = world.items["call#0001#generate/1#0001"]

    assert world.row.state is JobState.FAILED
    assert (answer.error_code, answer.request_id) == ("provider_refused_request", "req_7")
