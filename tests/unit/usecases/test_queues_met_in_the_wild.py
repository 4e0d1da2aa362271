"""What queues, batches and clocks did to other people's workers, each told by its case's id."""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable
from dataclasses import replace
from datetime import timedelta
from typing import Any

import pytest

from onceward.adapters.memory.queue import MemoryQueue
from onceward.adapters.memory.store import MemoryStore
from onceward.domain.change import RowChange
from onceward.domain.claim import Claim, Unclaimable
from onceward.domain.deliveries import Acknowledge, LeaveUntouched, PutBack
from onceward.domain.job import Job
from onceward.domain.names import JobId, TenantId, identity_of
from onceward.domain.states import JobState
from onceward.domain.transaction import WriteReply
from onceward.errors import CallFailure, QueueUnavailable
from onceward.handlers.batches import Record, handle_batch
from onceward.usecases.ports import ModelReply
from onceward.usecases.run_batch import run_batch
from onceward.usecases.run_job import Delivery, RunReport
from onceward.wire.messages import wakeup_body
from tests.support.builders import JOB_ID, TENANT, an_answer, seconds
from tests.support.fakes import a_reply
from tests.support.worker_world import WorkerWorld

pytestmark = pytest.mark.anyio

WAKEUP = wakeup_body(TENANT, JOB_ID)
BUSY = CallFailure("", code="busy", error_class="rate_limited", was_sent=True)


def a_record(world: WorkerWorld) -> Record:
    """A received wake-up."""
    world.queue.put(WAKEUP)
    message = world.queue.receive()[-1]
    return Record(message.message_id, message.receipt, message.body, message.receive_count)


def meanwhile(world: WorkerWorld, act: Callable[[], Awaitable[Any]]) -> Callable[[], Awaitable[ModelReply]]:
    """A provider that answers after ``act``."""

    async def answer() -> ModelReply:
        await act()
        return a_reply()

    return answer


@pytest.mark.failure_mode("F47")
async def test_second_delivery_under_a_live_lease_leaves_the_job_to_its_worker() -> None:
    """SQS-03: visibility ran out while the model worked: one call; the job is not touched, its row stays due."""
    world = WorkerWorld()
    await world.create()
    seen: list[tuple[RunReport, bool]] = []

    async def second() -> None:
        before = world.row
        world.clock.move(seconds(45))
        report = await world.deliver()
        seen.append((report, world.row == before and before.due is not None))

    world.provider.script = [meanwhile(world, second)]
    first = await world.deliver()

    ((report, is_untouched),) = seen
    assert (report.found, report.disposition, is_untouched) == (Unclaimable.LEASE_LIVE, Acknowledge(), True)
    assert (first.found, world.row.state, len(world.provider.keys)) == (Claim.START, JobState.SUCCEEDED, 1)


@pytest.mark.failure_mode("F49", "F61")
async def test_one_failed_record_of_three_is_the_only_one_that_comes_back() -> None:
    """SQS-05, SQS-07: a fault that is retried is no error of the function; exactly its message is returned."""
    world = WorkerWorld()
    await world.create()
    world.provider.script = [BUSY]
    absent = [Record(f"absent-{at}", f"r-{at}", wakeup_body(TENANT, JobId(JOB_ID[:-1] + "Z")), 1) for at in range(2)]
    record = a_record(world)
    outcomes = await handle_batch(world.deps(), [absent[0], record, absent[1]], 900)

    kept = [one.message_id for one in outcomes if not isinstance(one.disposition, Acknowledge)]
    assert kept == [record.message_id]
    assert [one.bug for one in outcomes] == [None] * 3


@pytest.mark.failure_mode("F3")
async def test_stalled_worker_writes_nothing_after_another_has_finished() -> None:
    """SQS-14: heartbeat, result and failure of A change nothing once B has ended the job; A knows that it has lost."""
    world = WorkerWorld()
    await world.create(reserved_micro_usd=5_000)
    finished: list[Job] = []

    async def other_finishes() -> None:
        world.clock.move(seconds(70))
        await world.store.put_cold(_answer_of(world), world.row.expires_at)
        await world.deliver()
        finished.append(world.row)
        await world.spawn.running[0].beat()

    world.provider.script = [meanwhile(world, other_finishes)]
    stalled = await world.deliver()

    assert finished[0].state is JobState.SUCCEEDED
    assert world.row == finished[0]
    assert (stalled.disposition, stalled.stopped_by) == (LeaveUntouched(), "lease_lost")
    assert (world.account.captured, len(world.provider.keys)) == (5_000, 1)


def _answer_of(world: WorkerWorld) -> Any:
    """The call's answer, as its item would be if the stalled worker had put it before it stood still."""
    body = '{"text":"{\\"text\\":\\"yes\\"}","finish":"stop","model":"fake-1","usage":null,"request_id":null}'
    return an_answer(body=body, key=world.row.open[0].key)


@pytest.mark.failure_mode("F33")
@pytest.mark.parametrize("off", [-2, 2])
async def test_clock_within_the_allowance_takes_no_healthy_lease(off: int) -> None:
    """SQS-16: the allowance is the margin; it is told in the glossary."""
    world = WorkerWorld()
    await world.create()
    seen: list[RunReport] = []

    async def fast() -> None:
        world.clock.move(seconds(59))
        world.clock.jump(seconds(off))
        seen.append(await world.deliver())
        world.clock.jump(seconds(-off))

    world.provider.script = [meanwhile(world, fast)]
    await world.deliver()

    assert [report.found for report in seen] == [Unclaimable.LEASE_LIVE]


async def test_clock_beyond_the_allowance_costs_no_second_call() -> None:
    """SQS-16: a clock 90 s ahead takes the lease, and can only park a maybe with it, which the answer ends."""
    world = WorkerWorld()
    await world.create(reserved_micro_usd=5_000)

    async def fast() -> None:
        world.clock.jump(seconds(90))
        await world.deliver()
        world.clock.jump(seconds(-90))

    world.provider.script = [meanwhile(world, fast)]
    await world.deliver()
    assert world.row.state is JobState.NEEDS_REVIEW
    world.clock.move(timedelta(minutes=3))
    await world.deliver()

    assert (world.row.state, world.account.captured, len(world.provider.keys)) == (JobState.SUCCEEDED, 5_000, 1)


async def test_clock_far_behind_loses_its_lease_and_pays_once() -> None:
    """SQS-16: a holder 90 s behind writes a lease that is over; its call is a maybe for who takes over, no second."""
    world = WorkerWorld()
    await world.create(reserved_micro_usd=5_000)

    async def right() -> None:
        world.clock.jump(seconds(90))
        await world.deliver()
        world.clock.jump(seconds(-90))

    world.provider.script = [meanwhile(world, right)]
    world.clock.jump(seconds(-90))
    await world.deliver()
    world.clock.jump(seconds(90))
    assert world.row.state is JobState.NEEDS_REVIEW
    world.clock.move(timedelta(minutes=3))
    await world.deliver()

    assert (world.row.state, world.account.captured, len(world.provider.keys)) == (JobState.SUCCEEDED, 5_000, 1)


class ExpiredReceipts(MemoryQueue):
    """Refuses every receipt."""

    async def hide(self, receipt: str, visibility: timedelta) -> None:
        """Too late."""
        raise QueueUnavailable("the receipt has expired")


@pytest.mark.failure_mode("F60")
async def test_expired_receipt_changes_nothing_about_the_job() -> None:
    """SQS-23: tolerated wherever it is used; the result stays and nothing is sent again."""
    world = WorkerWorld()
    world.queue = ExpiredReceipts(world.clock, visibility=timedelta(hours=1), max_receive_count=50)
    await world.create()
    report = await world.deliver()
    again = await world.deliver()

    assert (report.disposition, again.disposition) == (Acknowledge(), Acknowledge())
    assert (world.row.state, len(world.provider.keys)) == (JobState.SUCCEEDED, 1)


@pytest.mark.failure_mode("F45")
@pytest.mark.parametrize("state", [JobState.SUCCEEDED, JobState.CANCELLED, JobState.FAILED])
async def test_redelivery_of_a_job_that_is_over_is_acknowledged(state: JobState) -> None:
    """SQS-24, SQS-29: no call, no error, no dead letter, however its deletion failed before."""
    world = WorkerWorld()
    await world.create(state=state, finished_at=world.clock.now(), due=None)
    before = world.row
    report = await world.deliver(receive_count=49)

    assert (report.disposition, report.bug, world.row) == (Acknowledge(), None, before)
    assert (world.provider.keys, world.queue.dead_letters) == ([], ())


@pytest.mark.failure_mode("F44")
async def test_same_record_twice_in_a_batch_and_in_two_workers_is_one_call() -> None:
    """SQS-30: two invocations at the same instant, and a batch that holds the job twice."""
    world = WorkerWorld()
    await world.create()
    records = [a_record(world) for _ in range(4)]
    ended = await asyncio.gather(
        handle_batch(world.deps(), records[:2], 900), handle_batch(world.deps(), records[2:], 900)
    )

    assert (len(world.provider.keys), world.row.state) == (1, JobState.SUCCEEDED)
    assert {type(one.disposition) for outcomes in ended for one in outcomes} == {Acknowledge}


async def test_same_message_after_a_bug_is_processed_by_the_job_s_state() -> None:
    """SQS-38: a warm process remembers no ids: what failed in it runs in it."""
    world = WorkerWorld()
    await world.create()
    deps = world.deps(BrokenOnce(world.store))
    record = a_record(world)
    (first,) = await handle_batch(deps, [record], 900)
    (second,) = await handle_batch(deps, [record], 900)

    assert (first.bug is not None, type(first.disposition)) == (True, PutBack)
    assert (second.disposition, world.row.state) == (Acknowledge(), JobState.SUCCEEDED)


class BrokenOnce:
    """A store with a bug in its first write."""

    def __init__(self, store: MemoryStore) -> None:
        self._store = store
        self._is_broken = True

    def __getattr__(self, name: str) -> Any:
        return getattr(self._store, name)

    async def update_job(self, tenant_id: TenantId, job_id: JobId, change: RowChange) -> WriteReply:
        """A mistake of ours, then what it does."""
        if self._is_broken:
            self._is_broken = False
            raise ZeroDivisionError
        return await self._store.update_job(tenant_id, job_id, change)


async def test_finished_jobs_of_a_batch_that_was_cut_are_not_run_again() -> None:
    """SQS-40: a time-out after the sixth job answers nothing, so all ten messages come again: one call a job."""
    world = WorkerWorld()
    ids = [JobId(f"{letter * 26}-{letter * 8}") for letter in "ABCDEFGHIJ"]
    for job_id in ids:
        await world.create(job_id=job_id)
    deliveries = [
        Delivery(
            tenant_id=TENANT, job_id=job_id, receipt="r", receive_count=1, invocation_ends=world.clock.monotonic() + 900
        )
        for job_id in ids
    ]
    await run_batch(world.deps(), deliveries[:6])  # these had ended when Lambda stopped the function
    await run_batch(world.deps(), [replace(one, receive_count=2) for one in deliveries])

    rows = [world.store.rows[TENANT, identity_of(job_id)] for job_id in ids]
    assert {(row.attempts, row.state) for row in rows} == {(1, JobState.SUCCEEDED)}
    assert sorted(key[:35] for key in world.provider.keys) == ids
