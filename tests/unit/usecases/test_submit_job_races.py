"""Create under contention: money, simultaneous requests, lost answers and lost messages."""

from __future__ import annotations

import asyncio
from collections.abc import Sequence
from contextlib import suppress
from dataclasses import replace
from datetime import timedelta
from typing import Any

import pytest

from onceward.domain.ledger import Account
from onceward.domain.names import CreateToken, Fingerprint, Identity, JobId, TenantId
from onceward.domain.transaction import CreateRow, Op, Refused, WriteReply
from onceward.errors import (
    BlobUnavailable,
    BudgetExceeded,
    KeyReused,
    QueueUnavailable,
    StoreBusy,
    StoreUnavailable,
)
from onceward.usecases.ports import Wakeup
from onceward.usecases.submit_job import Kept, submit_job
from tests.support.api_world import ApiWorld
from tests.support.builders import IDENTITY, TENANT, TOKEN
from tests.support.submissions import TARIFF, a_wish, an_account, snapshot, stored_input, submit


def test_a_tenant_with_an_account_reserves_the_tariff() -> None:
    """Row, account and entry say the same, in one write."""
    world = ApiWorld()
    an_account(world, 2 * TARIFF)

    job = submit(world).job

    account = world.store.accounts[TENANT]
    (entry,) = world.store.entries.values()
    assert job.reserved_micro_usd == entry.micro_usd == TARIFF
    assert (account.available, account.reserved) == (TARIFF, TARIFF)
    assert entry.name == f"{job.job_id}#1#reserve"


def test_an_empty_account_refuses_and_nothing_is_stored() -> None:
    """402: no row, no input, no entry, no message; the replay of a job that was kept is not asked for money."""
    world = ApiWorld()
    an_account(world, TARIFF)
    first = submit(world)
    before = snapshot(world)

    with pytest.raises(BudgetExceeded):
        submit(world, identity=Identity("Z" * 26))

    assert snapshot(world) == before
    assert submit(world).job.job_id == first.job.job_id


def test_fifty_equal_requests_at_once_make_one_job() -> None:
    """ID-07: one row, one reservation, one message, fifty equal ids."""
    world = ApiWorld()
    an_account(world, 100 * TARIFF)

    async def race() -> list[Kept]:
        return await asyncio.gather(*(submit_job(world.intake, a_wish()) for _ in range(50)))

    kept = asyncio.run(race())

    assert len({one.job.job_id for one in kept}) == len(world.store.rows) == 1
    assert sum(one.is_new for one in kept) == 1
    assert world.store.accounts[TENANT].reserved == TARIFF
    assert len(world.queue.receive()) == 1


class RacingStore:
    """A store in which something happens between the read and the write of a create."""

    def __init__(self, world: ApiWorld, before_write: Any) -> None:
        self._world = world
        self._before_write = before_write

    def __getattr__(self, name: str) -> Any:
        return getattr(self._world.store, name)

    async def transact(self, ops: Sequence[Op], token: str) -> WriteReply:
        """Let it happen first."""
        reply: WriteReply | None = await self._before_write(ops, token)
        return reply or await self._world.store.transact(ops, token)


@pytest.mark.failure_mode("F1")
def test_our_own_write_seen_as_a_refusal_is_a_success() -> None:
    """An SDK that retries an applied create sees it refused by a row that carries its own token (own-token rule)."""
    world = ApiWorld()

    async def applied_and_lost(ops: Sequence[Op], token: str) -> WriteReply | None:
        await world.store.transact(ops, token)
        row = next(op.job for op in ops if isinstance(op, CreateRow))
        # Its account may refuse the second time as well: the row's reason is read first.
        return Refused(row=row, is_row_refused=True, is_account_refused=True)

    world.wrap_store = lambda _: RacingStore(world, applied_and_lost)

    assert submit(world).is_new
    assert len(world.queue.receive()) == 1


@pytest.mark.parametrize("is_same", [True, False])
def test_a_lost_race_is_a_replay_or_a_reused_key(is_same: bool) -> None:
    """Somebody else's row appeared after our read: its fingerprint decides, before any budget."""
    world = ApiWorld()
    theirs = Fingerprint("f" * 64 if is_same else "e" * 64)

    async def beaten(ops: Sequence[Op], token: str) -> WriteReply | None:
        mine = next(op.job for op in ops if isinstance(op, CreateRow))
        row = replace(
            mine, create_token=CreateToken("U" * 26), job_id=JobId(f"{IDENTITY}-UUUUUUUU"), fingerprint=theirs
        )
        return Refused(row=row, is_row_refused=True, is_account_refused=True)

    world.wrap_store = lambda _: RacingStore(world, beaten)

    if is_same:
        assert submit(world) == Kept(submit(world).job, is_new=False)
    else:
        with pytest.raises(KeyReused):
            submit(world)
    assert not world.queue.receive()


def test_a_refusal_without_a_reason_may_be_tried_again() -> None:
    """A refusal that names nothing is told as busy, never as the client's fault."""
    world = ApiWorld()

    async def nothing_said(ops: Sequence[Op], token: str) -> WriteReply | None:
        return Refused()

    world.wrap_store = lambda _: RacingStore(world, nothing_said)

    with pytest.raises(StoreBusy):
        submit(world)


LARGE = {"prompt": "CANARY" * 20_000}  # too large for the transaction: its input is an object


def objects(world: ApiWorld) -> list[str]:
    """The keys of all objects."""
    return list(world.blob._objects)


def test_an_empty_account_refuses_before_anything_is_stored() -> None:
    """402 leaves no object behind that no job names and no erasure could find."""
    world = ApiWorld()
    an_account(world, TARIFF - 1)

    with pytest.raises(BudgetExceeded):
        submit(world, input=LARGE)

    assert not objects(world)


def test_money_that_went_to_this_very_key_is_a_replay_and_no_402() -> None:
    """The row's reason comes before the budget's, also where the account is looked at first."""
    world = ApiWorld()
    an_account(world, TARIFF)

    async def race() -> list[Kept]:
        return await asyncio.gather(*(submit_job(world.intake, a_wish()) for _ in range(5)))

    class LookingStore:
        """A store whose account is read after another request has been through."""

        def __getattr__(self, name: str) -> Any:
            return getattr(world.store, name)

        async def get_account(self, tenant_id: TenantId) -> Account | None:
            """Let the other one be first."""
            world.wrap_store = lambda store: store
            await submit_job(world.intake, a_wish())
            return await world.store.get_account(tenant_id)

    world.wrap_store = lambda _: LookingStore()
    kept = submit(world)

    assert not kept.is_new
    assert world.store.accounts[TENANT].available == 0
    assert {one.job.job_id for one in asyncio.run(race())} == {kept.job.job_id}


@pytest.mark.parametrize("lost", ["the race", "the money", "without a reason"])
def test_a_refused_create_takes_its_object_back(lost: str) -> None:
    """Nothing names it, so nothing would ever erase it; what the winner stored stays."""
    world = ApiWorld()
    an_account(world, 10 * TARIFF)

    async def refuse(ops: Sequence[Op], token: str) -> WriteReply | None:
        assert len(objects(world)) == 1
        world.wrap_store = lambda store: store
        if lost == "the race":
            await submit_job(world.intake, a_wish(input=LARGE))
            return None
        return Refused(is_account_refused=lost == "the money")

    world.wrap_store = lambda _: RacingStore(world, refuse)
    if lost == "the race":
        kept = submit(world, input=LARGE)
        assert objects(world) == [f"jobs/{TENANT}/{kept.job.job_id}/input"]
        assert stored_input(world, kept).input == LARGE
    else:
        with pytest.raises((BudgetExceeded, StoreBusy)):
            submit(world, input=LARGE)
        assert not objects(world)


@pytest.mark.parametrize("answer", ["refused by itself", "lost"])
def test_an_own_write_keeps_its_object(answer: str) -> None:
    """Own-token rule: a refusal by our own row, or no answer at all, takes nothing from a job that may be there."""
    world = ApiWorld()

    async def applied(ops: Sequence[Op], token: str) -> WriteReply | None:
        await world.store.transact(ops, token)
        if answer == "lost":
            raise StoreUnavailable("no answer")
        return Refused(row=next(op.job for op in ops if isinstance(op, CreateRow)), is_row_refused=True)

    world.wrap_store = lambda _: RacingStore(world, applied)
    with suppress(StoreUnavailable):
        submit(world, input=LARGE)
    world.wrap_store = lambda store: store

    assert stored_input(world, submit(world, input=LARGE)).input == LARGE


def test_a_bucket_that_does_not_answer_changes_no_refusal(monkeypatch: pytest.MonkeyPatch) -> None:
    """The client hears why its create was refused; the object is left to the bucket's lifecycle."""
    world = ApiWorld()
    an_account(world, 10 * TARIFF)

    async def refuse(ops: Sequence[Op], token: str) -> WriteReply | None:
        return Refused(is_account_refused=True)

    async def silent(key: str) -> None:
        raise BlobUnavailable("no answer")

    monkeypatch.setattr(world.blob, "erase", silent)
    world.wrap_store = lambda _: RacingStore(world, refuse)

    with pytest.raises(BudgetExceeded):
        submit(world, input=LARGE)


class DeafQueue:
    """A queue that does not answer."""

    def __init__(self, world: ApiWorld) -> None:
        self._queue = world.queue

    def __getattr__(self, name: str) -> Any:
        return getattr(self._queue, name)

    async def wake(self, wakeup: Wakeup) -> None:
        """Refuse."""
        raise QueueUnavailable("no answer")


@pytest.mark.failure_mode("F43")
def test_a_lost_message_loses_no_job_and_a_later_replay_sends_it() -> None:
    """SQS-26: create never fails for its message; a replay sends it once somebody should have claimed the job."""
    world = ApiWorld()
    world.wrap_queue = lambda _: DeafQueue(world)
    assert submit(world).is_new

    world.wrap_queue = lambda queue: queue
    submit(world)
    assert not world.queue.receive()
    world.clock.move(timedelta(seconds=6))
    submit(world)

    assert len(world.queue.receive()) == 1


def test_a_claimed_job_is_not_sent_again_by_a_replay() -> None:
    """Once a worker had the job, messages are the worker's and the sweeper's business."""
    world = ApiWorld()
    kept = submit(world)
    (delivery,) = world.queue.receive()
    world.queue.acknowledge(delivery.receipt)
    world.keep(replace(kept.job, run_token=TOKEN))
    world.clock.move(timedelta(hours=1))

    submit(world)

    assert not world.queue.receive()
