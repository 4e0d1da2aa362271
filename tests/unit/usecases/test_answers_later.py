"""A provider that answers later: submitted, waited for without a Lambda, polled, found, failed, forgotten, stopped."""

from __future__ import annotations

import asyncio
from datetime import timedelta
from typing import Any

import pytest

from onceward.domain.claim import Claim
from onceward.domain.deliveries import Acknowledge, PutBack
from onceward.domain.money import Cost
from onceward.domain.names import JobId, TenantId
from onceward.domain.policy import OnUnknown, RetryPolicy
from onceward.domain.records import ProviderReference
from onceward.domain.recovery import PollReply
from onceward.domain.states import CallState, JobState, WaitingFor
from onceward.errors import StoreUnavailable
from onceward.usecases.context import Context
from tests.support.builders import a_policy, seconds
from tests.support.fakes import a_reply
from tests.support.hooked_store import HookedStore
from tests.support.later_world import BUSY, REFUSED, a_waiting_job, a_world, both
from tests.support.worker_world import Ask, Said

pytestmark = pytest.mark.anyio


async def test_submitted_call_waits_without_an_attempt_more() -> None:
    """The reference is an item, the row waits for its provider, the message comes back when the poll is due."""
    world = a_world()
    await world.create(reserved_micro_usd=5_000)
    report = await world.deliver()
    item = world.items["call#0001#generate/1#0001#ref"]

    assert isinstance(item, ProviderReference)
    assert (item.reference, item.provider) == ("work-1", "fake")
    assert (world.row.state, world.row.waiting_for, world.row.attempts) == (JobState.WAITING, WaitingFor.PROVIDER, 1)
    assert [call.state for call in world.row.open] == [CallState.SUBMITTED]
    assert isinstance(report.disposition, PutBack)
    assert (world.row.possible_spent, world.account.reserved) == (Cost.maybe(1_000), 5_000)


async def test_answer_is_found_by_its_reference_and_paid_once() -> None:
    """The same attempt goes on: one send, one attempt, an exact cost."""
    world = a_world()
    await a_waiting_job(world, reserved_micro_usd=5_000)
    world.provider.polled = {"work-1": a_reply()}
    world.clock.move(seconds(10))
    report = await world.deliver()

    assert (report.found, world.row.state, world.row.attempts) == (Claim.RESUME, JobState.SUCCEEDED, 1)
    assert (len(world.provider.keys), world.row.spent, world.account.captured) == (1, Cost.exact(10), 5_000)


@pytest.mark.failure_mode("F53")
async def test_wait_outlives_lambda_and_queue() -> None:
    """Thirteen hours: polls grow rarer, long waits need no message, and no attempt is used up by any of it."""
    world = a_world()
    await a_waiting_job(world)
    until = world.clock.now() + timedelta(hours=13)
    has_let_go = False
    while world.row.wake_at is not None and world.row.wake_at < until:
        world.clock.jump(world.row.wake_at - world.clock.now())
        report = await world.deliver()
        has_let_go = has_let_go or isinstance(report.disposition, Acknowledge)
        assert world.row.due is not None
        assert world.row.due - world.row.wake_at == world.timing.due_grace
    world.provider.polled = {"work-1": a_reply()}
    world.clock.jump(timedelta(minutes=20))
    await world.deliver()

    assert (world.row.state, world.row.attempts, len(world.provider.keys)) == (JobState.SUCCEEDED, 1, 1)
    assert has_let_go
    assert len(world.provider.polls) < 100


async def test_reference_that_nobody_keeps_any_more_is_a_maybe() -> None:
    """Not "it did not happen": policy ``review`` leaves it to a person, and nothing is sent again."""
    world = a_world()
    await a_waiting_job(world)
    world.provider.polled = {"work-1": PollReply.GONE}
    world.clock.move(seconds(10))
    await world.deliver()

    assert (world.row.state, len(world.provider.keys)) == (JobState.NEEDS_REVIEW, 1)
    assert [call.state for call in world.row.open] == [CallState.UNKNOWN]


async def test_forgotten_reference_is_bought_again_in_a_new_attempt_where_policy_says_so() -> None:
    """Policy ``retry``: an attempt sends a step once, so the next one does; both purchases are in the books."""
    world = a_world(policy=a_policy(retry=RetryPolicy(on_unknown=OnUnknown.RETRY)))
    await a_waiting_job(world)
    world.provider.polled = {"work-1": PollReply.GONE, "work-2": a_reply()}
    world.clock.move(seconds(10))
    await world.deliver()
    assert (world.row.state, world.row.attempts, len(world.provider.keys)) == (JobState.WAITING, 2, 2)
    world.clock.move(seconds(10))
    await world.deliver()

    assert (world.row.state, world.row.spent) == (JobState.SUCCEEDED, Cost(low=10, high=1_010))


async def test_unreachable_provider_is_asked_again() -> None:
    """No answer to a poll says nothing of the work."""
    world = a_world()
    await a_waiting_job(world)
    world.provider.polled = {"work-1": PollReply.UNREACHABLE}
    world.clock.move(seconds(10))
    await world.deliver()

    assert (world.row.state, world.row.waiting_for) == (JobState.WAITING, WaitingFor.PROVIDER)
    assert [call.state for call in world.row.open] == [CallState.SUBMITTED]


async def test_work_that_failed_for_now_is_tried_again_by_the_retry_decision() -> None:
    """The kind's code is told as if it had waited; the next attempt submits anew."""
    world = a_world()
    await a_waiting_job(world)
    world.provider.polled = {"work-1": BUSY, "work-2": a_reply()}
    world.clock.move(seconds(10))
    await world.deliver()
    assert (world.row.state, world.row.waiting_for, world.row.open) == (JobState.WAITING, WaitingFor.RETRY, ())
    for _ in range(2):
        world.clock.move(seconds(30))
        await world.deliver()

    assert (world.row.state, world.row.attempts, len(world.provider.keys)) == (JobState.SUCCEEDED, 2, 2)


async def test_work_that_failed_for_good_fails_the_job() -> None:
    """A refusal is a refusal, however late it is told."""
    world = a_world()
    await a_waiting_job(world)
    world.provider.polled = {"work-1": REFUSED}
    world.clock.move(seconds(10))
    await world.deliver()

    assert (world.row.state, world.row.error_code) == (JobState.FAILED, "provider_refused_request")


async def test_failure_that_was_kept_and_not_yet_told_is_told_by_the_next_run() -> None:
    """A crash between the failure's item and the row: the attempt that goes on does not send the step again."""
    world = a_world()
    await a_waiting_job(world)
    world.provider.polled = {"work-1": REFUSED}
    world.clock.move(seconds(10))

    async def input_is_lost(method: Any, tenant_id: TenantId, job_id: JobId, place: str) -> Any:
        if place == "input":
            raise StoreUnavailable("the tables do not answer")
        return await method(tenant_id, job_id, place)

    await world.deliver(store=HookedStore(world.store, get_cold=input_is_lost))
    assert (world.row.state, world.row.waiting_for, world.row.open) == (JobState.WAITING, WaitingFor.PROVIDER, ())
    world.clock.move(seconds(60))
    await world.deliver()

    assert (world.row.state, world.row.error_code) == (JobState.FAILED, "provider_refused_request")
    assert len(world.provider.keys) == 1


async def test_steps_asked_at_once_are_submitted_in_one_run() -> None:
    """Both wait together; the one that is answered first waits for the other, and the last step follows."""
    world = a_world(both)
    await a_waiting_job(world)
    assert ([call.step for call in world.row.open], len(world.provider.keys)) == (["left/1", "right/1"], 2)
    world.provider.polled = {"work-1": a_reply()}
    world.clock.move(seconds(10))
    await world.deliver()
    assert (list(world.row.accepted), [call.step for call in world.row.open]) == (["left/1"], ["right/1"])
    world.provider.polled |= {"work-2": a_reply()}
    world.clock.move(seconds(10))
    await world.deliver()
    assert [call.step for call in world.row.open] == ["over/1"]
    world.provider.polled |= {"work-3": a_reply()}
    world.clock.move(seconds(10))
    await world.deliver()

    assert (world.row.state, world.row.attempts, len(world.provider.keys)) == (JobState.SUCCEEDED, 1, 3)
    assert world.row.spent == Cost.exact(30)


async def test_leg_that_parses_a_document_first_is_waited_for() -> None:
    """A leg still at work beside the context's own children comes to its call before the run lets go."""

    async def run(context: Context, given: Ask) -> Said:
        async def second() -> Any:
            await context.children.run("parse", b"x", timeout=seconds(1), memory_bytes=1)
            return await context.model.generate("right", [("user", "r")], answer=Said)

        first = context.model.generate("left", [("user", "l")], answer=Said)
        return Said.model_validate_json((await asyncio.gather(first, second()))[1].text)

    async def slow(*_args: Any, **_options: Any) -> Any:
        for _turn in range(50):
            await asyncio.sleep(0)

    world = a_world(run)
    world.spawn.child = slow  # type: ignore[method-assign]
    await a_waiting_job(world)

    assert [call.step for call in world.row.open] == ["left/1", "right/1"]


async def test_crash_between_reference_and_row_loses_nothing() -> None:
    """The row says ``sent``, the item names the work: the takeover polls, waits, and uses no attempt."""
    world = a_world()
    await world.create()

    async def dies_at_the_wait(method: Any, tenant_id: TenantId, job_id: JobId, change: Any) -> Any:
        if change.set.get("state") is JobState.WAITING:
            raise asyncio.CancelledError
        return await method(tenant_id, job_id, change)

    with pytest.raises(asyncio.CancelledError):
        await world.deliver(store=HookedStore(world.store, update_job=dies_at_the_wait))
    assert [call.state for call in world.row.open] == [CallState.SENT]
    world.clock.move(seconds(90))
    report = await world.deliver()
    assert (report.found, world.row.waiting_for, world.row.lost) == (Claim.TAKEOVER, WaitingFor.PROVIDER, 0)
    world.provider.polled = {"work-1": a_reply()}
    world.clock.move(timedelta(minutes=2))
    await world.deliver()

    assert (world.row.state, world.row.attempts, len(world.provider.keys)) == (JobState.SUCCEEDED, 1, 1)


async def test_crash_before_the_reference_is_stored_is_a_maybe() -> None:
    """Nobody knows its name: policy decides, as after any lost answer."""
    world = a_world()
    await world.create()

    async def dies_at_the_item(method: Any, item: Any, expires_at: Any) -> Any:
        if isinstance(item, ProviderReference):
            dying.cancel()
            raise asyncio.CancelledError
        return await method(item, expires_at)

    store = HookedStore(world.store, put_cold=dies_at_the_item)
    dying = asyncio.create_task(world.deliver(store=store))
    await asyncio.wait({dying})
    world.clock.move(seconds(90))
    await world.deliver()

    assert (world.row.state, len(world.provider.keys)) == (JobState.NEEDS_REVIEW, 1)
