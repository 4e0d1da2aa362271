"""A document that was deleted under a waiting job ends the job for good, and gives back what it held."""

from __future__ import annotations

from datetime import timedelta

import pytest

from onceward.domain.deliveries import Acknowledge
from onceward.domain.records import Input
from onceward.domain.states import JobState
from onceward.usecases.context import Context
from onceward.usecases.stored_input import StoredDocument, StoredInput
from tests.support.builders import JOB_ID, TENANT
from tests.support.worker_world import Ask, Said, WorkerWorld

pytestmark = pytest.mark.anyio

KEY = f"documents/{TENANT}/QHW5N2C7T4VXK3LBMFZ6ARDJEY"
CONTENT = b"what it says"


async def quote(context: Context, given: Ask) -> Said:
    """A kind that reads its document and asks about it."""
    document = await context.documents.read("doc")
    await context.model.generate("ask", [("user", document.content.decode())])
    return Said(text=document.content.decode())


async def a_world() -> WorkerWorld:
    """A queued job with a reservation, created while its document was there."""
    world = WorkerWorld(quote)
    await world.blob.put(KEY, CONTENT, "text/plain")
    info = await world.blob.head(KEY)
    assert info is not None
    await world.create(reserved_micro_usd=5_000)
    document = StoredDocument(key=KEY, version=info.version, sha256=None, size=info.size, content_type="text/plain")
    stored = StoredInput(input={"steps": ["ask"]}, documents={"doc": document})
    given = Input(tenant_id=TENANT, job_id=JOB_ID, body=stored.model_dump_json())
    world.store.items[TENANT, JOB_ID][given.sort_key] = given
    return world


@pytest.mark.failure_mode("F72")
async def test_a_document_that_is_gone_ends_the_job_for_good() -> None:
    """Its own code, no call, no cost, no redelivery, no retry; the reservation is released."""
    world = await a_world()
    await world.blob.erase(KEY)
    report = await world.deliver()
    row, account = world.row, world.account

    assert (row.state, row.error_code) == (JobState.FAILED, "document_gone")
    assert (world.provider.keys, row.spent.high) == ([], 0)
    assert isinstance(report.disposition, Acknowledge)
    assert (account.available, account.reserved, account.captured) == (5_000, 0, 0)


@pytest.mark.failure_mode("F72")
async def test_the_version_of_the_create_is_read_whatever_came_later() -> None:
    """A newer upload under the same key changes nothing."""
    world = await a_world()
    world.blob._add(KEY, b"something else", "text/plain")
    await world.deliver()

    assert world.row.state is JobState.SUCCEEDED
    assert world.account.captured == 5_000


async def test_a_document_that_goes_between_two_attempts_ends_the_job_too() -> None:
    """The second attempt reads it anew."""
    world = await a_world()
    await world.lose_a_run()
    await world.blob.erase(KEY)
    world.clock.move(timedelta(minutes=2))
    await world.deliver()

    assert (world.row.state, world.row.error_code) == (JobState.FAILED, "document_gone")
    assert world.provider.keys == []
