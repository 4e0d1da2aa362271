"""What the jobs of one batch share: one download, one child, and no fate."""

from __future__ import annotations

import asyncio
from collections.abc import Callable
from datetime import timedelta

import pytest

from onceward.adapters.memory.blob import MemoryBlob
from onceward.domain.names import JobId, TenantId
from onceward.domain.states import JobState
from onceward.usecases.context import Context
from onceward.usecases.ports import ChildEnd
from onceward.usecases.run_batch import run_batch
from onceward.usecases.run_job import Delivery
from onceward.usecases.sharing import ChildWork, DocumentVersion, Sharing
from onceward.usecases.stored_input import StoredDocument
from tests.support.builders import TENANT
from tests.support.fakes import FakeSpawn
from tests.support.flight_world import FlightWorld
from tests.support.worker_world import Ask, Said

pytestmark = pytest.mark.anyio

VERSION = DocumentVersion(TENANT, "documents/acme/D", "1")
LIMITS = (timedelta(seconds=60), 1_000)


def deliveries(world: FlightWorld, jobs: list[JobId]) -> list[Delivery]:
    """A message for each job, in one batch."""
    for _ in jobs:
        world.queue.put("{}")
    receipts = [one.receipt for one in world.queue.receive()]
    ends = world.clock.monotonic() + 900
    return [
        Delivery(tenant_id=TENANT, job_id=job, receipt=receipt, receive_count=1, invocation_ends=ends)
        for job, receipt in zip(jobs, receipts, strict=True)
    ]


class Downloads:
    """Downloads that end when told, counted."""

    def __init__(self) -> None:
        """None has begun."""
        self.calls = 0
        self.cancelled = 0
        self.may_end = asyncio.Event()

    async def __call__(self) -> bytes | None:
        """The bytes."""
        self.calls += 1
        try:
            await self.may_end.wait()
        except asyncio.CancelledError:
            self.cancelled += 1
            raise
        return b"content"


async def test_ten_jobs_download_once() -> None:
    """And each has the bytes; afterwards nothing is kept."""
    shared, download = Sharing(), Downloads()
    jobs = [asyncio.create_task(shared.document(VERSION, download)) for _ in range(10)]
    await asyncio.sleep(0)
    download.may_end.set()

    assert set(await asyncio.gather(*jobs)) == {b"content"}
    assert await shared.document(VERSION, download) == b"content"
    assert download.calls == 2


async def test_a_cancelled_job_hurts_no_other() -> None:
    """The first to ask is cancelled; the second gets its bytes from the same download."""
    shared, download = Sharing(), Downloads()
    first, second = (asyncio.create_task(shared.document(VERSION, download)) for _ in range(2))
    await asyncio.sleep(0)
    first.cancel()
    await asyncio.sleep(0)
    download.may_end.set()

    assert await second == b"content"
    assert (download.calls, download.cancelled, first.cancelled()) == (1, 0, True)


async def test_a_download_that_nobody_waits_for_is_ended() -> None:
    """What the last job leaves behind does not go on beside the next."""
    shared, download = Sharing(), Downloads()
    only = asyncio.create_task(shared.document(VERSION, download))
    await asyncio.sleep(0)
    only.cancel()
    await asyncio.gather(only, return_exceptions=True)
    await shared.aclose()

    assert download.cancelled == 1


@pytest.mark.parametrize(
    "other",
    [
        DocumentVersion(TenantId("globex"), VERSION.key, VERSION.version),
        DocumentVersion(TENANT, VERSION.key, "2"),
        DocumentVersion(TENANT, "documents/acme/E", VERSION.version),
    ],
    ids=["tenant", "version", "document"],
)
async def test_another_document_is_another_download(other: DocumentVersion) -> None:
    """No tenant is given what was read for another, and no job another version than its own."""
    shared, download = Sharing(), Downloads()
    download.may_end.set()
    await asyncio.gather(shared.document(VERSION, download), shared.document(other, download))

    assert download.calls == 2


def a_child(
    tenant: TenantId = TENANT, module: str = "parse", stdin: bytes = b"one", timeout: timedelta = LIMITS[0]
) -> ChildWork:
    """A child over some bytes."""
    return ChildWork.of(tenant, module, stdin, timeout, LIMITS[1])


@pytest.mark.parametrize(
    ("other", "runs"),
    [
        (a_child, 1),
        (lambda: a_child(TenantId("globex")), 2),
        (lambda: a_child(module="other"), 2),
        (lambda: a_child(stdin=b"two"), 2),
        (lambda: a_child(timeout=timedelta(seconds=1)), 2),
    ],
    ids=["equal bytes", "tenant", "module", "bytes", "limits"],
)
async def test_equal_bytes_are_parsed_once(other: Callable[[], ChildWork], runs: int) -> None:
    """The digest stands for the bytes: what differs in tenant, module, bytes or limits is another child."""
    shared, begun = Sharing(), 0

    async def run() -> ChildEnd:
        nonlocal begun
        begun += 1
        await asyncio.sleep(0)
        return ChildEnd(0, b"out", is_timed_out=False)

    ends = await asyncio.gather(shared.child(a_child(), run), shared.child(other(), run))

    assert begun == runs
    assert {end.stdout for end in ends} == {b"out"}


async def test_nothing_outlives_its_batch() -> None:
    """The batch's works are closed with it, also when a bug ends it: the loop holds no task of theirs."""
    world = FlightWorld()
    job = await world.ask(1)
    deps = world.deps()
    before = asyncio.all_tasks()
    await run_batch(deps, deliveries(world, [job]))

    assert asyncio.all_tasks() == before


async def test_a_batch_s_jobs_share_their_downloads_and_their_text() -> None:
    """Ten jobs of one batch over one document: one request to the store of objects, one child, ten results."""
    downloads: list[str] = []
    children: list[bytes] = []

    async def read(context: Context, given: Ask) -> Said:
        document = await context.documents.read("D")
        end = await context.children.run("parse", document.content, timeout=LIMITS[0], memory_bytes=LIMITS[1])
        return Said(text=end.stdout.decode())

    def parse(content: bytes) -> bytes:
        children.append(content)
        return content.upper()

    class Slow(MemoryBlob):
        """Takes a moment, as a network does."""

        async def get(self, key: str, version: str | None = None) -> bytes | None:
            downloads.append(key)
            await asyncio.sleep(0)
            return await super().get(key, version)

    world = FlightWorld(read, by=None)
    world.blob = Slow(world.clock)
    world.spawn = FakeSpawn({"parse": parse})
    await world.blob.put(VERSION.key, b"text", "text/plain")
    stored = StoredDocument(key=VERSION.key, version="version-1", sha256="s", size=4, content_type="text/plain")
    jobs = [await world.ask(number, documents={"D": stored}) for number in range(10)]
    reports = await run_batch(world.deps(), deliveries(world, jobs))

    assert (downloads, children) == ([VERSION.key], [b"text"])
    assert {world.of(job).state for job in jobs} == {JobState.SUCCEEDED}
    assert len(reports) == len(jobs)
