"""An operator's hands on the dead letters: read them without taking them, move some of them back.

Synchronous, for a person's command. A move is receive, send, delete, in this order: whoever dies in between leaves a
letter in both queues, and the second copy changes nothing, since the first has moved the job's epoch. SQS answers a
batch entry by entry: what came back as failed is sent or deleted again, alone, and what is told is what was answered.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from datetime import UTC, datetime
from typing import TYPE_CHECKING, Any, Final

from onceward.adapters.aws_errors import translated
from onceward.errors import InfrastructureError

if TYPE_CHECKING:  # stubs exist for the checker only
    from mypy_boto3_sqs import SQSClient

HELD_SECONDS = 60  # how long a letter that was read is hidden from other readers, unless it is put back before
BATCH = 10  # SQS's own limit
BATCH_BYTES = 200_000  # below SQS's 256 KiB for the whole of a batch, attributes included
TRIES = 3  # of what a batch's answer names as failed
SYSTEM_ATTRIBUTES: Final = ("SentTimestamp", "MessageGroupId", "DeadLetterQueueSourceArn")


@dataclass(frozen=True, slots=True, kw_only=True)
class Letter:
    """A message of the dead letters; ``source_arn``: the queue it was moved from, if SQS itself moved it."""

    message_id: str
    receipt: str
    body: str
    sent_at: datetime
    group: str | None = None
    source_arn: str | None = None
    attributes: Mapping[str, Any] = field(default_factory=dict)


@dataclass(frozen=True, slots=True, kw_only=True)
class Moved:
    """What a move came to, as SQS answered it; ``error``: what kept the rest from being tried."""

    found: int
    sent: int
    deleted: int
    error: InfrastructureError | None = None

    @property
    def is_complete(self) -> bool:
        """Whether all that was found is in the other queue, and there alone."""
        return self.found == self.sent == self.deleted and self.error is None


class DeadLetters:
    """The dead letters of one deployment."""

    def __init__(self, client: SQSClient, url: str) -> None:
        """Nothing is asked yet."""
        self._client = client
        self._url = url

    def about(self) -> int:
        """How many letters there are, as SQS estimates it, those that somebody is reading included."""
        with translated("sqs"):
            answer = self._client.get_queue_attributes(
                QueueUrl=self._url,
                AttributeNames=["ApproximateNumberOfMessages", "ApproximateNumberOfMessagesNotVisible"],
            )
        return sum(int(count) for count in answer["Attributes"].values())

    def read(self, most: int) -> list[Letter]:
        """Up to ``most`` letters; each is hidden from other readers until it is put back, or for a minute."""
        found: dict[str, Letter] = {}
        while len(found) < most:
            with translated("sqs"):
                answer = self._client.receive_message(
                    QueueUrl=self._url,
                    MaxNumberOfMessages=min(BATCH, most - len(found)),
                    VisibilityTimeout=HELD_SECONDS,
                    WaitTimeSeconds=1,  # a long poll asks all of SQS's servers; a short one may find nothing
                    MessageSystemAttributeNames=list(SYSTEM_ATTRIBUTES),
                    MessageAttributeNames=["All"],
                )
            read = [_letter(one) for one in answer.get("Messages", [])]
            is_new = any(letter.message_id not in found for letter in read)
            found |= {letter.message_id: letter for letter in read}  # a later receipt is the one that counts
            if not is_new:
                break
        return list(found.values())

    def put_back(self, letters: Sequence[Letter]) -> None:
        """Let others read them at once; what fails comes back by itself."""
        self.hold(letters, 0)

    def remove(self, letters: Sequence[Letter]) -> int:
        """Delete letters for good; how many SQS says are gone."""
        return sum(len(self._retried(some, self._delete)) for some in _batches(letters))

    def hold(self, letters: Sequence[Letter], seconds: float) -> None:
        """Keep letters that were read hidden from others for so long from now on."""
        for some in _batches(letters):
            entries = [
                {"Id": str(at), "ReceiptHandle": one.receipt, "VisibilityTimeout": int(seconds)}
                for at, one in enumerate(some)
            ]
            with translated("sqs"):
                self._client.change_message_visibility_batch(QueueUrl=self._url, Entries=entries)  # type: ignore[arg-type]

    def move(self, letters: Sequence[Letter], to_url: str) -> Moved:
        """Move letters to another queue, as they are; never raises for infrastructure, but tells it."""
        sent = deleted = 0
        try:
            for some in _batches(letters):
                arrived = self._retried(some, lambda part: self._send(part, to_url))
                sent += len(arrived)
                deleted += len(self._retried(arrived, self._delete))
        except InfrastructureError as error:
            return Moved(found=len(letters), sent=sent, deleted=deleted, error=error)
        return Moved(found=len(letters), sent=sent, deleted=deleted)

    def _send(self, letters: Sequence[Letter], to_url: str) -> list[int]:
        """The places of those that SQS did not take."""
        entries: list[Any] = []
        for at, one in enumerate(letters):
            group = {} if one.group is None else {"MessageGroupId": one.group}
            entries.append({"Id": str(at), "MessageBody": one.body, "MessageAttributes": one.attributes, **group})
        with translated("sqs"):
            answer = self._client.send_message_batch(QueueUrl=to_url, Entries=entries)
        return [int(one["Id"]) for one in answer.get("Failed", [])]

    def _delete(self, letters: Sequence[Letter]) -> list[int]:
        """The places of those that are still there."""
        entries: list[Any] = [{"Id": str(at), "ReceiptHandle": one.receipt} for at, one in enumerate(letters)]
        with translated("sqs"):
            answer = self._client.delete_message_batch(QueueUrl=self._url, Entries=entries)
        return [int(one["Id"]) for one in answer.get("Failed", [])]

    def _retried(self, letters: Sequence[Letter], do: Callable[[Sequence[Letter]], list[int]]) -> list[Letter]:
        """Those for which it worked, after asking again for those for which it did not."""
        left = list(letters)
        done: list[Letter] = []
        for _ in range(TRIES):
            if not left:
                break
            failed = set(do(left))
            done += [one for at, one in enumerate(left) if at not in failed]
            left = [one for at, one in enumerate(left) if at in failed]
        return done


def _letter(message: Mapping[str, Any]) -> Letter:
    """A message as it was received."""
    system = message.get("Attributes", {})
    attributes = {
        name: {key: value for key, value in one.items() if key in ("DataType", "StringValue", "BinaryValue")}
        for name, one in message.get("MessageAttributes", {}).items()
    }
    return Letter(
        message_id=message["MessageId"],
        receipt=message["ReceiptHandle"],
        body=message["Body"],
        sent_at=datetime.fromtimestamp(int(system["SentTimestamp"]) / 1000, UTC),
        group=system.get("MessageGroupId"),
        source_arn=system.get("DeadLetterQueueSourceArn"),
        attributes=attributes,
    )


def _batches(letters: Sequence[Letter]) -> Iterator[list[Letter]]:
    """As many at once as SQS takes, by number and by size."""
    some: list[Letter] = []
    size = 0
    for one in letters:
        own = len(one.body.encode()) + sum(len(str(value)) for value in one.attributes.values())
        if some and (len(some) == BATCH or size + own > BATCH_BYTES):
            yield some
            some, size = [], 0
        some.append(one)
        size += own
    if some:
        yield some
