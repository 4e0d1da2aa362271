"""A cancel at every phase of a run and in every wait: how the job ends, what the books say, what the target was sent.

Two facts are recorded: the job's end, and what the provider said to our wish (no provider of this version can be told).
"""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable
from datetime import timedelta
from typing import Any

import pytest

from onceward.domain.claim import Claim
from onceward.domain.deliveries import Acknowledge
from onceward.domain.money import Cost
from onceward.domain.policy import Capability
from onceward.domain.states import AttemptOutcome, JobState, ProviderCancel, WaitingFor
from onceward.errors import CallFailure
from onceward.usecases.cancel_job import cancel_job
from onceward.usecases.context import Context
from onceward.usecases.ports import ChildEnd, ModelReply
from tests.support.builders import JOB_ID, TENANT, a_policy, an_answer, seconds
from tests.support.fakes import FakeBackground, a_reply
from tests.support.worker_world import Ask, Said, WorkerWorld, ask_all

pytestmark = pytest.mark.anyio

HELD = 5_000
BUSY = CallFailure("", code="busy", error_class="rate_limited", was_sent=True)
UNKNOWN = CallFailure("", code="connection_lost", error_class="outcome_unknown", was_sent=True)
LOOKUP = Capability(lookup_lag=seconds(1))
ANSWER_BODY = '{"text":"{\\"text\\":\\"yes\\"}","finish":"stop","model":"fake-1","usage":null,"request_id":null}'


async def cancel(world: WorkerWorld) -> None:
    """The client's wish, by any instance of the API."""
    await cancel_job(world.store, world.queue, world.clock, world.ids, tenant_id=TENANT, job_id=JOB_ID)


def is_cancelled_and_freed(world: WorkerWorld) -> bool:
    """Ended by the cancel, its reservation released, nothing due, no letter."""
    row, account = world.row, world.account
    is_ended = row.state is JobState.CANCELLED and row.cancelled_at is not None and row.due is None
    return is_ended and (account.available, account.reserved) == (HELD, 0) and world.queue.dead_letters == ()


async def a_world(run: Any = ask_all, **fields: Any) -> WorkerWorld:
    """A job whose tariff is reserved."""
    world = WorkerWorld(run)
    await world.create(reserved_micro_usd=HELD, **fields)
    return world


def kind_that(act: Callable[[], Awaitable[None]], *, is_first: bool) -> Any:
    """A kind in which ``act`` happens before, or after, its one call."""

    async def run(context: Context, given: Ask) -> Said:
        if is_first:
            await act()
        reply = await context.model.generate("generate", [("user", "?")])
        if not is_first:
            await act()
        return Said.model_validate_json(reply.text)

    return run


@pytest.mark.failure_mode("F65")
async def test_before_the_claim_the_cancel_ends_the_job_itself() -> None:
    """CA-04: its message then finds it ended: acknowledged, no call, no attempt."""
    world = await a_world()
    await cancel(world)
    report = await world.deliver()

    assert is_cancelled_and_freed(world)
    assert (report.disposition, world.row.attempts, world.provider.keys) == (Acknowledge(), 0, [])
    assert world.row.provider_cancel is ProviderCancel.NONE


async def test_before_the_send_the_journal_is_refused() -> None:
    """CA-04, while a document is still being read: no call leaves, and it is no error that is retried."""
    worlds: list[WorkerWorld] = []
    world = await a_world(kind_that(lambda: cancel(worlds[0]), is_first=True))
    worlds.append(world)
    report = await world.deliver()

    assert is_cancelled_and_freed(world)
    assert (world.provider.keys, world.row.spent, report.disposition) == ([], Cost.nothing(), Acknowledge())
    assert world.row.attempt is not None
    assert world.row.attempt.outcome is AttemptOutcome.CANCELLED


async def test_while_the_model_works_the_heartbeat_hears_and_the_connection_is_dropped() -> None:
    """The call's outcome is unknown: the job is cancelled all the same, and the bound stays in the books."""
    world = await a_world()
    dropped: list[bool] = []

    async def working() -> ModelReply:
        await cancel(world)
        beat: FakeBackground = world.spawn.running[0]
        await beat.beat()
        try:
            await asyncio.Event().wait()
        except asyncio.CancelledError:
            dropped.append(True)
            raise
        raise AssertionError

    world.provider.script = [working]
    await world.deliver()

    assert is_cancelled_and_freed(world)
    assert dropped == [True]
    assert (world.row.spent, world.row.provider_cancel) == (Cost.maybe(1_000), ProviderCancel.UNSUPPORTED)
    assert world.row.attempt is not None
    assert world.row.attempt.outcome is AttemptOutcome.UNKNOWN


async def test_after_the_answer_the_cancel_wins_over_the_settle() -> None:
    """CA-01: recorded before acceptance, so no result and no charge; the tokens are in the books, no retry follows."""
    worlds: list[WorkerWorld] = []
    world = await a_world(kind_that(lambda: cancel(worlds[0]), is_first=False))
    worlds.append(world)
    await world.deliver()

    assert is_cancelled_and_freed(world)
    assert (world.row.result, world.row.charge_micro_usd, world.row.spent) == (None, None, Cost.exact(10))
    assert (world.row.waiting_for, len(world.provider.keys)) == (None, 1)


async def test_after_the_settle_nothing_changes() -> None:
    """CA-01: no flip-flop; the result and its charge stay."""
    world = await a_world()
    await world.deliver()
    settled = world.row
    await cancel(world)

    assert (world.row, world.account.captured) == (settled, HELD)


async def test_failing_attempt_is_not_retried_after_a_cancel() -> None:
    """The write of the retry is refused, and the run closes instead."""
    world = await a_world()

    async def fails() -> ModelReply:
        await cancel(world)
        raise BUSY

    world.provider.script = [fails]
    await world.deliver()

    assert is_cancelled_and_freed(world)
    assert len(world.provider.keys) == 1


async def test_wait_for_a_retry_ends_at_once() -> None:
    """Nobody holds it, nothing is open; the delivery that comes later finds it ended."""
    world = await a_world()
    world.provider.script = [BUSY]
    await world.deliver()
    await cancel(world)

    assert is_cancelled_and_freed(world)
    world.clock.move(timedelta(minutes=1))
    assert (await world.deliver()).disposition == Acknowledge()
    assert len(world.provider.keys) == 1


@pytest.mark.failure_mode("F66")
@pytest.mark.parametrize(
    ("found", "spent"), [(a_reply(), Cost.exact(10)), (None, Cost.maybe(1_000))], ids=["it happened", "not known yet"]
)
async def test_wait_for_a_lookup_is_closed_by_looking_once_more(found: ModelReply | None, spent: Cost) -> None:
    """The closing run asks for the truth, books it, and ends: exact if the call is found, else by its bound."""
    world = await a_world()
    world.provider.capability = LOOKUP
    world.provider.script = [UNKNOWN]
    await world.deliver()
    assert world.row.waiting_for is WaitingFor.LOOKUP
    if found is not None:
        world.provider.found = {"*": found}
    await cancel(world)
    report = await world.deliver()

    assert (report.found, world.row.spent, len(world.provider.keys)) == (Claim.RESUME, spent, 1)
    assert is_cancelled_and_freed(world)


async def test_wait_for_the_provider_is_closed_without_a_send() -> None:
    """A job in a paid attempt that met a kill switch: what it paid is booked, nothing else is sent."""
    worlds: list[WorkerWorld] = []

    async def switch_off() -> None:
        await worlds[0].store.switch("all", is_on=False)
        worlds[0].clock.move(seconds(6))

    async def run(context: Context, given: Ask) -> Said:
        await context.model.generate("a", [("user", "a")])
        await switch_off()
        return Said.model_validate_json((await context.model.generate("b", [("user", "b")])).text)

    world = await a_world(run)
    worlds.append(world)
    await world.deliver()
    assert world.row.waiting_for is WaitingFor.PROVIDER
    await cancel(world)
    await world.deliver()

    assert is_cancelled_and_freed(world)
    assert (world.row.spent, len(world.provider.keys)) == (Cost.exact(10), 1)


async def test_lost_run_s_job_is_closed_by_whoever_takes_it_over() -> None:
    """The worker died before it heard: no next attempt begins."""
    world = await a_world()
    await world.lose_a_run()
    await cancel(world)
    report = await world.deliver()

    assert (report.found, world.row.attempts, world.provider.keys) == (Claim.TAKEOVER, 1, [])
    assert is_cancelled_and_freed(world)


@pytest.mark.failure_mode("F66")
@pytest.mark.parametrize("has_outside_effect", [False, True])
async def test_review_is_closed_by_a_cancel_unless_something_outside_may_have_changed(
    *, has_outside_effect: bool
) -> None:
    """A cancel ends what only cost money; an action that may have happened stays for a person, marked."""
    world = WorkerWorld(policy=a_policy(has_outside_effect=has_outside_effect))
    world.provider.script = [UNKNOWN]
    await world.create(reserved_micro_usd=HELD)
    await world.deliver()
    assert world.row.state is JobState.NEEDS_REVIEW
    await cancel(world)
    report = await world.deliver()

    assert (report.found, world.row.provider_cancel) == (Claim.LOOK, ProviderCancel.UNSUPPORTED)
    assert world.row.spent.high <= 1_000
    if has_outside_effect:
        assert (world.row.state, world.account.reserved) == (JobState.NEEDS_REVIEW, HELD)
        assert world.row.cancel_requested_at is not None
    else:
        assert (world.row.state, world.account.available) == (JobState.CANCELLED, HELD)


@pytest.mark.failure_mode("F32")
async def test_late_answer_does_not_undo_a_cancel_in_review() -> None:
    """It is evidence for the books: the job is cancelled, its cost exact."""
    world = await a_world()
    world.provider.script = [UNKNOWN]
    await world.deliver()
    await world.store.put_cold(an_answer(body=ANSWER_BODY, cost=Cost.exact(250)), world.row.expires_at)
    await cancel(world)
    await world.deliver()

    assert (world.row.state, world.row.result, world.account.available) == (JobState.CANCELLED, None, HELD)
    assert world.row.spent == Cost.exact(250)


async def test_while_a_document_is_parsed_the_child_is_ended_and_nothing_is_sent() -> None:
    """CA-04: a minute's parse is not waited for; the heartbeat tells of the cancel, and the job ends by it."""
    began, ended = asyncio.Event(), asyncio.Event()

    async def parse(*_: Any, **__: Any) -> ChildEnd:
        began.set()
        try:
            await asyncio.Event().wait()
        finally:
            ended.set()
        raise AssertionError("never")

    async def parses(context: Context, given: Ask) -> Said:
        await context.children.run("x", b"", timeout=seconds(60), memory_bytes=1)
        return await ask_all(context, given)

    world = await a_world(parses)
    world.spawn.child = parse  # type: ignore[method-assign]
    delivery = asyncio.create_task(world.deliver())
    await began.wait()
    await cancel(world)
    await world.spawn.running[0].beat()
    await delivery

    assert is_cancelled_and_freed(world)
    assert (ended.is_set(), world.provider.keys) == (True, [])
