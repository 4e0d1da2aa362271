"""A review to decide about, over the worker's world: a job whose one call came to nobody knows what."""

from __future__ import annotations

from typing import Any

from pydantic import JsonValue

from onceward.domain.states import JobState, Resolution
from onceward.errors import CallFailure
from onceward.usecases.resolve_job import Resolved, Verdict, resolve_job
from onceward.usecases.submit_job import Intake
from tests.support.builders import JOB_ID, TENANT
from tests.support.worker_world import WorkerWorld

UNKNOWN = CallFailure("", code="connection_lost", error_class="outcome_unknown", was_sent=True)
ANSWER_BODY = '{"text":"{\\"text\\":\\"yes\\"}","finish":"stop","model":"fake-1","usage":null,"request_id":null}'
RESULT: JsonValue = {"text": "by hand"}
TARIFF = 5_000


def intake(world: WorkerWorld, store: Any = None) -> Intake:
    """The ports of an operator's story."""
    return Intake(
        store=store or world.store,
        blob=world.blob,
        queue=world.queue,
        clock=world.clock,
        ids=world.ids,
        registry=world.registry,
        timing=world.timing,
    )


def a_verdict(resolution: Resolution = Resolution.FAIL, **fields: Any) -> Verdict:
    """A verdict on the first epoch's review, said in full."""
    given: dict[str, Any] = {"epoch": 1, "by": "op-1", "why": "asked the provider", "tenant_id": TENANT}
    if resolution is Resolution.ACCEPT:
        given["result"] = RESULT
    return Verdict(job_id=JOB_ID, resolution=resolution, **{**given, "may_pay_twice": True, **fields})


async def in_review(world: WorkerWorld) -> None:
    """A job that reserved its tariff and whose one call came to nobody knows what."""
    world.provider.script = [UNKNOWN]
    await world.create(reserved_micro_usd=TARIFF)
    await world.deliver()
    assert world.row.state is JobState.NEEDS_REVIEW


async def resolved(world: WorkerWorld, resolution: Resolution, **fields: Any) -> Resolved:
    """Put a job into review and resolve it."""
    await in_review(world)
    return await resolve_job(intake(world), a_verdict(resolution, **fields))


def verbs(world: WorkerWorld) -> list[tuple[int, str]]:
    """Epoch and verb of every entry of the job."""
    mine = [one for one in world.store.entries.values() if one.job_id == JOB_ID]
    return sorted((one.epoch, str(one.verb)) for one in mine)


def money(world: WorkerWorld) -> tuple[int, int, int]:
    """Available, reserved, captured."""
    return world.account.available, world.account.reserved, world.account.captured
