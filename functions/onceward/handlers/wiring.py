"""Build what one execution environment needs, each part once and only when it is asked for.

The environment owns one event loop, since clients and semaphores belong to the loop they were made on, and lends
threads to one invocation at a time: nothing runs while the environment is frozen between two of them (invariant 17).
The address of AWS is boto3's to find (``AWS_ENDPOINT_URL``).
"""

from __future__ import annotations

import asyncio
import logging
from collections.abc import Coroutine, Iterator
from contextlib import contextmanager
from datetime import timedelta
from functools import cached_property
from typing import TYPE_CHECKING, Any, Self

import boto3

from onceward.adapters.dynamodb.client import CONFIG as DYNAMODB
from onceward.adapters.dynamodb.store import DynamoStore
from onceward.adapters.dynamodb.table import Tables
from onceward.adapters.s3 import CONFIG as S3
from onceward.adapters.s3 import S3Blob
from onceward.adapters.sqs import CONFIG as SQS
from onceward.adapters.sqs import SqsQueue
from onceward.adapters.system import SystemClock, SystemIds, SystemSpawn, ThreadRunner
from onceward.domain.tally import Limits
from onceward.domain.timing import Timing
from onceward.handlers.settings import ApiSettings, SweeperSettings, WorkerSettings
from onceward.usecases.place import place_of
from onceward.usecases.registry import Registry
from onceward.usecases.submit_job import NO_LIMITS, Intake

if TYPE_CHECKING:  # imported where it is needed
    import httpx

LAST_WAIT = 5.0  # seconds for tasks that were cancelled at an invocation's end; what is left then ends with the loop


class Wiring:
    """One execution environment."""

    def __init__(
        self,
        *,
        tables: Tables,
        timing: Timing,
        registry: Registry,
        bucket: str = "",
        jobs_url: str = "",
        dead_letters_url: str | None = None,
        limits: Limits = NO_LIMITS,
    ) -> None:
        """Remember names; nothing is built or asked yet."""
        self._tables = tables
        self._bucket = bucket
        self._jobs_url = jobs_url
        self._dead_letters_url = dead_letters_url
        self.timing = timing
        self.registry = registry
        self._limits = limits
        self.clock = SystemClock()
        self.ids = SystemIds()
        self.spawn = SystemSpawn()
        self.threads = ThreadRunner()

    @classmethod
    def of_api(cls, settings: ApiSettings, registry: Registry) -> Self:
        """What the API needs."""
        return cls(
            tables=Tables(jobs=settings.jobs_table, accounts=settings.accounts_table, flights=settings.flights_table),
            timing=Timing(
                due_grace=timedelta(seconds=settings.due_grace_seconds),
                skew_allowance=timedelta(seconds=settings.skew_allowance_seconds),
            ),
            registry=registry,
            bucket=settings.bucket,
            jobs_url=settings.jobs_queue_url,
            limits=Limits.of(
                creates_per_minute=settings.creates_per_minute, documents_per_day=settings.documents_per_day
            ),
        )

    @classmethod
    def of_worker(cls, settings: WorkerSettings, registry: Registry) -> Self:
        """What the worker needs."""
        return cls(
            tables=Tables(jobs=settings.jobs_table, accounts=settings.accounts_table, flights=settings.flights_table),
            timing=timing_of(settings),
            registry=registry,
            bucket=settings.bucket,
            jobs_url=settings.jobs_queue_url,
            dead_letters_url=settings.dead_letters_queue_url,
        )

    @classmethod
    def of_sweeper(cls, settings: SweeperSettings) -> Self:
        """What the sweeper needs."""
        return cls(
            tables=Tables(jobs=settings.jobs_table, accounts=""),
            timing=Timing(skew_allowance=timedelta(seconds=settings.skew_allowance_seconds)),
            registry=Registry(),
            jobs_url=settings.jobs_queue_url,
            dead_letters_url=settings.dead_letters_queue_url,
        )

    @cached_property
    def store(self) -> DynamoStore:
        """The tables."""
        client = boto3.client("dynamodb", config=DYNAMODB)
        return DynamoStore(client, self._tables, self.threads, self.clock, self.ids)

    @cached_property
    def queue(self) -> SqsQueue:
        """The jobs queue, and the dead letters where they are written."""
        client = boto3.client("sqs", config=SQS)
        return SqsQueue(client, self.threads, jobs_url=self._jobs_url, dead_letters_url=self._dead_letters_url)

    @cached_property
    def blob(self) -> S3Blob:
        """The bucket."""
        return S3Blob(boto3.client("s3", config=S3), self.threads, self._bucket)

    @cached_property
    def http(self) -> httpx.AsyncClient:
        """One client for all that speak HTTP; imported where it is asked for, since it costs a tenth of a second."""
        from onceward.providers.http import make_client  # noqa: PLC0415

        return make_client()

    @cached_property
    def intake(self) -> Intake:
        """The ports of the API's stories."""
        return Intake(
            store=self.store,
            blob=self.blob,
            queue=self.queue,
            clock=self.clock,
            ids=self.ids,
            registry=self.registry,
            timing=self.timing,
            limits=self._limits,
        )

    @cached_property
    def _runner(self) -> asyncio.Runner:
        """The owner of the environment's one loop."""
        runner = asyncio.Runner()
        runner.get_loop().set_exception_handler(_tell_place)
        return runner

    def run[Result](self, story: Coroutine[object, object, Result]) -> Result:
        """Run a story to its end on the environment's loop.

        A task that exits stops the loop from outside, whatever awaits it: the story, and nine other jobs, go on.
        """
        loop = self._runner.get_loop()
        main = loop.create_task(story)
        while True:
            try:
                return loop.run_until_complete(main)
            except SystemExit:
                if main.done():
                    raise

    @contextmanager
    def invocation(self) -> Iterator[None]:
        """Lend threads to one invocation and see that nothing of it is left.

        A task that outlives its story is a mistake of ours: it is ended, and the invocation fails loudly.
        """
        with self.threads:
            self.threads.lend_to(self._runner.get_loop())
            try:
                yield
            finally:
                left = self.run(_end_tasks())
        if left:
            raise RuntimeError(f"tasks outlived their invocation: {', '.join(left)}")


def timing_of(settings: WorkerSettings) -> Timing:
    """The stage's durations."""
    return Timing(
        lease=timedelta(seconds=settings.lease_seconds),
        heartbeat=timedelta(seconds=settings.heartbeat_seconds),
        skew_allowance=timedelta(seconds=settings.skew_allowance_seconds),
        due_grace=timedelta(seconds=settings.due_grace_seconds),
        send_window=timedelta(seconds=settings.send_window_seconds),
        settle_budget=timedelta(seconds=settings.settle_seconds),
        infrastructure_backoff=timedelta(seconds=settings.infrastructure_backoff_seconds),
        infrastructure_backoff_max=timedelta(seconds=settings.infrastructure_backoff_max_seconds),
    )


async def _end_tasks() -> list[str]:
    """Cancel whatever else is on this loop, wait until it has ended, and name it.

    Not for ever: code that heeds no cancel must not hold the invocation to its own end, and its batch with it.
    """
    left = asyncio.all_tasks() - {asyncio.current_task()}
    for task in left:
        task.cancel()
    if left:
        await asyncio.wait(left, timeout=LAST_WAIT)
    return sorted(task.get_name() for task in left)


def _tell_place(loop: asyncio.AbstractEventLoop, context: dict[str, Any]) -> None:  # noqa: ARG001 - asyncio's signature
    """Log an error that nobody asked for by its class and line: asyncio's own way would quote it (invariant 12)."""
    error = context.get("exception")
    where = place_of(error) if isinstance(error, BaseException) else "no exception"
    logging.getLogger(__name__).warning("an error on the loop that nobody asked for: %s", where)
