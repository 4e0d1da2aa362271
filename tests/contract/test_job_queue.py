"""One suite, every queue: in memory, on ministack and on moto."""

from __future__ import annotations

import asyncio
from collections.abc import Iterator
from typing import TYPE_CHECKING

import boto3
import pytest

from onceward.adapters.sqs import CONFIG, SqsQueue
from onceward.adapters.system import ThreadRunner
from onceward.errors import QueueUnavailable
from onceward.local.cloud import LocalCloud
from onceward.local.environment import REGION
from onceward.local.server import free_port
from tests.contract.job_queue import WAKEUP, QueuePromises
from tests.support.loopback import ON_LOOPBACK
from tests.support.queue_bench import MemoryBench, QueueBench, SqsBench

if TYPE_CHECKING:
    from mypy_boto3_sqs import SQSClient


def sqs_at(endpoint_url: str | None = None) -> SQSClient:
    """The client as it is configured on AWS; without an endpoint, moto's."""
    return boto3.client(
        "sqs",
        endpoint_url=endpoint_url,
        region_name=REGION,
        aws_access_key_id="test",
        aws_secret_access_key="test",
        config=CONFIG.merge(ON_LOOPBACK),
    )


@pytest.fixture(scope="class")
def ministack_client(ministack: LocalCloud) -> SQSClient:
    """One client for all tests, as a warm function has it."""
    return sqs_at(ministack.endpoint_url)


@pytest.fixture(scope="class")
def moto_client(moto_aws: None) -> SQSClient:
    """One client for all tests."""
    return sqs_at()


class TestMemoryQueue(QueuePromises):
    """On a clock that is moved."""

    @pytest.fixture
    def bench(self) -> QueueBench:
        """Empty queues."""
        return MemoryBench()


class TestSqsQueueOnMinistack(QueuePromises):
    """Over the wire, on a real clock."""

    @pytest.fixture
    def bench(self, ministack_client: SQSClient) -> Iterator[QueueBench]:
        """New queues in an emulated account."""
        with ThreadRunner(2) as threads:
            yield SqsBench(ministack_client, threads)


class TestSqsQueueOnMoto(QueuePromises):
    """In this process, on a real clock."""

    @pytest.fixture
    def bench(self, moto_client: SQSClient) -> Iterator[QueueBench]:
        """New queues in this process."""
        with ThreadRunner(1) as threads:
            yield SqsBench(moto_client, threads)


def test_queue_that_cannot_be_reached_is_unavailable() -> None:
    """No answer at all is infrastructure, and the message says nothing of what was sent."""
    with ThreadRunner(1) as threads:
        queue = SqsQueue(
            sqs_at(f"http://127.0.0.1:{free_port()}"), threads, jobs_url="http://x/jobs", dead_letters_url=None
        )

        with pytest.raises(QueueUnavailable, match=r"^sqs: EndpointConnectionError$"):
            asyncio.run(queue.wake(WAKEUP))
        with pytest.raises(QueueUnavailable, match="no dead-letter queue"):
            asyncio.run(queue.bury_unreadable("", ""))
