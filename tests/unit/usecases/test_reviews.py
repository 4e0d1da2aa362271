"""A job in review: its letter, its looks, and what may run in them."""

from __future__ import annotations

from datetime import timedelta
from typing import Any

import pytest

from onceward.domain.closing import LOOKUP_PATIENCE
from onceward.domain.policy import Capability
from onceward.domain.recovery import LookupReply
from onceward.domain.states import JobState
from onceward.errors import CallFailure, QueueUnavailable, StoreUnavailable
from onceward.usecases.cancel_job import cancel_job
from onceward.usecases.context import Context
from onceward.usecases.ports import DeadLetter
from onceward.usecases.sweep import Sweeper, sweep
from tests.support.builders import JOB_ID, TENANT, a_policy, an_answer, an_open_call, seconds
from tests.support.hooked_store import HookedStore
from tests.support.worker_world import Ask, Said, WorkerWorld, ask_all

pytestmark = pytest.mark.anyio

LOOKUP = Capability(lookup_lag=seconds(1))
UNKNOWN = CallFailure("", code="connection_lost", error_class="outcome_unknown", was_sent=True)
ANSWER_BODY = '{"text":"{\\"text\\":\\"yes\\"}","finish":"stop","model":"fake-1","usage":null,"request_id":null}'


async def unavailable(*_: Any) -> Any:
    """A method of a store that does not answer."""
    raise StoreUnavailable("planned")


def counted(runs: list[int]) -> Any:
    """The usual kind, which tells when its code runs."""

    async def run(context: Context, given: Ask) -> Said:
        runs.append(context.attempt)
        return await ask_all(context, given)

    return run


async def in_review(world: WorkerWorld) -> None:
    """A job whose one call came to nobody knows what."""
    world.provider.script = [UNKNOWN]
    await world.create()
    await world.deliver()
    assert world.row.state is JobState.NEEDS_REVIEW


async def test_letter_that_was_lost_is_sent_although_a_cancel_came_first() -> None:
    """The look that a cancel brings parks the job anew, with its letter: no look is set before that was sent."""
    world = WorkerWorld(policy=a_policy(has_outside_effect=True))
    bury, letters = world.queue.bury, []

    async def down(letter: DeadLetter) -> None:
        raise QueueUnavailable("planned")

    async def up(letter: DeadLetter) -> None:
        letters.append(letter.reason)
        await bury(letter)

    world.queue.bury = down  # type: ignore[method-assign]  # an outage
    await in_review(world)
    assert world.row.wake_at is None
    world.queue.bury = up  # type: ignore[method-assign]  # it is over
    await cancel_job(world.store, world.queue, world.clock, world.ids, tenant_id=TENANT, job_id=JOB_ID)
    await world.deliver()

    assert (world.row.state, len(letters)) == (JobState.NEEDS_REVIEW, 1)
    sweeper = Sweeper(store=world.store, queue=world.queue, clock=world.clock, timing=world.timing)
    world.clock.move(timedelta(days=1))
    await sweep(sweeper)
    await world.deliver()
    assert (world.row.state, len(letters)) == (JobState.NEEDS_REVIEW, 1)


async def test_look_without_news_runs_none_of_the_kind_s_code() -> None:
    """That code came no further before, and it may be what killed its process."""
    runs: list[int] = []
    world = WorkerWorld(counted(runs))
    await world.create()
    await world.lose_a_run(open=(an_open_call(),), lost=2)
    await world.deliver()
    for _ in range(3):
        world.clock.move(timedelta(days=1))
        await world.deliver()

    assert (world.row.state, runs) == (JobState.NEEDS_REVIEW, [])


async def test_look_with_news_runs_the_kind_s_code_over_it() -> None:
    """A late answer is news: the closing run reads it, sends nothing, and succeeds."""
    runs: list[int] = []
    world = WorkerWorld(counted(runs))
    await in_review(world)
    await world.store.put_cold(an_answer(body=ANSWER_BODY), world.row.expires_at)
    world.clock.move(timedelta(minutes=1))
    await world.deliver()

    assert (world.row.state, runs, len(world.provider.keys)) == (JobState.SUCCEEDED, [1, 1], 1)


@pytest.mark.parametrize("method", ["get_cold", "transact"])
async def test_news_that_could_not_be_used_is_news_to_the_next_look(method: str) -> None:
    """An outage right after the late answer was found must not leave a paid result in review until its limit."""
    world = WorkerWorld()
    await in_review(world)
    await world.store.put_cold(an_answer(body=ANSWER_BODY), world.row.expires_at)
    world.clock.move(timedelta(minutes=1))
    await world.deliver(store=HookedStore(world.store, **{method: unavailable}))

    assert (world.row.state, [call.step for call in world.row.open]) == (JobState.NEEDS_REVIEW, ["generate/1"])
    world.clock.move(timedelta(minutes=1))
    await world.deliver()
    assert (world.row.state, len(world.provider.keys)) == (JobState.SUCCEEDED, 1)


async def test_news_that_a_look_was_lost_with_is_taken_up_by_who_takes_over() -> None:
    """The same, where the looking process dies instead."""
    world = WorkerWorld()
    await in_review(world)
    await world.store.put_cold(an_answer(body=ANSWER_BODY), world.row.expires_at)
    world.clock.move(timedelta(minutes=1))
    with pytest.raises(RuntimeError, match="dies"):
        await world.deliver(store=HookedStore(world.store, transact=dies))
    world.clock.move(timedelta(minutes=5))
    await world.deliver()

    assert (world.row.state, len(world.provider.keys)) == (JobState.SUCCEEDED, 1)


async def dies(*_: Any) -> Any:
    """The process ends here."""
    raise RuntimeError("dies")


async def test_target_that_cannot_be_reached_is_asked_less_and_less_often() -> None:
    """A review is looked at after a minute, ten, an hour, then daily, whatever a lookup says."""
    world = WorkerWorld()
    world.provider.capability = LOOKUP
    world.provider.found = {"*": LookupReply.UNREACHABLE}
    world.provider.script = [UNKNOWN]
    await world.create()
    await world.deliver()
    world.clock.move(timedelta(days=1) + 2 * LOOKUP_PATIENCE)
    await world.deliver()
    assert world.row.state is JobState.NEEDS_REVIEW
    gaps = []
    for _ in range(6):
        wake_at = world.row.wake_at
        assert wake_at is not None
        gaps.append(wake_at - world.clock.now())
        world.clock.move(gaps[-1])
        await world.deliver()

    assert gaps == sorted(gaps)
    assert gaps[-1] == timedelta(days=1)


async def test_review_of_a_job_whose_code_cannot_run_ends_at_its_limit() -> None:
    """There is news at every look, and infrastructure keeps it from being used: thirty days, then it is over."""

    async def unreadable(method: Any, *place: Any) -> Any:
        return await (unavailable() if place[2] == "input" else method(*place))

    world = WorkerWorld()
    await in_review(world)
    await world.store.put_cold(an_answer(body=ANSWER_BODY), world.row.expires_at)
    for _ in range(32):
        world.clock.move(timedelta(days=1))
        await world.deliver(store=HookedStore(world.store, get_cold=unreadable))

    assert (world.row.state, world.row.error_code) == (JobState.FAILED, "review_expired")


async def test_review_without_a_call_of_ours_stays_one_until_its_limit() -> None:
    """A kind says that an effect of its own is a maybe: no look of ours makes that an exhausted job."""

    async def run(context: Context, given: Ask) -> Said:
        raise CallFailure("", code="maybe", error_class="outcome_unknown", was_sent=True)

    world = WorkerWorld(run)
    await world.create(reserved_micro_usd=5_000)
    await world.deliver()
    assert world.row.state is JobState.NEEDS_REVIEW
    for _ in range(3):
        world.clock.move(timedelta(days=1))
        await world.deliver()
    assert (world.row.state, world.account.reserved) == (JobState.NEEDS_REVIEW, 5_000)
    world.clock.move(timedelta(days=30))
    await world.deliver()

    assert (world.row.state, world.row.error_code) == (JobState.FAILED, "review_expired")
    assert world.account.reserved == 0
