"""A dead letter that comes back: at most one new epoch, with its own attempts and its own money."""

from __future__ import annotations

import json
from dataclasses import replace
from typing import Any

import pytest

from onceward.adapters.memory.queue import MemoryQueue
from onceward.adapters.memory.store import MemoryStore
from onceward.domain.change import RowChange
from onceward.domain.claim import Claim, Unclaimable
from onceward.domain.deliveries import Acknowledge, PutBack
from onceward.domain.ledger import Account
from onceward.domain.names import Identity, JobId, TenantId
from onceward.domain.reopening import Redrive
from onceward.domain.states import AttemptOutcome, JobState
from onceward.domain.transaction import Op, Refused, WriteReply
from onceward.errors import CallFailure, QueueUnavailable, StoreUnavailable
from onceward.usecases.ports import DeadLetter
from onceward.usecases.send_letter import send_letter
from tests.support.builders import JOB_ID, NOW, TENANT, a_policy, seconds
from tests.support.fakes import a_reply
from tests.support.worker_world import WorkerWorld

pytestmark = pytest.mark.anyio

UNREACHABLE = CallFailure("", code="provider_unreachable", error_class="transient", was_sent=False)
UNKNOWN = CallFailure("", code="connection_lost", error_class="outcome_unknown", was_sent=True)
HELD = 5_000


async def an_exhausted_world(**fields: Any) -> WorkerWorld:
    """Three attempts failed, the letter is sent; the provider works again."""
    world = WorkerWorld()
    world.provider.script = [UNREACHABLE] * 3
    await world.create(**{"reserved_micro_usd": HELD, **fields})
    for _ in range(3):
        await world.deliver()
        world.clock.move(seconds(20))
    assert (world.row.state, world.row.error_code) == (JobState.FAILED, "attempts_exhausted")
    return world


def letters(world: WorkerWorld) -> list[tuple[int, str]]:
    """Epoch and reason of each dead letter, oldest first."""
    return [(letter["epoch"], letter["reason"]) for letter in map(json.loads, world.queue.dead_letters)]


async def test_redriven_letter_opens_the_job_and_its_delivery_runs_it() -> None:
    """SQS-28: a new epoch with a fresh budget of attempts; history stays; one capture, in the new epoch."""
    world = await an_exhausted_world()
    report = await world.deliver(letter_epoch=1)

    assert (report.redrive, report.found, report.disposition) == (Redrive.REOPENED, Claim.START, Acknowledge())
    assert (world.row.state, world.row.epoch, world.row.attempts) == (JobState.SUCCEEDED, 2, 1)
    kept = [place for place in sorted(world.items) if place.startswith("attempt#")]
    assert kept == ["attempt#0001#0001", "attempt#0001#0002", "attempt#0001#0003"]
    assert world.items["attempt#0001#0003"].attempt.outcome is AttemptOutcome.FAILED
    assert sorted(name for _, name in world.store.entries) == [
        f"{JOB_ID}#1#release",
        f"{JOB_ID}#2#capture",
        f"{JOB_ID}#2#reserve",
    ]
    assert world.account == Account(tenant_id=TENANT, granted=HELD, available=0, reserved=0, captured=HELD)


async def test_downstream_key_of_the_new_epoch_is_a_new_one() -> None:
    """Nothing of the ended epoch is unknown, so the target sees a new request."""
    world = WorkerWorld(policy=a_policy())
    world.provider.script = [CallFailure("", code="busy", error_class="rate_limited", was_sent=True)] * 3
    await world.create()
    for _ in range(3):
        await world.deliver()
        world.clock.move(seconds(20))
    await world.deliver(letter_epoch=1)

    assert len(world.provider.keys) == 4
    assert [f"-{epoch}-" in key for epoch, key in zip((1, 1, 1, 2), world.provider.keys, strict=True)] == [True] * 4


async def test_accepted_step_is_not_bought_again_in_a_new_epoch() -> None:
    """What the first epoch paid for is read from its answer."""
    world = WorkerWorld()
    world.provider.script = [a_reply(), *[UNREACHABLE] * 3]
    await world.create(steps=["a", "b"])
    for _ in range(3):
        await world.deliver()
        world.clock.move(seconds(20))
    assert world.row.error_code == "attempts_exhausted"
    await world.deliver(letter_epoch=1)

    assert (world.row.state, *(ref.epoch for _, ref in sorted(world.row.accepted.items()))) == (
        JobState.SUCCEEDED,
        1,
        2,
    )
    assert len(world.provider.keys) == 5


@pytest.mark.failure_mode("F59")
async def test_second_letter_of_an_epoch_changes_nothing() -> None:
    """Invariant 15: a double redrive, and one that comes after the new epoch's end."""
    world = await an_exhausted_world()
    world.provider.script = [UNREACHABLE] * 3
    first = await world.deliver(letter_epoch=1)
    again = await world.deliver(letter_epoch=1)
    for _ in range(3):
        world.clock.move(seconds(20))
        await world.deliver()
    assert (world.row.epoch, world.row.error_code) == (2, "attempts_exhausted")
    settled = world.row
    late = await world.deliver(letter_epoch=1)

    assert [one.redrive for one in (first, again, late)] == [Redrive.REOPENED, *[Redrive.CHANGED_NOTHING] * 2]
    assert (late.found, late.disposition, world.row) == (Unclaimable.TERMINAL, Acknowledge(), settled)
    assert letters(world) == [(1, "attempts_exhausted"), (2, "attempts_exhausted")]


@pytest.mark.failure_mode("F57")
@pytest.mark.parametrize(
    "fields",
    [
        {"state": JobState.SUCCEEDED},
        {"state": JobState.CANCELLED},
        {"error_code": "no_text"},
        {"erased_at": NOW},
        {"expires_at": NOW},
    ],
)
async def test_letter_of_a_job_that_is_over_otherwise_is_acknowledged(fields: dict[str, Any]) -> None:
    """Terminal in another way, erased or expired: nothing is written, nothing is sent."""
    world = await an_exhausted_world()
    world.overwrite(**fields)
    before, asked = world.row, len(world.provider.keys)
    report = await world.deliver(letter_epoch=1)

    assert (report.redrive, report.disposition) == (Redrive.CHANGED_NOTHING, Acknowledge())
    assert (world.row, len(world.provider.keys)) == (before, asked)


async def test_letter_of_a_review_never_sends_again() -> None:
    """Redriving an unknown outcome is a wake-up: the look may find the truth, and asks for nothing anew."""
    world = WorkerWorld()
    world.provider.script = [UNKNOWN]
    await world.create(reserved_micro_usd=HELD)
    await world.deliver()
    assert world.row.state is JobState.NEEDS_REVIEW
    world.clock.move(seconds(61))
    report = await world.deliver(letter_epoch=1)

    assert (report.redrive, report.found) == (Redrive.CHANGED_NOTHING, Claim.LOOK)
    assert (world.row.state, world.row.epoch, len(world.provider.keys)) == (JobState.NEEDS_REVIEW, 1, 1)
    assert world.account.reserved == HELD


async def test_refused_budget_sends_the_letter_back_with_its_reason() -> None:
    """The job stays as it ended; the message ends only once the letter is back; a grant and a redrive then work."""
    world = await an_exhausted_world()
    world.store.accounts[TENANT] = Account(tenant_id=TENANT, granted=HELD, available=1, reserved=0, captured=4_999)
    settled = world.row
    report = await world.deliver(letter_epoch=1)

    assert (report.redrive, report.disposition, world.row) == (Redrive.BUDGET_REFUSED, Acknowledge(), settled)
    assert letters(world)[-1] == (1, "budget_exceeded")
    world.store.accounts[TENANT] = Account(tenant_id=TENANT, granted=HELD, available=HELD, reserved=0, captured=0)
    await world.deliver(letter_epoch=1)

    assert (world.row.state, world.row.epoch) == (JobState.SUCCEEDED, 2)


async def test_tenant_without_an_account_reserves_nothing() -> None:
    """Unlimited stays unlimited: one row's write, and the capture's entry at the end."""
    world = await an_exhausted_world(reserved_micro_usd=None)
    await world.deliver(letter_epoch=1)

    assert world.row.state is JobState.SUCCEEDED
    assert [name for _, name in world.store.entries] == [f"{JOB_ID}#2#capture"]


class Instead:
    """A store that does something else at some methods, and otherwise what it does."""

    def __init__(self, store: MemoryStore, methods: dict[str, Any]) -> None:
        self._store = store
        self._methods = methods

    def __getattr__(self, name: str) -> Any:
        return self._methods.get(name) or getattr(self._store, name)


def instead(world: WorkerWorld, **methods: Any) -> Any:
    """The world's store, but for these methods."""
    return Instead(world.store, methods)


async def test_own_write_seen_as_refused_is_our_re_opening() -> None:
    """The own-token rule: the SDK's retry of an applied transaction says refused, and the row says who it was."""
    world = await an_exhausted_world()

    async def asked_twice(ops: list[Op], token: str) -> WriteReply:
        before = world.row.epoch
        reply = await world.store.transact(ops, token)
        return Refused(row=world.row, is_row_refused=True) if world.row.epoch != before else reply

    report = await world.deliver(letter_epoch=1, store=instead(world, transact=asked_twice))

    assert (report.redrive, world.row.state, world.row.epoch) == (Redrive.REOPENED, JobState.SUCCEEDED, 2)


async def test_lost_race_is_a_wake_up() -> None:
    """Two letters at once: the other one opened the job first, and is running it."""
    world = await an_exhausted_world()

    async def late(tenant_id: TenantId, identity: Identity) -> Any:
        seen = await world.store.get_job(tenant_id, identity)
        if seen is not None and seen.epoch == 1:
            await world.deliver(letter_epoch=1)
        return seen

    report = await world.deliver(letter_epoch=1, store=instead(world, get_job=late))

    assert (report.redrive, report.found) == (Redrive.CHANGED_NOTHING, Unclaimable.TERMINAL)
    assert (world.row.state, world.row.epoch, world.account.captured) == (JobState.SUCCEEDED, 2, HELD)


@pytest.mark.parametrize("receive_count", [1, 49])
async def test_undecided_letter_comes_back_however_often(receive_count: int) -> None:
    """No sweeper knows of an exhausted job: its letter is the only thing that can open it, and is never dropped."""
    world = await an_exhausted_world()

    async def down(tenant_id: TenantId, identity: Identity) -> Any:
        raise StoreUnavailable("planned")

    store = instead(world, get_job=down)
    report = await world.deliver(letter_epoch=1, receive_count=receive_count, store=store)

    assert (report.redrive, world.row.epoch) == (Redrive.NOT_ANSWERED, 1)
    assert isinstance(report.disposition, PutBack)


async def test_letter_for_newer_code_comes_back() -> None:
    """A kind's newer version is opened by the code that knows it; no attempt, no letter."""
    world = await an_exhausted_world()
    world.overwrite(kind_version=2)
    report = await world.deliver(letter_epoch=1, receive_count=49)

    assert (report.redrive, report.disposition) == (Redrive.UNKNOWN_CODE, PutBack(seconds(300)))
    assert (world.row.epoch, len(letters(world))) == (1, 1)


class DeafQueue(MemoryQueue):
    """Takes no dead letters."""

    async def bury(self, letter: DeadLetter) -> None:
        """Not now."""
        raise QueueUnavailable("planned")


async def test_letter_that_cannot_go_back_keeps_its_message() -> None:
    """The budget refuses and the dead letters do not answer: nothing is acknowledged."""
    world = await an_exhausted_world()
    world.store.accounts[TENANT] = Account(tenant_id=TENANT, granted=1, available=1, reserved=0, captured=0)
    world.queue = DeafQueue(world.clock, visibility=seconds(5_400), max_receive_count=50)
    report = await world.deliver(letter_epoch=1)

    assert (report.redrive, type(report.disposition)) == (Redrive.NOT_ANSWERED, PutBack)


async def test_worker_that_dies_after_the_re_opening_leaves_a_due_job() -> None:
    """The row is queued and due in its new epoch: the sweeper finishes what the letter began."""
    world = await an_exhausted_world()

    async def dies(tenant_id: TenantId, job_id: JobId, change: RowChange) -> WriteReply:
        raise StoreUnavailable("dead")

    await world.deliver(letter_epoch=1, store=instead(world, update_job=dies))

    assert (world.row.state, world.row.epoch) == (JobState.QUEUED, 2)
    assert world.row.due == world.clock.now() + seconds(30)
    await world.deliver()
    assert (world.row.state, world.account.captured) == (JobState.SUCCEEDED, HELD)


async def test_letter_s_late_bookkeeping_leaves_the_new_epoch_due() -> None:
    """The worker that ended the first epoch takes it off the sweeper's list only now: that list has a new line."""
    world = await an_exhausted_world()
    ended = replace(world.row, due=NOW)
    world.provider.script = [UNREACHABLE]
    await world.deliver(letter_epoch=1)
    waiting = world.row
    await send_letter(world.deps(), ended)

    assert (waiting.state, world.row) == (JobState.WAITING, waiting)
    assert waiting.due is not None
