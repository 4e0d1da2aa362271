"""Both ends of a jobs queue: the port that is tested, and a receiver that stands in for Lambda's.

``receive`` answers what is visible now; ``await_message`` waits for the next one, on the queue's own clock.
"""

from __future__ import annotations

import itertools
from collections.abc import Mapping
from dataclasses import dataclass
from datetime import timedelta
from typing import TYPE_CHECKING, Protocol

from onceward.adapters.memory.queue import Delivery, MemoryQueue
from onceward.adapters.sqs import TRACEPARENT, SqsQueue
from onceward.adapters.threads import Threads
from onceward.usecases.ports import Queue
from tests.support.fakes import FakeClock

if TYPE_CHECKING:
    from mypy_boto3_sqs import SQSClient
    from mypy_boto3_sqs.type_defs import MessageTypeDef

VISIBILITY = 30  # seconds: nothing comes back by itself while a test runs
MAX_RECEIVE_COUNT = 2
LONGEST_WAIT = 20  # seconds: SQS's longest poll; a test that waits that long has failed

_numbers = itertools.count(1)


@dataclass(frozen=True, slots=True, kw_only=True)
class Received:
    """What every receiver sees of a message."""

    body: str
    receipt: str
    receive_count: int
    group: str | None
    traceparent: str | None


class QueueBench(Protocol):
    """A queue under test."""

    @property
    def queue(self) -> Queue:
        """The port."""
        ...

    def put(self, body: str) -> None:
        """Send any body to the jobs queue."""
        ...

    def receive(self) -> list[Received]:
        """What is visible now."""
        ...

    def await_message(self) -> Received:
        """The next message, however long it is hidden; fails after ``LONGEST_WAIT``."""
        ...

    def dead_letters(self) -> list[str]:
        """The bodies of the dead letters."""
        ...


class MemoryBench:
    """The queue in memory, on a clock that is moved."""

    def __init__(self) -> None:
        """An empty queue."""
        self._clock = FakeClock()
        self.queue = MemoryQueue(
            self._clock, visibility=timedelta(seconds=VISIBILITY), max_receive_count=MAX_RECEIVE_COUNT
        )

    def put(self, body: str) -> None:
        """Send any body."""
        self.queue.put(body)

    def receive(self) -> list[Received]:
        """What is visible now."""
        return [_of_delivery(delivery) for delivery in self.queue.receive()]

    def await_message(self) -> Received:
        """Move the clock to the next message."""
        visible_at = self.queue.next_visible_at
        assert visible_at is not None
        wait = max(visible_at - self._clock.now(), timedelta(0))
        assert wait < timedelta(seconds=LONGEST_WAIT)
        self._clock.move(wait)
        return self.receive()[0]

    def dead_letters(self) -> list[str]:
        """The bodies of the dead letters."""
        return list(self.queue.dead_letters)


class SqsBench:
    """Two new queues in an emulated account."""

    def __init__(self, client: SQSClient, threads: Threads) -> None:
        """Make them, with the redrive policy that the stack has too."""
        self._client = client
        number = next(_numbers)
        self.dead_letters_url = client.create_queue(QueueName=f"dead-letters-{number}")["QueueUrl"]
        arn = client.get_queue_attributes(QueueUrl=self.dead_letters_url, AttributeNames=["QueueArn"])["Attributes"][
            "QueueArn"
        ]
        self.jobs_url = client.create_queue(
            QueueName=f"jobs-{number}",
            Attributes={
                "VisibilityTimeout": str(VISIBILITY),
                "RedrivePolicy": f'{{"deadLetterTargetArn":"{arn}","maxReceiveCount":{MAX_RECEIVE_COUNT}}}',
            },
        )["QueueUrl"]
        self.queue = SqsQueue(client, threads, jobs_url=self.jobs_url, dead_letters_url=self.dead_letters_url)

    def put(self, body: str) -> None:
        """Send any body."""
        self._client.send_message(QueueUrl=self.jobs_url, MessageBody=body)

    def receive(self) -> list[Received]:
        """What is visible now."""
        return [_of_message(message) for message in self._poll(self.jobs_url)]

    def await_message(self) -> Received:
        """Poll in steps shorter than the client's read timeout."""
        for _step in range(LONGEST_WAIT):
            for message in self._poll(self.jobs_url, wait_seconds=1):
                return _of_message(message)
        raise AssertionError("no message became visible")

    def dead_letters(self) -> list[str]:
        """Take the dead letters out and give their bodies."""
        return [message["Body"] for message in self._poll(self.dead_letters_url)]

    def _poll(self, url: str, *, wait_seconds: int = 0) -> list[MessageTypeDef]:
        """Receive once."""
        return self._client.receive_message(
            QueueUrl=url,
            MaxNumberOfMessages=10,
            WaitTimeSeconds=wait_seconds,
            MessageSystemAttributeNames=["All"],
            MessageAttributeNames=["All"],
        ).get("Messages", [])


def _of_delivery(delivery: Delivery) -> Received:
    """Translate a delivery of the queue in memory."""
    return Received(
        body=delivery.body,
        receipt=delivery.receipt,
        receive_count=delivery.receive_count,
        group=delivery.group,
        traceparent=delivery.traceparent,
    )


def _of_message(message: MessageTypeDef) -> Received:
    """Translate a message of SQS."""
    system: Mapping[str, str] = message.get("Attributes", {})  # type: ignore[assignment]  # keyed by literals
    own = message.get("MessageAttributes", {}).get(TRACEPARENT)
    return Received(
        body=message["Body"],
        receipt=message["ReceiptHandle"],
        receive_count=int(system["ApproximateReceiveCount"]),
        group=system.get("MessageGroupId"),
        traceparent=own["StringValue"] if own else None,
    )
