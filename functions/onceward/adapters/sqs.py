"""The jobs queue and its dead letters in SQS.

Every send may happen twice (an answer that was lost is sent again), and every message may be delivered twice: bodies
name a job, and the job's row decides.
"""

from __future__ import annotations

from datetime import timedelta
from typing import TYPE_CHECKING, Final

from botocore.config import Config

from onceward.adapters.aws_errors import translated
from onceward.adapters.threads import Threads
from onceward.errors import QueueUnavailable
from onceward.usecases.ports import DeadLetter, Wakeup
from onceward.wire.messages import dead_letter_body, unreadable_body, wakeup_body

if TYPE_CHECKING:  # stubs exist for the checker only
    from mypy_boto3_sqs import SQSClient

CONFIG: Final = Config(
    connect_timeout=1,  # seconds; a lost message costs little, a handler that hangs costs its batch
    read_timeout=3,
    retries={"mode": "standard", "total_max_attempts": 3},
    max_pool_connections=64,  # more than the runner has threads: a call never waits for another's connection
)
# Seconds. SQS allows twelve hours and counts them from the receive, which was one invocation (15 min) ago at most.
LONGEST_VISIBILITY = 12 * 60 * 60 - 15 * 60
TRACEPARENT = "traceparent"  # message attribute: the trace goes beside the body, which stays a claim check


class SqsQueue:
    """Two queues behind one port. A function that writes no dead letters is given no address for them."""

    def __init__(self, client: SQSClient, threads: Threads, *, jobs_url: str, dead_letters_url: str | None) -> None:
        """Use a client that was configured with ``CONFIG``; nothing is asked of SQS yet."""
        self._client = client
        self._threads = threads
        self._jobs_url = jobs_url
        self._dead_letters_url = dead_letters_url

    async def wake(self, wakeup: Wakeup) -> None:
        """Send a wake-up in its tenant's group: fair queues keep one tenant's flood from the others."""
        attributes = {}
        if wakeup.traceparent is not None:
            attributes[TRACEPARENT] = {"DataType": "String", "StringValue": wakeup.traceparent}
        with translated("sqs"):
            await self._threads.call(
                self._client.send_message,
                QueueUrl=self._jobs_url,
                MessageBody=wakeup_body(wakeup.tenant_id, wakeup.job_id),
                MessageGroupId=wakeup.tenant_id,
                MessageAttributes=attributes,
            )

    async def bury(self, letter: DeadLetter) -> None:
        """Send a dead letter, in its tenant's group too: redriven, it stays there."""
        body = dead_letter_body(letter.tenant_id, letter.job_id, letter.epoch, letter.reason)
        await self._send_dead(body, MessageGroupId=letter.tenant_id)

    async def bury_unreadable(self, body: str, reason: str) -> None:
        """Keep a body that names no job; it goes nowhere else, since nobody knows what is in it."""
        await self._send_dead(unreadable_body(body, reason))

    async def hide(self, receipt: str, visibility: timedelta) -> None:
        """Set a received message's visibility from now on, in whole seconds, rounded up.

        Raises ``QueueUnavailable`` also for a receipt that has run out: whoever holds the message now, the lease in
        the job's row is the authority.
        """
        seconds = -(-visibility // timedelta(seconds=1))
        with translated("sqs"):
            await self._threads.call(
                self._client.change_message_visibility,
                QueueUrl=self._jobs_url,
                ReceiptHandle=receipt,
                VisibilityTimeout=min(max(seconds, 0), LONGEST_VISIBILITY),
            )

    async def _send_dead(self, body: str, **group: str) -> None:
        """Send to the dead letters."""
        if self._dead_letters_url is None:
            raise QueueUnavailable("this function was given no dead-letter queue")
        with translated("sqs"):
            await self._threads.call(
                self._client.send_message, QueueUrl=self._dead_letters_url, MessageBody=body, **group
            )
