"""Leases and own writes: a beat never shortens a lease; a repeated write is known, one that ended nothing is not."""

from __future__ import annotations

import asyncio
from datetime import datetime, timedelta
from typing import Any

import pytest

from onceward.domain.cancelling import decide_cancel
from onceward.domain.change import RowChange
from onceward.domain.states import AttemptOutcome, JobState
from onceward.domain.transaction import Applied, WriteReply
from onceward.errors import StoreUnavailable
from onceward.usecases.context import Context
from onceward.usecases.ports import ModelReply
from tests.support.builders import OTHER_TOKEN, a_policy, seconds
from tests.support.fakes import a_reply
from tests.support.hooked_store import HookedStore
from tests.support.worker_world import Ask, Said, WorkerWorld, ask_all

pytestmark = pytest.mark.anyio

LONG = a_policy(timeout=timedelta(minutes=5))


def lease_of(world: WorkerWorld) -> datetime:
    """Until when the row is leased."""
    until = world.row.lease_until
    assert until is not None
    return until


async def test_beat_that_failed_and_is_applied_late_does_not_shorten_the_lease() -> None:
    """The row keeps the longest lease that was written, so the run's own view of it is never too long."""
    late: list[Any] = []
    leases: list[datetime] = []

    async def update(method: Any, tenant_id: Any, job_id: Any, change: RowChange) -> WriteReply:
        if set(change.set) == {"lease_until"} and not late:
            late.append(lambda: method(tenant_id, job_id, change))
            raise StoreUnavailable("planned")
        reply: WriteReply = await method(tenant_id, job_id, change)
        return reply

    async def slow() -> ModelReply:
        (beat,) = world.spawn.running
        await beat.beat()
        world.clock.move(seconds(20))
        await beat.beat()
        leases.append(lease_of(world))
        await late[0]()
        leases.append(lease_of(world))
        return a_reply()

    world = WorkerWorld(policy=LONG)
    world.provider.script = [slow]
    await world.create()
    await world.deliver(store=HookedStore(world.store, update_job=update))

    assert leases[1] == leases[0] == world.clock.now() + world.timing.lease
    assert world.row.state is JobState.SUCCEEDED


@pytest.mark.failure_mode("F6")
async def test_beat_that_was_applied_and_repeated_loses_no_lease() -> None:
    """Its repeat is refused by its own effect, on a row that is still ours: the run goes on and so do its beats."""

    async def update(method: Any, tenant_id: Any, job_id: Any, change: RowChange) -> WriteReply:
        reply: WriteReply = await method(tenant_id, job_id, change)
        if set(change.set) == {"lease_until"}:
            reply = await method(tenant_id, job_id, change)
        return reply

    async def slow() -> ModelReply:
        (beat,) = world.spawn.running
        for _ in range(4):
            world.clock.move(seconds(20))
            await beat.beat()
        return a_reply()

    world = WorkerWorld(policy=LONG)
    world.provider.script = [slow]
    await world.create()
    report = await world.deliver(store=HookedStore(world.store, update_job=update))

    assert (world.row.state, report.stopped_by) == (JobState.SUCCEEDED, None)


async def test_beat_that_was_repeated_hears_of_a_cancel_all_the_same() -> None:
    """The refusal carries the row, and the row the wish: the call that is under way is dropped."""
    went_on: list[bool] = []

    async def update(method: Any, tenant_id: Any, job_id: Any, change: RowChange) -> WriteReply:
        reply: WriteReply = await method(tenant_id, job_id, change)
        if set(change.set) == {"lease_until"}:
            world.overwrite(cancel_requested_at=world.clock.now())
            reply = await method(tenant_id, job_id, change)
        return reply

    async def slow() -> ModelReply:
        world.clock.move(seconds(20))
        await world.spawn.running[0].beat()
        for _ in range(20):
            await asyncio.sleep(0)
        went_on.append(True)
        return a_reply()

    world = WorkerWorld(policy=LONG)
    world.provider.script = [slow]
    await world.create()
    await world.deliver(store=HookedStore(world.store, update_job=update))

    assert (went_on, world.row.state) == ([], JobState.CANCELLED)


async def test_beats_end_with_the_lease() -> None:
    """Another run holds the job: nothing more is written, and the message is left as it is; the answer is kept."""
    beats: list[datetime] = []

    async def update(method: Any, tenant_id: Any, job_id: Any, change: RowChange) -> WriteReply:
        if set(change.set) == {"lease_until"}:
            beats.append(world.clock.now())
        reply: WriteReply = await method(tenant_id, job_id, change)
        return reply

    async def slow() -> ModelReply:
        world.overwrite(run_token=OTHER_TOKEN)
        world.clock.move(seconds(20))
        await world.spawn.running[0].beat(times=3)
        return a_reply()

    world = WorkerWorld(policy=LONG)
    world.provider.script = [slow]
    await world.create()
    report = await world.deliver(store=HookedStore(world.store, update_job=update))

    assert (len(beats), report.stopped_by, world.row.run_token) == (1, "lease_lost", OTHER_TOKEN)
    assert any(place.startswith("call#") for place in world.items)


async def test_journal_refused_by_a_row_that_has_ended_is_no_own_write() -> None:
    """Only an ending is refused by its own effect: who journals after it has outlived its run, and must not send."""
    ended: list[bool] = []

    async def run(context: Context, given: Ask) -> Said:
        world.overwrite(state=JobState.FAILED, error_code="ended by its own token", due=None)
        ended.append(True)
        return await ask_all(context, given)

    world = WorkerWorld(run)
    await world.create()
    report = await world.deliver()

    assert (ended, report.stopped_by, world.provider.keys) == ([True], "lease_lost", [])


def begins_second(change: RowChange) -> bool:
    """Whether a write begins the second attempt."""
    return change.set.get("attempts") == 2


@pytest.mark.parametrize("is_repeated", [False, True])
async def test_next_attempt_that_was_applied_and_repeated_is_begun_once(*, is_repeated: bool) -> None:
    """The repeat neither counts a transition nor an attempt, and the run goes on."""

    async def update(method: Any, tenant_id: Any, job_id: Any, change: RowChange) -> WriteReply:
        reply: WriteReply = await method(tenant_id, job_id, change)
        if is_repeated and begins_second(change):
            reply = await method(tenant_id, job_id, change)
        return reply

    world = WorkerWorld()
    await world.create()
    await world.lose_a_run()
    await world.deliver(store=HookedStore(world.store, update_job=update))

    # created, claimed, taken over, begun again, settled
    assert (world.row.state, world.row.attempts, world.row.seq) == (JobState.SUCCEEDED, 2, 5)


async def test_cancel_between_a_next_attempt_and_its_repeat_ends_that_attempt() -> None:
    """The attempt has begun, whatever its repeat is told: it is the second that is cancelled, and nothing is sent."""

    async def update(method: Any, tenant_id: Any, job_id: Any, change: RowChange) -> WriteReply:
        reply: WriteReply = await method(tenant_id, job_id, change)
        if begins_second(change) and isinstance(reply, Applied):
            wish = decide_cancel(world.row, world.clock.now())
            assert wish is not None
            await method(tenant_id, job_id, wish.row.change)
            reply = await method(tenant_id, job_id, change)
        return reply

    world = WorkerWorld()
    await world.create()
    await world.lose_a_run()
    await world.deliver(store=HookedStore(world.store, update_job=update))

    assert (world.row.state, world.row.attempts, world.provider.keys) == (JobState.CANCELLED, 2, [])
    assert world.row.attempt is not None
    assert world.row.attempt.outcome is AttemptOutcome.CANCELLED
    assert world.items["attempt#0001#0001"].attempt.outcome is AttemptOutcome.INTERRUPTED
