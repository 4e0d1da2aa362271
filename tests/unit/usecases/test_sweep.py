"""The sweeper's pass: work by what is due and nothing else, one winner for each row, nothing lost in between."""

from __future__ import annotations

import asyncio
from collections import Counter
from dataclasses import replace
from datetime import timedelta
from typing import Any

import pytest

from onceward.adapters.memory.store import MemoryStore
from onceward.domain.change import Fields, RowChange
from onceward.domain.due import all_shards
from onceward.domain.job import Job
from onceward.domain.names import Identity, TenantId
from onceward.domain.states import JobState, WaitingFor
from onceward.usecases.ports import DueRow
from onceward.usecases.sweep import PAGE
from tests.support.builders import NOW, TENANT, TOKEN, a_running_job, an_open_call, seconds
from tests.support.sweep_world import MINUTE, CountingStore, SweepWorld, jobs

pytestmark = pytest.mark.anyio

EXHAUSTED: dict[str, Any] = {"state": JobState.FAILED, "error_code": "attempts_exhausted", "finished_at": NOW}
IN_REVIEW: dict[str, Any] = {
    "state": JobState.NEEDS_REVIEW,
    "review_until": NOW + timedelta(days=30),
    "open": (an_open_call(),),
}


@pytest.mark.failure_mode("F76")
@pytest.mark.parametrize("others", [0, 1_000])
async def test_work_is_proportional_to_what_is_due(others: int) -> None:
    """One query a shard, then two requests for each row that is due: a thousand healthy jobs cost nothing."""
    world = SweepWorld()
    due, sleeping = jobs(12 + others)[:12], jobs(12 + others)[12:]
    await world.keep(*due, *(replace(job, due=NOW + MINUTE) for job in sleeping))
    counts = await world.sweep()

    assert counts == {"wake": 12}
    assert world.store.asked == {"page": len(all_shards()), "row": 12, "write": 12}
    assert set(world.woken()) == {job.job_id for job in due}


@pytest.mark.failure_mode("F77")
async def test_page_is_bounded_and_the_rest_comes_first_next_time() -> None:
    """F77: oldest first and no cursor, so that a pass that dies or is full skips nobody."""
    world = SweepWorld()
    many = jobs(3 * PAGE, **IN_REVIEW, wake_at=NOW - MINUTE)
    await world.keep(*many)
    first = await world.sweep()
    second = await world.sweep()
    await world.sweep()

    assert (first, second) == ({"wake": PAGE}, {"wake": PAGE})
    assert all(world.row(job).due == NOW + MINUTE for job in many)


@pytest.mark.failure_mode("F74")
async def test_overlapping_passes_send_once() -> None:
    """F74: whoever moves ``due`` sends; the others see that it has moved."""
    world = SweepWorld()
    due = jobs(20)
    await world.keep(*due)
    passes = await asyncio.gather(*(world.sweep() for _ in range(4)))

    assert world.woken() == Counter(job.job_id for job in due)
    assert sum(counts.get("wake", 0) for counts in passes) == 20


@pytest.mark.failure_mode("F75")
async def test_index_that_is_behind_is_a_hint_only() -> None:
    """F75: a row that has ended, moved or vanished meanwhile is left alone."""
    world = SweepWorld()
    (done,) = jobs(1, state=JobState.SUCCEEDED, due=None)
    await world.keep(done)
    world.store.stale = (DueRow(TENANT, done.identity, NOW - MINUTE), DueRow(TENANT, Identity("Z" * 26), NOW))
    counts = await world.sweep()

    assert counts == {"stale": len(all_shards())}
    assert (world.row(done), world.woken()) == (done, Counter())


async def test_claim_between_read_and_move_is_no_rescue() -> None:
    """The move is conditioned on state, token and ``due``: a run that began wins, and no message is sent."""
    world = SweepWorld()
    (job,) = jobs(1)
    await world.keep(job)

    class Claiming(CountingStore):
        """A worker claims right after the sweeper's read."""

        async def get_job(self, tenant_id: TenantId, identity: Identity) -> Job | None:
            seen = await MemoryStore.get_job(self, tenant_id, identity)
            begun = RowChange(when=(), set=Fields(state=JobState.RUNNING, run_token=TOKEN), add={"seq": 1})
            await MemoryStore.update_job(self, tenant_id, job.job_id, begun)
            return seen

    claiming = Claiming()
    claiming.rows, claiming.shards = world.store.rows, world.store.shards
    world.store = claiming

    assert await world.sweep() == {"overtaken": 1}
    assert world.woken() == Counter()


async def test_lost_send_costs_one_step_and_holds_up_nobody() -> None:
    """SQS-25: moved and not sent: counted as failed, due again a step later; the others are sent all the same."""
    world = SweepWorld()
    due = jobs(10)
    await world.keep(*due)
    lost = [due[2].job_id, due[7].job_id]
    world.queue.deaf_for = lost
    counts = await world.sweep()

    assert counts == {"wake": 8, "failed": 2}
    assert set(world.woken()) == {job.job_id for job in due} - set(lost)
    world.queue.deaf_for = ()
    world.clock.move(MINUTE)
    for job in due:
        if job.job_id not in lost:  # a worker has run them meanwhile
            world.store.rows[TENANT, job.identity] = replace(world.row(job), state=JobState.SUCCEEDED, due=None)
    assert await world.sweep() == {"wake": 2}
    assert set(world.woken()) == set(lost)


async def test_row_that_cannot_be_read_holds_up_nobody() -> None:
    """An outage of one partition is that partition's."""
    world = SweepWorld()
    due = jobs(5)
    await world.keep(*due)
    world.store.is_down_for = {due[0].identity}

    assert await world.sweep() == {"wake": 4, "failed": 1}


async def test_row_that_nobody_can_make_sense_of_holds_up_nobody() -> None:
    """A bug at one row is counted, so that somebody looks; all the others of its shard are woken."""

    class GarbledStore(CountingStore):
        """Holds one row that this code cannot read."""

        async def get_job(self, tenant_id: TenantId, identity: Identity) -> Job | None:
            """Not that one."""
            if identity == due[0].identity:
                raise ValueError("no job can be made of it")
            return await super().get_job(tenant_id, identity)

    world = SweepWorld()
    world.store = GarbledStore()
    due = jobs(5)
    await world.keep(*due)

    assert await world.sweep() == {"wake": 4, "bug": 1}


async def test_steps_double_from_one_to_ten_minutes_while_nothing_helps() -> None:
    """A job that nobody can run is not asked for every minute for ever, and never less than every ten."""
    world = SweepWorld()
    (job,) = jobs(1, created_at=NOW)
    await world.keep(job)
    steps = []
    for _ in range(8):
        await world.sweep()
        due = world.row(job).due
        assert due is not None
        steps.append(round((due - world.clock.now()).total_seconds() / 60))
        world.clock.move(due - world.clock.now())

    assert steps == [1, 1, 2, 4, 8, 10, 10, 10]


async def test_live_lease_is_looked_at_when_it_ends() -> None:
    """A healthy run is not woken; if it dies, the next look is right after its lease."""
    world = SweepWorld()
    job = a_running_job()
    await world.keep(job)

    assert await world.sweep() == {"nothing": 1}
    due = world.row(job).due
    assert job.lease_until is not None
    assert due is not None
    assert job.lease_until < due <= job.lease_until + seconds(5)
    world.clock.move(due - NOW)
    assert await world.sweep() == {"wake": 1}


@pytest.mark.failure_mode("F56")
@pytest.mark.parametrize("fields", [EXHAUSTED, IN_REVIEW], ids=["exhausted", "review"])
async def test_letter_that_was_lost_with_its_worker_is_sent_once(fields: dict[str, Any]) -> None:
    """F56, invariant 14: the sweeper sends it itself, takes it off its list, and a second pass sends none."""
    world = SweepWorld()
    (job,) = jobs(1, **fields)
    await world.keep(job)

    assert await world.sweep() == {"dead_letter": 1}
    assert world.letters() == {job.job_id: 1}
    assert world.row(job).due == (None if fields is EXHAUSTED else NOW + MINUTE)
    assert await world.sweep() == {}
    assert (world.woken(), world.letters()[job.job_id]) == (Counter(), 1)


async def test_letter_that_cannot_be_sent_stays_due() -> None:
    """Nothing is removed before it is sent."""
    world = SweepWorld()
    (job,) = jobs(1, **EXHAUSTED)
    await world.keep(job)
    world.queue.deaf_for = [job.job_id]

    assert await world.sweep() == {"failed": 1}
    assert world.row(job) == job
    world.queue.deaf_for = ()
    assert await world.sweep() == {"dead_letter": 1}


async def test_waiting_job_is_woken_after_its_time_and_not_before() -> None:
    """SQS-21: a wait of half an hour is the row's, whatever SQS's own limits are."""
    world = SweepWorld()
    wake_at = NOW + timedelta(minutes=30)
    (job,) = jobs(1, state=JobState.WAITING, waiting_for=WaitingFor.RETRY, wake_at=wake_at, due=NOW)
    await world.keep(job)

    assert await world.sweep() == {"nothing": 1}
    assert world.row(job).due == wake_at
    world.clock.move(timedelta(minutes=29))
    assert await world.sweep() == {}
    world.clock.move(MINUTE)
    assert await world.sweep() == {"wake": 1}


async def test_expired_row_is_left_to_ttl() -> None:
    """It counts as absent, whether or not it has been removed."""
    world = SweepWorld()
    (job,) = jobs(1, expires_at=NOW)
    await world.keep(job)

    assert await world.sweep() == {"stale": 1}
    assert world.woken() == Counter()


def review_rows(count: int) -> list[Job]:
    """Rows of one partition: all reviews share theirs."""
    due = NOW - timedelta(days=1)
    return jobs(count, state=JobState.NEEDS_REVIEW, wake_at=due, review_until=NOW + timedelta(days=3), due=due)


@pytest.mark.parametrize("expired", [True, False], ids=["expired", "unreadable"])
async def test_rows_that_cannot_be_moved_hide_no_other(expired: bool) -> None:
    """A page of them stays the oldest page for as long as TTL needs: the pass looks past it, at the same minute."""
    world = SweepWorld()
    *stuck, live = review_rows(2 * PAGE + 1)
    stuck = [replace(job, expires_at=NOW + seconds(1)) for job in stuck] if expired else stuck
    live = replace(live, due=NOW - seconds(1))
    for start in range(0, len(stuck), 50):
        await world.keep(*stuck[start : start + 50])
    await world.keep(live)
    if expired:
        world.clock.move(seconds(2))
    else:
        world.store.is_down_for = {job.identity for job in stuck}
    counts = await world.sweep()

    assert counts == {"stale" if expired else "failed": 2 * PAGE, "wake": 1}
    assert world.woken() == Counter({live.job_id: 1})


async def test_pass_over_stuck_rows_has_an_end(monkeypatch: pytest.MonkeyPatch) -> None:
    """However many there are, one pass looks past so many of a shard, and no more."""
    monkeypatch.setattr("onceward.usecases.sweep.MOST_STUCK", PAGE)
    world = SweepWorld()
    stuck = review_rows(2 * PAGE)
    for start in range(0, len(stuck), 50):
        await world.keep(*stuck[start : start + 50])
    world.store.is_down_for = {job.identity for job in stuck}

    assert await world.sweep() == {"failed": PAGE}
