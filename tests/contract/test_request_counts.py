"""What each story asks of AWS, counted on ministack and compared with the table in docs/requests.md."""

from __future__ import annotations

import itertools
import json
from collections.abc import Iterator
from pathlib import Path
from typing import cast

import boto3
import pytest

from onceward.adapters.dynamodb.store import DynamoStore
from onceward.adapters.memory.blob import MemoryBlob
from onceward.adapters.memory.queue import MemoryQueue
from onceward.adapters.s3 import S3Blob
from onceward.adapters.sqs import SqsQueue
from onceward.adapters.system import SystemIds, ThreadRunner
from onceward.domain.coalescing import CoalesceBy
from onceward.domain.flights import Boarding
from onceward.domain.ledger import Entry, Verb
from onceward.domain.names import Fingerprint, Identity, JobId
from onceward.domain.policy import KindPolicy
from onceward.domain.states import JobState
from onceward.local.cloud import LocalCloud
from onceward.usecases.cancel_job import cancel_job
from onceward.usecases.erase_job import Eraser, erase_job
from onceward.usecases.list_jobs import Wanted, list_jobs
from onceward.usecases.ports import ModelReply
from onceward.usecases.read_job import read_job
from onceward.usecases.run_delivery import run_delivery
from onceward.usecases.run_job import Delivery, RunReport
from onceward.usecases.submit_job import Intake, Submission, submit_job
from onceward.usecases.sweep import Sweeper, sweep
from tests.support.builders import IDENTITY, JOB_ID, KIND, TENANT, a_policy
from tests.support.emulators import dynamodb_at, make_tables
from tests.support.fakes import a_reply
from tests.support.request_count import RequestCount, Spent
from tests.support.worker_world import WorkerWorld

pytestmark = pytest.mark.anyio

PAGE = Path(__file__).parents[2] / "docs" / "requests.md"
HEADER = "| story | DynamoDB | read units | write units | SQS | S3 |\n|---|---|---|---|---|---|\n"
LARGE = "large " * 3_000  # 18 KB: more than an item of ours holds
_numbers = itertools.count(1)


class CountedWorld:
    """A worker's and an API's world over AWS's services, with the count of what they are asked.

    What Lambda itself asks of SQS for the worker, a receive and a deletion for ten messages at best, is not in it.
    """

    def __init__(self, cloud: LocalCloud, threads: ThreadRunner, policy: KindPolicy | None = None) -> None:
        """Make tables, a queue and a bucket of its own; ``policy``: of the kind, if it is not the plain one."""
        client = dynamodb_at(cloud.endpoint_url)
        tables = make_tables(client)
        sqs, s3 = boto3.client("sqs", **cloud.access), boto3.client("s3", **cloud.access)
        self._lambda = boto3.client("sqs", **cloud.access)
        name = f"counted-{next(_numbers)}"
        self._url = url = self._lambda.create_queue(QueueName=name)["QueueUrl"]
        s3.create_bucket(Bucket=name)
        s3.put_bucket_versioning(Bucket=name, VersioningConfiguration={"Status": "Enabled"})
        self.count = RequestCount(client, sqs, s3)
        self.world = WorkerWorld(policy=policy)
        self.world.queue = cast("MemoryQueue", SqsQueue(sqs, threads, jobs_url=url, dead_letters_url=None))
        self.world.blob = cast("MemoryBlob", S3Blob(s3, threads, name))
        self.world.ids = SystemIds()  # two worlds share one DynamoDB: it knows the tokens of both
        self.store = DynamoStore(client, tables, threads, self.world.clock, self.world.ids)
        self.deps = self.world.deps(self.store)  # one process's: what it knows of the switches lasts for some seconds
        self.rows: list[tuple[str, Spent]] = []
        self._before = self.count.spent

    def note(self, story: str | None) -> None:
        """What was spent since the last note was spent on this story; without a name, on nothing that is stated."""
        if story is not None:
            self.rows.append((story, self.count.spent - self._before))
        self._before = self.count.spent

    @property
    def intake(self) -> Intake:
        """The API's ports."""
        world = self.world
        return Intake(
            store=self.store,
            blob=world.blob,
            queue=world.queue,
            clock=world.clock,
            ids=world.ids,
            registry=world.registry,
            timing=world.timing,
        )

    async def submit(self, key: str = IDENTITY, note: str = "") -> JobId:
        """Create the key's job, or replay it; the kind leaves the note alone."""
        wish = Submission(
            tenant_id=TENANT,
            identity=Identity(key),
            fingerprint=Fingerprint("f" * 64),
            kind=KIND,
            input={"steps": ["generate"], "note": note},
            created_by="client-1",
        )
        return (await submit_job(self.intake, wish)).job.job_id

    async def run(self, job_id: JobId, *, heartbeats: int = 0, text: str = "yes") -> None:
        """Deliver the job's message, and let so many heartbeats pass while the model works."""

        async def answer() -> ModelReply:
            for _ in range(heartbeats):
                self.world.clock.move(self.world.timing.heartbeat)
                await self.world.spawn.running[-1].beat()
            return a_reply(json.dumps({"text": text}))

        self.world.provider.script = [answer]
        report = await self.deliver(job_id)
        assert report.job is not None
        assert report.job.state is JobState.SUCCEEDED

    async def deliver(self, job_id: JobId) -> RunReport:
        """What the worker does with a message about this job."""
        ends = self.world.clock.monotonic() + 900
        (message,) = self._lambda.receive_message(QueueUrl=self._url, WaitTimeSeconds=1)["Messages"]
        receipt = message["ReceiptHandle"]
        delivery = Delivery(tenant_id=TENANT, job_id=job_id, receipt=receipt, receive_count=1, invocation_ends=ends)
        return await run_delivery(self.deps, delivery, may_take_over=True)

    async def sweep(self) -> None:
        """One pass."""
        world = self.world
        await sweep(Sweeper(store=self.store, queue=world.queue, clock=world.clock, timing=world.timing))

    def table(self) -> str:
        """The rows as Markdown."""
        return HEADER + "".join(
            f"| {story} | {one.dynamodb} | {one.read_units:g} | {one.write_units:g} | {one.sqs} | {one.s3} |\n"
            for story, one in self.rows
        )


@pytest.fixture
def counted(ministack: LocalCloud) -> Iterator[CountedWorld]:
    """A world that counts."""
    with ThreadRunner() as threads:
        yield CountedWorld(ministack, threads)


async def one_life(counted: CountedWorld, budget: str = "") -> JobId:
    """A job from its create to its result, in a process that has read the switches a moment ago."""
    await counted.deps.switches.refresh()
    counted.note(None if budget else "kill switch, read by a process that sends, at most every 5 s")
    job_id = await counted.submit()
    counted.note(f"create{budget}")
    await counted.run(job_id)
    counted.note(f"run: one call, no heartbeat{budget}")
    return job_id


async def other_lives(counted: CountedWorld) -> None:
    """A model that takes its time; bodies too large for an item; a job that is cancelled before it is begun."""
    await counted.deps.switches.refresh()
    job_id = await counted.submit("H" * 26)
    counted.note(None)
    await counted.run(job_id, heartbeats=1)
    counted.note("run: one call, one heartbeat")
    job_id = await counted.submit("L" * 26, LARGE)
    counted.note("create, input above 4 KB")
    await counted.run(job_id, text=LARGE)
    counted.note("run: one call, input above 4 KB, answer of 18 KB")
    eraser = Eraser(store=counted.store, blob=counted.world.blob, clock=counted.world.clock, ids=counted.world.ids)
    await erase_job(eraser, tenant_id=TENANT, job_id=job_id)
    counted.note("erase a finished job whose input was above 4 KB")
    job_id = await counted.submit("C" * 26)
    counted.note(None)
    ports = counted.intake
    await cancel_job(ports.store, ports.queue, ports.clock, ports.ids, tenant_id=TENANT, job_id=job_id)
    counted.note("cancel a queued job")


async def shared_lives(counted: CountedWorld) -> None:
    """A job whose flight serves it alone; one that joins another's; what the other's run costs more for it."""
    await counted.deps.switches.refresh()
    alone = await counted.submit("A" * 26, "alone")
    counted.note(None)
    await counted.run(alone)
    counted.note("run: one call in a flight for one, no heartbeat")
    first, second = [await counted.submit(letter * 26, "together") for letter in "BD"]
    counted.note(None)

    async def join() -> ModelReply:
        counted.note(None)
        assert (await counted.deliver(second)).boarding is Boarding.JOINED
        counted.note("join a flight that is under way")
        return a_reply()

    counted.world.provider.script = [join]
    served = (await counted.deliver(first)).served
    assert served is not None
    assert len(served.jobs) == 2
    counted.note("after the answer: settle a flight and serve two")


async def looks(counted: CountedWorld, job_id: JobId) -> None:
    """What is asked about jobs: again, one, all, and whether one is due."""
    ports = counted.intake
    counted.note(None)
    await counted.submit()
    counted.note("replay")
    shown = await read_job(ports.store, ports.blob, ports.clock, tenant_id=TENANT, job_id=job_id)
    assert shown.job.state is JobState.SUCCEEDED
    counted.note("read a finished job")
    listed = await list_jobs(ports.store, ports.clock, tenant_id=TENANT, wanted=Wanted(limit=20))
    counted.note(f"list a page of {len(listed.jobs)} jobs")
    await counted.sweep()
    counted.note("sweep with nothing due")


async def test_stories_cost_what_the_page_says(counted: CountedWorld, ministack: LocalCloud) -> None:
    """A story that costs more, or less, is a change of `docs/requests.md`: paste what this test prints."""
    job_id = await one_life(counted)
    await other_lives(counted)
    await looks(counted, job_id)
    with ThreadRunner() as threads:
        funded = CountedWorld(ministack, threads)
        entry = Entry(
            tenant_id=TENANT, job_id=JOB_ID, epoch=1, verb=Verb.GRANT, micro_usd=10_000, at=funded.world.clock.now()
        )
        await funded.store.grant(TENANT, 10_000, entry)
        funded.note(None)
        await one_life(funded, ", tenant with a budget")
        sharing = CountedWorld(ministack, threads, a_policy(coalesce=CoalesceBy(instructions="")))
        await shared_lives(sharing)
    counted.rows += funded.rows + sharing.rows

    assert counted.table() in PAGE.read_text(), counted.table()
