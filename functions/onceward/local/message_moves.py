"""Move messages as ``StartMessageMoveTask`` does, for the local cloud, which has no such call.

It refuses what AWS refuses, with AWS's error codes, so that a command that works here is one that AWS takes: a source
that is nobody's dead-letter queue, a queue that is not there, a rate out of bounds, a second task on one queue while
the first is active, and, without a destination of its own, messages that SQS itself did not move and whose source it so
cannot know. Source: the API reference of SQS; nothing here was compared with AWS itself.
"""

from __future__ import annotations

import fcntl
import json
import os
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, NoReturn

from botocore.exceptions import ClientError

from onceward.adapters.dead_letters import DeadLetters, Letter

if TYPE_CHECKING:
    from mypy_boto3_sqs import SQSClient

OPERATION = "StartMessageMoveTask"
MOST_PER_SECOND = 500
MOST_MESSAGES = 100_000  # more than a local queue is ever given


@dataclass(frozen=True, slots=True, kw_only=True)
class MoveTask:
    """A task that has ended: ``COMPLETED``, or ``FAILED`` with SQS's word for why."""

    status: str
    moved: int
    failure_reason: str | None = None


class MessageMoves:
    """The move tasks of one local cloud; ``folder`` holds a lock for each queue that a task is active on."""

    def __init__(self, client: SQSClient, folder: Path) -> None:
        """Nothing is moved yet."""
        self._client = client
        self._folder = folder

    def start(
        self, source_arn: str, destination_arn: str | None = None, *, messages_per_second: int | None = None
    ) -> MoveTask:
        """Move all that is there, and return when it is done; raises ``ClientError`` for what AWS refuses."""
        if messages_per_second is not None and not 1 <= messages_per_second <= MOST_PER_SECOND:
            _refuse("InvalidParameterValue", f"MaxNumberOfMessagesPerSecond must be 1 to {MOST_PER_SECOND}")
        source_url = self._url_of(source_arn)
        sources = self._sources_of(source_arn)
        if not sources:
            _refuse("InvalidParameterValue", "Source queue must be configured as a Dead Letter Queue.")
        destination = None if destination_arn is None else self._url_of(destination_arn)
        with self._active(source_arn):
            letters = DeadLetters(self._client, source_url)
            return self._move(letters, letters.read(MOST_MESSAGES), destination)

    def _move(self, letters: DeadLetters, found: list[Letter], destination: str | None) -> MoveTask:
        """To the one destination, or each to where SQS moved it from; one that SQS did not move ends the task."""
        moved = 0
        for letter in found:
            if destination is None and letter.source_arn is None:
                letters.put_back(found[moved:])
                return MoveTask(status="FAILED", moved=moved, failure_reason="CouldNotDetermineMessageSource")
            to = destination or self._url_of(str(letter.source_arn))
            moved += letters.move([letter], to).deleted
        return MoveTask(status="COMPLETED", moved=moved)

    def _url_of(self, arn: str) -> str:
        """A queue's address; AWS's refusal for one that is not there."""
        name = arn.rpartition(":")[2]
        try:
            return self._client.get_queue_url(QueueName=name)["QueueUrl"]
        except ClientError:
            _refuse("ResourceNotFoundException", "The resource that you specified for the SourceArn parameter is gone.")

    def _sources_of(self, arn: str) -> list[str]:
        """The queues whose dead letters go to ``arn``."""
        pages = self._client.get_paginator("list_queues").paginate()
        urls = [url for page in pages for url in page.get("QueueUrls", [])]
        return [url for url in urls if self._target_of(url) == arn]

    def _target_of(self, url: str) -> str | None:
        """Where a queue's dead letters go."""
        told = self._client.get_queue_attributes(QueueUrl=url, AttributeNames=["RedrivePolicy"]).get("Attributes", {})
        policy = json.loads(told.get("RedrivePolicy", "{}"))
        target: str | None = policy.get("deadLetterTargetArn")
        return target

    @contextmanager
    def _active(self, arn: str) -> Iterator[None]:
        """One active task per queue, over all processes of this machine."""
        self._folder.mkdir(parents=True, exist_ok=True)
        handle = os.open(self._folder / f"{arn.rpartition(':')[2]}.lock", os.O_RDWR | os.O_CREAT, 0o600)
        try:
            try:
                fcntl.flock(handle, fcntl.LOCK_EX | fcntl.LOCK_NB)
            except BlockingIOError:
                _refuse("AWS.SimpleQueueService.UnsupportedOperation", "A task is active for this queue already.")
            yield
        finally:
            os.close(handle)


def _refuse(code: str, message: str) -> NoReturn:
    """Answer as AWS would."""
    raise ClientError({"Error": {"Code": code, "Message": message}}, OPERATION)
