"""The local stand-in for message moves: it moves what AWS would move, and refuses what AWS refuses."""

from __future__ import annotations

import fcntl
import itertools
import json
from pathlib import Path
from typing import TYPE_CHECKING

import boto3
import pytest
from botocore.exceptions import ClientError

from onceward.local.cloud import LocalCloud
from onceward.local.message_moves import MessageMoves

if TYPE_CHECKING:
    from mypy_boto3_sqs import SQSClient

_numbers = itertools.count(1)


class Bench:
    """A jobs queue with its dead letters, in an emulated account."""

    def __init__(self, cloud: LocalCloud, folder: Path) -> None:
        """Make both."""
        self.client: SQSClient = boto3.client("sqs", **cloud.access)
        self.folder = folder
        number = next(_numbers)
        self.dead_url, self.dead_arn = self._queue(f"moves-dead-{number}")
        policy = json.dumps({"deadLetterTargetArn": self.dead_arn, "maxReceiveCount": "1"})
        self.jobs_url, self.jobs_arn = self._queue(f"moves-jobs-{number}", RedrivePolicy=policy)
        self.moves = MessageMoves(self.client, folder)

    def _queue(self, name: str, **attributes: str) -> tuple[str, str]:
        """Its address and its ARN."""
        url = self.client.create_queue(QueueName=name, Attributes=attributes)["QueueUrl"]  # type: ignore[arg-type]
        told = self.client.get_queue_attributes(QueueUrl=url, AttributeNames=["QueueArn"])
        return url, told["Attributes"]["QueueArn"]

    def send(self, *bodies: str) -> None:
        """Put letters in as our worker does: SQS moved none of them."""
        for body in bodies:
            self.client.send_message(QueueUrl=self.dead_url, MessageBody=body, MessageGroupId="acme")

    def bodies(self, url: str) -> list[str]:
        """What can be received there now."""
        answer = self.client.receive_message(QueueUrl=url, MaxNumberOfMessages=10, WaitTimeSeconds=1)
        return sorted(one["Body"] for one in answer.get("Messages", []))

    def refusal(self, *arguments: str | None, **options: int) -> str:
        """The error code that a start is refused with."""
        with pytest.raises(ClientError) as refused:
            self.moves.start(*arguments, **options)  # type: ignore[arg-type]
        return str(refused.value.response["Error"]["Code"])


@pytest.fixture
def bench(ministack: LocalCloud, tmp_path: Path) -> Bench:
    """Queues of their own."""
    return Bench(ministack, tmp_path)


def test_everything_moves_to_the_custom_destination(bench: Bench) -> None:
    """Letters of ours and unreadable ones alike, as they are; nothing is left behind."""
    bench.send("one", "two", "three")
    task = bench.moves.start(bench.dead_arn, bench.jobs_arn)

    assert (task.status, task.moved) == ("COMPLETED", 3)
    assert bench.bodies(bench.jobs_url) == ["one", "three", "two"]
    assert bench.bodies(bench.dead_url) == []


def test_redrive_to_source_is_refused_for_what_sqs_did_not_move(bench: Bench) -> None:
    """The task fails with SQS's word for it, and the letter stays where it was."""
    bench.send("ours")
    task = bench.moves.start(bench.dead_arn)

    assert (task.status, task.moved, task.failure_reason) == ("FAILED", 0, "CouldNotDetermineMessageSource")
    assert bench.bodies(bench.dead_url) == ["ours"]


def test_redrive_to_source_takes_what_sqs_moved(bench: Bench) -> None:
    """A message that was received too often knows where it came from."""
    bench.client.send_message(QueueUrl=bench.jobs_url, MessageBody="too often")
    for _ in range(2):  # the second receive is the one too many
        for one in bench.client.receive_message(QueueUrl=bench.jobs_url, VisibilityTimeout=0).get("Messages", []):
            assert one["Body"] == "too often"
    task = bench.moves.start(bench.dead_arn)

    assert (task.status, task.moved) == ("COMPLETED", 1)


def test_source_must_be_a_dead_letter_queue(bench: Bench) -> None:
    """The jobs queue is nobody's dead letters."""
    assert bench.refusal(bench.jobs_arn, bench.dead_arn) == "InvalidParameterValue"


@pytest.mark.parametrize("arguments", [("absent",), ("dead", "absent")])
def test_queues_must_exist(bench: Bench, arguments: tuple[str, ...]) -> None:
    """Source and destination alike."""
    arns = {"absent": bench.dead_arn + "-gone", "dead": bench.dead_arn}

    assert bench.refusal(*(arns[name] for name in arguments)) == "ResourceNotFoundException"


@pytest.mark.parametrize("rate", [0, 501])
def test_rate_has_bounds(bench: Bench, rate: int) -> None:
    """1 to 500 a second."""
    assert bench.refusal(bench.dead_arn, bench.jobs_arn, messages_per_second=rate) == "InvalidParameterValue"


def test_one_task_is_active_on_a_queue(bench: Bench) -> None:
    """A second command while the first one moves is refused, whichever process it runs in; then it may."""
    bench.send("one")
    bench.folder.mkdir(exist_ok=True)
    with (bench.folder / f"{bench.dead_arn.rpartition(':')[2]}.lock").open("w") as lock:
        fcntl.flock(lock, fcntl.LOCK_EX)
        assert bench.refusal(bench.dead_arn, bench.jobs_arn) == "AWS.SimpleQueueService.UnsupportedOperation"

    assert bench.moves.start(bench.dead_arn, bench.jobs_arn).moved == 1
