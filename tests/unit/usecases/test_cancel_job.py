"""Cancel: ended at once where nothing can be unknown, else a recorded wish that a closing run obeys."""

from __future__ import annotations

import asyncio
from dataclasses import replace
from datetime import timedelta
from typing import Any

import pytest

from onceward.domain.change import Counts, Fields, RowChange
from onceward.domain.claim import Claim, Claimant, claim_change, decide_claim
from onceward.domain.job import Job
from onceward.domain.ledger import Account
from onceward.domain.names import JobId, TenantId
from onceward.domain.states import JobState, ProviderCancel, WaitingFor
from onceward.domain.sweep import Rescue, decide_rescue
from onceward.domain.timing import Timing
from onceward.domain.transaction import Refused, WriteReply
from onceward.errors import JobNotFound, StoreBusy
from onceward.usecases.cancel_job import cancel_job
from tests.support.api_world import ApiWorld
from tests.support.builders import JOB_ID, NOW, TENANT, TOKEN, a_job, a_policy, a_running_job, an_open_call

RETRYING: dict[str, Any] = {
    "state": JobState.WAITING,
    "waiting_for": WaitingFor.RETRY,
    "wake_at": NOW + timedelta(minutes=3),
    "attempts": 1,
}
IN_REVIEW: dict[str, Any] = {
    "state": JobState.NEEDS_REVIEW,
    "attempts": 1,
    "review_until": NOW + timedelta(days=30),
    "open": (an_open_call(),),
}


def cancel(world: ApiWorld, *, tenant: str = TENANT, store: Any = None) -> Job:
    """Cancel as a tenant."""
    ports = world.intake
    return asyncio.run(
        cancel_job(
            store or world.store,
            ports.queue,
            world.clock,
            world.ids,
            tenant_id=TenantId(tenant),
            job_id=JobId(JOB_ID),
        )
    )


@pytest.mark.parametrize("fields", [{}, RETRYING, {**RETRYING, "waiting_for": WaitingFor.APPROVAL}])
def test_a_job_that_nobody_holds_ends_at_once_and_frees_its_money(fields: dict[str, Any]) -> None:
    """CA-04: one transaction ends it and releases; no worker is asked, nothing is due."""
    world = ApiWorld()
    world.store.accounts[TENANT] = Account(tenant_id=TENANT, granted=9, available=4, reserved=5, captured=0)
    world.keep(a_job(**fields, reserved_micro_usd=5))

    job = cancel(world)

    assert job == world.kept(JOB_ID)
    assert (job.state, job.cancelled_at, job.finished_at, job.cancel_requested_at) == (
        JobState.CANCELLED,
        NOW,
        NOW,
        NOW,
    )
    assert (job.due, job.wake_at, job.waiting_for) == (None, None, None)
    assert world.store.accounts[TENANT] == Account(tenant_id=TENANT, granted=9, available=9, reserved=0, captured=0)
    assert list(world.store.entries) == [(TENANT, f"{JOB_ID}#1#release")]
    assert not world.queue.receive()


def test_a_tenant_without_an_account_gets_no_entry() -> None:
    """Nothing was reserved, so nothing is released: one plain write."""
    world = ApiWorld()
    world.keep(a_job())

    assert cancel(world).state is JobState.CANCELLED
    assert not world.store.entries


def test_a_running_job_keeps_running_until_its_worker_hears() -> None:
    """The wish is recorded for the next heartbeat; the lease, ``due`` and the message stay the worker's."""
    world = ApiWorld()
    before = a_running_job()
    world.keep(before)

    job = cancel(world)

    assert job == replace(before, cancel_requested_at=NOW, seq=before.seq + 1)
    assert not world.queue.receive()


@pytest.mark.parametrize(
    "fields",
    [
        pytest.param({**RETRYING, "open": (an_open_call(),)}, id="a maybe before its retry"),
        pytest.param({**RETRYING, "waiting_for": WaitingFor.PROVIDER}, id="the provider answers later"),
        pytest.param({**RETRYING, "waiting_for": WaitingFor.LOOKUP, "open": (an_open_call(),)}, id="a lookup"),
        pytest.param({**IN_REVIEW, "wake_at": NOW + timedelta(hours=1)}, id="a review"),
    ],
)
def test_where_something_may_be_unknown_a_closing_run_is_brought_now(fields: dict[str, Any]) -> None:
    """A worker that looks now can claim the job; if its message is lost, the sweeper sends another."""
    world = ApiWorld()
    world.keep(a_job(**fields))

    job = cancel(world)

    assert job == world.kept(JOB_ID)
    assert (job.state, job.cancel_requested_at, job.due, job.wake_at) == (fields["state"], NOW, NOW, NOW)
    assert len(world.queue.receive()) == 1
    who = Claimant(job_id=JOB_ID, token=TOKEN, limits=(a_policy().limit,), now=NOW, timing=Timing())
    claim = decide_claim(job, who)
    assert isinstance(claim, Claim)
    assert claim_change(claim, who).holds(job)
    assert decide_rescue(job, NOW, Timing()).rescue is Rescue.WAKE


def test_a_review_that_still_owes_its_dead_letter_keeps_owing_it() -> None:
    """Without ``wake_at`` the letter has not been sent: a cancel must not hide that from the sweeper."""
    world = ApiWorld()
    world.keep(a_job(**IN_REVIEW))

    job = cancel(world)

    assert (job.wake_at, job.due, job.provider_cancel) == (None, NOW, ProviderCancel.NONE)
    assert decide_rescue(job, NOW, Timing()).rescue is Rescue.DEAD_LETTER
    assert len(world.queue.receive()) == 1


@pytest.mark.parametrize("state", [JobState.SUCCEEDED, JobState.FAILED, JobState.CANCELLED])
def test_a_job_that_is_over_stays_as_it_is(state: JobState) -> None:
    """CA-01: no flip-flop; the answer is the state."""
    world = ApiWorld()
    over = a_job(state=state)
    world.keep(over)

    assert cancel(world) == over
    assert world.kept(JOB_ID) == over
    assert not world.queue.receive()


def test_asking_twice_records_once_and_sends_again() -> None:
    """The first wish's instant holds; whoever recorded it may have died before its message."""
    world = ApiWorld()
    world.keep(a_job(**{**RETRYING, "open": (an_open_call(),)}))
    first = cancel(world)
    world.clock.move(timedelta(seconds=9))

    assert cancel(world) == first
    assert len(world.queue.receive()) == 2


def test_a_foreign_job_is_an_absent_one() -> None:
    """Nothing of it is told or changed."""
    world = ApiWorld()
    world.keep(a_job())

    with pytest.raises(JobNotFound):
        cancel(world, tenant="globex")

    assert world.kept(JOB_ID) == a_job()


class RacingStore:
    """A store in which somebody else writes before our write, or takes its answer away."""

    def __init__(self, world: ApiWorld, *, is_lost: bool = False, races: int = 1) -> None:
        self._world = world
        self._is_lost = is_lost
        self._races = races

    def __getattr__(self, name: str) -> Any:
        return getattr(self._world.store, name)

    async def update_job(self, tenant_id: TenantId, job_id: JobId, change: RowChange) -> WriteReply:
        """Apply and refuse (the SDK's retry), or let a transition come first."""
        if self._races and self._is_lost:
            self._races -= 1
            await self._world.store.update_job(tenant_id, job_id, change)
            return Refused(row=self._world.kept(JOB_ID), is_row_refused=True)
        if self._races:
            self._races -= 1
            moved = RowChange(when=(), set=Fields(state=JobState.RUNNING, run_token=TOKEN), add=Counts(seq=1))
            await self._world.store.update_job(tenant_id, job_id, moved)
        return await self._world.store.update_job(tenant_id, job_id, change)


def test_a_claim_in_between_turns_the_end_into_a_wish() -> None:
    """The row decides the race: what was queued when we read is running when we write."""
    world = ApiWorld()
    world.keep(a_job())

    job = cancel(world, store=RacingStore(world))

    assert (job.state, job.cancel_requested_at, job.cancelled_at) == (JobState.RUNNING, NOW, None)


def test_our_own_write_seen_as_a_refusal_is_the_state() -> None:
    """An SDK's retry of an applied cancel finds the wish recorded, and the message is still sent."""
    world = ApiWorld()
    world.keep(a_job(**{**RETRYING, "open": (an_open_call(),)}))

    job = cancel(world, store=RacingStore(world, is_lost=True))

    assert job.cancel_requested_at == NOW
    assert len(world.queue.receive()) == 1


def test_a_job_that_never_stands_still_is_told_as_busy() -> None:
    """Five lost races, and the client may ask again."""
    world = ApiWorld()
    world.keep(a_job())

    with pytest.raises(StoreBusy):
        cancel(world, store=RacingStore(world, races=99))
