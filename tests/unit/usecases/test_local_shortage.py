"""What this process is short of, a slot or a child, costs a job time and never an attempt; slots bound what runs."""

from __future__ import annotations

import asyncio
from dataclasses import replace
from datetime import timedelta

import pytest

from onceward.domain.states import JobState, WaitingFor
from onceward.errors import CallFailure
from onceward.usecases.context import Context
from onceward.usecases.deps import Deps
from onceward.usecases.ports import ChildEnd, ModelReply
from onceward.usecases.run_job import Delivery, run_job
from tests.support.builders import JOB_ID, TENANT, a_policy, seconds
from tests.support.fakes import FakeSpawn, a_reply
from tests.support.worker_world import Ask, Said, WorkerWorld

pytestmark = pytest.mark.anyio

LOST = CallFailure("", code="connection_lost", error_class="outcome_unknown", was_sent=True)


async def parses(context: Context, given: Ask) -> Said:
    """A kind that reads a document in a child, then asks."""
    await context.children.run("x", b"", timeout=seconds(60), memory_bytes=1)
    return Said.model_validate_json((await context.model.generate("generate", [("user", "x")])).text)


class Full(FakeSpawn):
    """A machine on which no child can be started."""

    async def child(self, *_: object, **__: object) -> ChildEnd:
        """No room."""
        raise OSError(28, "No space left on device")


def a_delivery(world: WorkerWorld) -> Delivery:
    """A message of the job, received in an invocation that ends in hours."""
    world.queue.put("{}")
    return Delivery(
        tenant_id=TENANT,
        job_id=JOB_ID,
        receipt=world.queue.receive()[-1].receipt,
        receive_count=1,
        invocation_ends=world.clock.monotonic() + 9_000,
    )


async def deliver_while(world: WorkerWorld, deps: Deps, slots: asyncio.Semaphore, wait: timedelta) -> None:
    """One delivery, whose only slot comes free after so long; the heartbeat keeps its lease."""
    await slots.acquire()
    one = a_delivery(world)

    async def free() -> None:
        for _ in range(20):
            await asyncio.sleep(0)
        for _ in range(wait // seconds(20)):
            world.clock.move(seconds(20))
            await world.spawn.running[0].beat()
        slots.release()

    await asyncio.gather(run_job(deps, one, may_take_over=True), free())


async def test_child_that_cannot_be_started_burns_no_attempt() -> None:
    """No memory, no process, no room: of this machine, and no fault of the document or of its kind."""
    world = WorkerWorld(parses)
    world.spawn = Full()
    await world.create()
    await world.deliver()

    assert (world.row.state, world.row.attempts) == (JobState.QUEUED, 0)


async def test_waiting_for_other_documents_burns_no_attempt() -> None:
    """One child at a time: what waits behind eight of a minute each has no time left for its call."""
    world = WorkerWorld(parses, policy=a_policy(timeout=seconds(720), call_timeout=seconds(300)))
    world.spawn = FakeSpawn({"x": lambda _: b""})
    await world.create()
    slots = asyncio.Semaphore(1)
    await deliver_while(world, replace(world.deps(), child_slots=slots), slots, seconds(480))

    assert (world.row.state, world.row.attempts, world.provider.keys) == (JobState.QUEUED, 0, [])
    assert not slots.locked()


@pytest.mark.parametrize(("wait", "attempts", "calls"), [(seconds(20), 1, 1), (seconds(40), 0, 0)])
async def test_short_attempt_that_waits_for_a_child_is_given_back(wait: timedelta, attempts: int, calls: int) -> None:
    """Its 60 s never hold a child's 60 and a call's 20: half of them may be waited for, the rest is for the work."""
    world = WorkerWorld(parses, policy=a_policy(timeout=seconds(60), call_timeout=seconds(20)))
    world.spawn = FakeSpawn({"x": lambda _: b""})
    await world.create()
    slots = asyncio.Semaphore(1)
    await deliver_while(world, replace(world.deps(), child_slots=slots), slots, wait)

    assert (world.row.attempts, len(world.provider.keys)) == (attempts, calls)
    assert world.row.state is (JobState.SUCCEEDED if calls else JobState.QUEUED)
    assert not slots.locked()


@pytest.mark.parametrize("has_maybe", [False, True])
async def test_later_step_that_finds_no_slot_goes_on_in_its_attempt(has_maybe: bool) -> None:
    """The first answer is accepted and the second call has no slot: the attempt waits, and asks the second step then.

    Beside a call whose outcome nobody knows it cannot: that one is recovered first.
    """

    async def two(context: Context, given: Ask) -> Said:
        first = await asyncio.gather(context.model.generate("first", [("user", "x")]), return_exceptions=True)
        taken = asyncio.create_task(slots.acquire())  # by another job of the batch
        await taken
        second = await context.model.generate("second", [("user", str(len(first)))])
        return Said.model_validate_json(second.text)

    world = WorkerWorld(two, policy=a_policy(timeout=seconds(720), call_timeout=seconds(300)))
    world.provider.script = [LOST] if has_maybe else []
    await world.create()
    slots = asyncio.Semaphore(1)
    one = a_delivery(world)

    async def pass_time() -> None:
        for _ in range(40):
            await asyncio.sleep(0)
        for _ in range(30):
            world.clock.move(seconds(20))
            await world.spawn.running[0].beat()
        slots.release()

    await asyncio.gather(run_job(replace(world.deps(), call_slots=slots), one, may_take_over=True), pass_time())
    assert (world.row.state, world.row.attempts, len(world.provider.keys)) == (JobState.WAITING, 1, 1)
    assert world.row.waiting_for is (WaitingFor.LOOKUP if has_maybe else WaitingFor.PROVIDER)
    if not has_maybe:
        world.clock.move(seconds(90))
        slots = asyncio.Semaphore(2)
        await world.deliver()
        assert (world.row.state, world.row.attempts, len(world.provider.keys)) == (JobState.SUCCEEDED, 1, 2)


@pytest.mark.parametrize(("wait", "attempts", "calls"), [(seconds(20), 1, 1), (seconds(1_200), 0, 0)])
async def test_waiting_for_a_call_slot_is_not_the_attempt_s_fault(wait: timedelta, attempts: int, calls: int) -> None:
    """Had in time, the call is made; too late for its hard timeout, the attempt is given back, and so is the slot."""
    world = WorkerWorld(policy=a_policy(timeout=seconds(720), call_timeout=seconds(300)))
    await world.create()
    slots = asyncio.Semaphore(1)
    await deliver_while(world, replace(world.deps(), call_slots=slots), slots, wait)

    assert (world.row.attempts, len(world.provider.keys)) == (attempts, calls)
    assert not slots.locked()


@pytest.mark.failure_mode("F40")
async def test_no_more_calls_are_at_the_provider_than_there_are_slots() -> None:
    """Six legs and three slots: three at once at most, and all are answered."""
    at_once = 0
    peak = 0

    async def slow() -> ModelReply:
        nonlocal at_once, peak
        at_once += 1
        peak = max(peak, at_once)
        for _ in range(50):
            await asyncio.sleep(0)
        at_once -= 1
        return a_reply()

    async def six(context: Context, given: Ask) -> Said:
        legs = (context.model.generate(f"s{number}", [("user", "x")]) for number in range(6))
        return Said(text="".join(reply.text for reply in await asyncio.gather(*legs)))

    world = WorkerWorld(six)
    world.provider.script = [slow] * 6
    await world.create()
    slots = asyncio.Semaphore(3)
    await deliver_while(world, replace(world.deps(), call_slots=slots), slots, timedelta(0))

    assert (world.row.state, len(world.provider.keys)) == (JobState.SUCCEEDED, 6)
    assert peak == 3
