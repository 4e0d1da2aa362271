"""What others got wrong between an answer and its record: ID-… name the real-world cases."""

from __future__ import annotations

import json
from collections.abc import Sequence
from datetime import timedelta
from typing import Any

import pytest

from onceward.domain.change import RowChange
from onceward.domain.names import JobId, TenantId
from onceward.domain.policy import Capability
from onceward.domain.records import Answer
from onceward.domain.states import JobState
from onceward.domain.transaction import Op, Refused, WriteReply
from onceward.errors import StoreUnavailable
from onceward.providers.chat_errors import failure_of
from onceward.providers.http import HttpReply
from tests.support.builders import NOW
from tests.support.worker_world import WorkerWorld

pytestmark = pytest.mark.anyio

DEDUPES = Capability(dedup_window=timedelta(hours=1))


class FailingStore:
    """A store whose transactions fail so many times before they work."""

    def __init__(self, world: WorkerWorld, times: int) -> None:
        """Wrap the world's."""
        self._world = world
        self.left = times

    def __getattr__(self, name: str) -> Any:
        """Everything else is the store's."""
        return getattr(self._world.store, name)

    async def transact(self, ops: Sequence[Op], token: str) -> WriteReply:
        """Fail, or do it."""
        if self.left:
            self.left -= 1
            raise StoreUnavailable("dynamodb TransactWriteItems: InternalServerError")
        return await self._world.store.transact(ops, token)


class RepeatingStore(FailingStore):
    """A store whose first update is answered as the repeat of an applied write is."""

    def __init__(self, world: WorkerWorld) -> None:
        """Nothing fails; one answer is lost."""
        super().__init__(world, times=0)
        self._has_repeated = False

    async def update_job(self, tenant_id: TenantId, job_id: JobId, change: RowChange) -> WriteReply:
        """Apply; the first time, show the caller its own effect as a refusal."""
        reply = await self._world.store.update_job(tenant_id, job_id, change)
        if self._has_repeated:
            return reply
        self._has_repeated = True
        return Refused(row=self._world.row, is_row_refused=True)


def downstream(status: int, kind: str) -> Exception:
    """What a target that knows idempotency keys answers to one it knows."""
    body = json.dumps({"error": {"type": kind, "code": kind, "message": "the key"}})
    return failure_of(HttpReply(status=status, headers={}, body=body.encode()), NOW)


async def test_failed_save_repeats_the_save_and_not_the_call() -> None:
    """ID-14: the answer is an item before anything else is written, so two failed settles cost two deliveries."""
    world = WorkerWorld()
    await world.create()
    store = FailingStore(world, times=2)
    for receive_count in (1, 2, 3):
        await world.deliver(store=store, receive_count=receive_count)
        world.clock.move(timedelta(minutes=10))

    assert (world.row.state, len(world.provider.keys)) == (JobState.SUCCEEDED, 1)


async def test_save_that_never_works_keeps_the_tokens_that_were_paid() -> None:
    """ID-14: whatever became of the job, the answer's item holds what it cost."""
    world = WorkerWorld()
    await world.create()
    await world.deliver(store=FailingStore(world, times=99))
    (answer,) = [item for item in world.items.values() if isinstance(item, Answer)]

    assert answer.usage is not None
    assert (answer.usage.input, answer.cost.low) == (7, 10)
    assert not world.row.state.is_terminal


async def test_key_in_use_downstream_is_asked_again_under_the_same_key() -> None:
    """ID-20: the target works on our own earlier request; where it dedupes, asking again is safe and is done."""
    world = WorkerWorld()
    world.provider.capability = DEDUPES
    world.provider.script = [downstream(409, "idempotency_key_in_use")]
    await world.create()
    await world.deliver()
    assert not world.row.state.is_terminal
    world.clock.move(timedelta(minutes=5))
    await world.deliver(receive_count=2)

    assert world.row.state is JobState.SUCCEEDED
    assert len(world.provider.keys) == 2
    assert len(set(world.provider.keys)) == 1


async def test_same_key_with_other_parameters_downstream_is_final() -> None:
    """ID-21: it can never do better; one call, and the job has failed."""
    world = WorkerWorld()
    world.provider.script = [downstream(400, "idempotency_error")]
    await world.create()
    await world.deliver()

    assert (world.row.state, len(world.provider.keys)) == (JobState.FAILED, 1)


@pytest.mark.failure_mode("F4")
async def test_own_claim_that_was_repeated_is_no_rival() -> None:
    """ID-34: the SDK's repeat of an applied claim is refused by our own token, and the run goes on."""
    world = WorkerWorld()
    await world.create()
    await world.deliver(store=RepeatingStore(world))

    assert (world.row.state, world.row.attempts, len(world.provider.keys)) == (JobState.SUCCEEDED, 1, 1)
