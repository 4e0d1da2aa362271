"""How jobs end whose provider is still at work: cancels, deadlines, exhaustion, other failures, deploys."""

from __future__ import annotations

from datetime import timedelta
from typing import Any

import pytest

from onceward.domain.money import Cost
from onceward.domain.names import JobId, TenantId
from onceward.domain.policy import RetryPolicy
from onceward.domain.states import JobState, ProviderCancel, WaitingFor
from onceward.usecases.ports import Submitted
from tests.support.builders import JOB_ID, NOW, TENANT, a_policy, seconds
from tests.support.fakes import a_reply
from tests.support.hooked_store import HookedStore
from tests.support.later_world import BUSY, LOST, REFUSED, a_waiting_job, a_world, both

pytestmark = pytest.mark.anyio


@pytest.mark.parametrize("said", [ProviderCancel.CONFIRMED, ProviderCancel.REQUESTED, ProviderCancel.UNSUPPORTED])
async def test_cancel_reaches_the_provider_and_records_what_it_said(said: ProviderCancel) -> None:
    """The job ends as cancelled, its reservation is free, and what the work may have cost is in the books."""
    world = a_world()
    world.provider.stop_says = said
    await a_waiting_job(world, reserved_micro_usd=5_000)
    world.overwrite(cancel_requested_at=world.clock.now(), wake_at=world.clock.now())
    await world.deliver()

    assert (world.row.state, world.row.provider_cancel) == (JobState.CANCELLED, said)
    assert world.provider.stopped == ["work-1"]
    assert (world.row.spent, world.account.reserved) == (Cost.maybe(1_000), 0)


async def test_cancel_that_comes_as_the_run_lets_go_is_obeyed_at_once() -> None:
    """It was recorded between the submission and the wait: nobody waits an hour to hear of it."""
    world = a_world()
    await world.create()

    async def cancelled_first(method: Any, tenant_id: TenantId, job_id: JobId, change: Any) -> Any:
        if change.set.get("state") is JobState.WAITING and world.row.cancel_requested_at is None:
            world.overwrite(cancel_requested_at=NOW)
        return await method(tenant_id, job_id, change)

    await world.deliver(store=HookedStore(world.store, update_job=cancelled_first))

    assert (world.row.state, world.row.provider_cancel) == (JobState.CANCELLED, ProviderCancel.CONFIRMED)


async def test_deadline_ends_the_wait_and_the_work() -> None:
    """Nobody waits past it: the job fails, the provider is told, the bound is in the books."""
    world = a_world()
    await a_waiting_job(world, deadline_at=NOW + seconds(40))
    while not world.row.state.is_terminal and world.row.wake_at is not None:
        world.clock.jump(world.row.wake_at - world.clock.now())
        await world.deliver()

    assert (world.row.state, world.row.error_code) == (JobState.FAILED, "deadline_exceeded")
    assert (world.clock.now(), world.provider.stopped) == (NOW + seconds(40), ["work-1"])
    assert world.row.spent == Cost.maybe(1_000)


async def test_answer_that_is_there_at_the_deadline_still_counts() -> None:
    """A closing run polls, and runs the kind's code over what it found."""
    world = a_world()
    await a_waiting_job(world, deadline_at=NOW + seconds(40))
    world.provider.polled = {"work-1": a_reply()}
    world.clock.move(seconds(60))
    await world.deliver()

    assert world.row.state is JobState.SUCCEEDED


async def test_exhausted_job_whose_other_step_is_worked_on_is_not_closed_over_it() -> None:
    """A redrive would buy that step again: it stays in review until the answer is there, and then is exhausted."""
    world = a_world(both, policy=a_policy(retry=RetryPolicy(max_attempts=1)))
    world.provider.script = [Submitted("work-1"), BUSY]
    await a_waiting_job(world)
    assert (world.row.state, world.row.has_submitted) == (JobState.NEEDS_REVIEW, True)
    world.provider.polled = {"work-1": a_reply()}
    world.clock.move(timedelta(minutes=2))
    await world.deliver()

    assert (world.row.state, world.row.error_code) == (JobState.FAILED, "attempts_exhausted")
    assert (list(world.row.accepted), world.provider.stopped) == (["left/1"], [])


async def test_next_attempt_goes_on_waiting_for_what_the_last_one_submitted() -> None:
    """One leg failed for now: its retry counts an attempt, the other leg's work goes on under its reference."""
    world = a_world(both)
    world.provider.script = [Submitted("work-1"), BUSY, Submitted("work-2")]
    await a_waiting_job(world)
    assert world.row.waiting_for is WaitingFor.RETRY
    world.clock.move(seconds(30))
    await world.deliver()
    assert (world.row.attempts, world.row.waiting_for) == (2, WaitingFor.PROVIDER)
    world.provider.polled = {"work-1": a_reply(), "work-2": a_reply()}
    world.provider.script = [a_reply()]
    world.clock.move(seconds(30))
    await world.deliver()

    assert (world.row.state, len(world.provider.keys)) == (JobState.SUCCEEDED, 4)


async def test_job_that_fails_for_good_stops_what_its_provider_still_does() -> None:
    """The other leg was refused: nobody will read this one's answer, so nobody shall pay for more of it."""
    world = a_world(both)
    world.provider.script = [Submitted("work-1"), REFUSED]
    await a_waiting_job(world)

    assert (world.row.state, world.provider.stopped) == (JobState.FAILED, ["work-1"])
    assert world.row.provider_cancel is ProviderCancel.CONFIRMED


async def test_maybe_beside_submitted_work_is_left_to_a_person_and_the_work_goes_on() -> None:
    """The review's looks poll as well: what is answered meanwhile counts."""
    world = a_world(both)
    world.provider.script = [Submitted("work-1"), LOST]
    await a_waiting_job(world)
    assert (world.row.state, world.provider.stopped) == (JobState.NEEDS_REVIEW, [])
    world.provider.polled = {"work-1": a_reply()}
    world.clock.move(timedelta(minutes=2))
    await world.deliver()

    assert (world.row.state, list(world.row.accepted)) == (JobState.NEEDS_REVIEW, ["left/1"])


async def test_reference_of_another_provider_is_not_asked_of_this_one() -> None:
    """A deploy chose another model meanwhile: nobody can tell any more, so it is a maybe."""
    world = a_world()
    await a_waiting_job(world)
    world.provider.name = "other"
    world.clock.move(seconds(10))
    await world.deliver()

    assert (world.row.state, world.provider.polls) == (JobState.NEEDS_REVIEW, [])


async def test_poll_that_cannot_be_read_is_asked_again_and_told() -> None:
    """Whatever the provider's answer does to its reader, the job goes on to its deadline, and the log says where."""
    world = a_world()
    await a_waiting_job(world)
    world.provider.polled = {"work-1": ValueError("odd")}
    world.clock.move(seconds(10))
    report = await world.deliver()

    assert world.row.state is JobState.WAITING
    assert any("ValueError" in note for note in report.notes)
    assert (world.row.tenant_id, world.row.job_id) == (TENANT, JOB_ID)
