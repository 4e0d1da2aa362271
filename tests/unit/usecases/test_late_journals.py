"""A journal that reaches the table late is never put over a newer one: no payment is hidden by it."""

from __future__ import annotations

import asyncio
from typing import Any

import pytest

from onceward.domain.names import JobId, TenantId
from onceward.domain.states import JobState
from onceward.domain.transaction import Refused
from onceward.usecases.context import Context
from onceward.usecases.ports import ModelReply
from tests.support.builders import JOB_ID, TENANT
from tests.support.fakes import a_reply
from tests.support.hooked_store import HookedStore
from tests.support.worker_world import Ask, Said, WorkerWorld

pytestmark = pytest.mark.anyio


async def said(context: Context, step: str) -> Said:
    """Ask one step."""
    return Said.model_validate_json((await context.model.generate(step, [("user", step)], answer=Said)).text)


async def test_journal_that_was_cancelled_and_is_applied_late_hides_no_payment() -> None:
    """A cancelled caller leaves at once, its write goes on: no later step is sent over which it could be put."""
    late: list[asyncio.Task[Any]] = []
    may_apply, is_leaving = asyncio.Event(), asyncio.Event()

    async def update(method: Any, tenant_id: TenantId, job_id: JobId, change: Any) -> Any:
        if any(call.step == "first/1" for call in change.set.get("open", ())) and not late:

            async def applied() -> Any:
                await may_apply.wait()
                return await method(tenant_id, job_id, change)

            late.append(asyncio.create_task(applied()))
            is_leaving.set()
            return await asyncio.shield(late[0])
        return await method(tenant_id, job_id, change)

    async def run(context: Context, given: Ask) -> Said:
        first = asyncio.create_task(said(context, "first"))
        await is_leaving.wait()
        first.cancel()
        await asyncio.gather(first, return_exceptions=True)
        return await said(context, "second")

    async def provider() -> ModelReply:
        may_apply.set()
        await late[0]
        seen.append([call.step for call in world.row.open])
        return a_reply()

    seen: list[list[str]] = []
    world = WorkerWorld(run)
    world.provider.script = [provider]
    await world.create()
    report = await world.deliver(store=HookedStore(world.store, update_job=update))
    may_apply.set()
    await asyncio.gather(*late, return_exceptions=True)

    assert (seen, report.stopped_by) == ([], "store_unavailable")
    assert (world.row.state, world.row.attempts, world.row.open) == (JobState.QUEUED, 0, ())


async def test_journal_that_arrives_once_more_after_a_newer_one_hides_no_payment() -> None:
    """An SDK sends a write twice, and the second copy is held up on its way: it is refused, the newer one stays."""
    changes: list[Any] = []

    async def update(method: Any, tenant_id: TenantId, job_id: JobId, change: Any) -> Any:
        if "open" in change.set and "state" not in change.set:
            changes.append(change)
        return await method(tenant_id, job_id, change)

    async def second_is_asked() -> ModelReply:
        late.append(await world.store.update_job(TENANT, JOB_ID, changes[0]))
        seen.append([call.step for call in world.row.open])
        return a_reply()

    late: list[Any] = []
    seen: list[list[str]] = []
    world = WorkerWorld()
    world.provider.script = [a_reply(), second_is_asked]
    await world.create(steps=["first", "second"])
    await world.deliver(store=HookedStore(world.store, update_job=update))

    assert (seen, isinstance(late[0], Refused)) == ([["second/1"]], True)
    assert world.row.state is JobState.SUCCEEDED


async def test_journal_that_is_refused_by_its_own_effect_holds() -> None:
    """The own-token rule: the SDK repeated an applied write; the call is made once, in the same attempt."""
    repeated: list[Any] = []

    async def update(method: Any, tenant_id: TenantId, job_id: JobId, change: Any) -> Any:
        reply = await method(tenant_id, job_id, change)
        if "journals" in change.add:
            repeated.append(reply := await method(tenant_id, job_id, change))
        return reply

    world = WorkerWorld()
    await world.create(steps=["first", "second"])
    await world.deliver(store=HookedStore(world.store, update_job=update))

    assert [type(reply) for reply in repeated] == [Refused, Refused]
    assert (world.row.state, world.row.attempts, len(world.provider.keys)) == (JobState.SUCCEEDED, 1, 2)
