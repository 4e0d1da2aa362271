"""Moving dead letters: what SQS answers entry by entry is done again for those entries, and told as it was."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from datetime import UTC, datetime
from typing import Any

from botocore.exceptions import ClientError

from onceward.adapters.dead_letters import BATCH, TRIES, DeadLetters, Letter, Moved
from onceward.errors import QueueUnavailable

SENT_AT = datetime(2026, 3, 1, 12, tzinfo=UTC)


def letters(count: int, padding: str = "") -> list[Letter]:
    """So many letters, each with a body and a receipt of its own."""
    return [
        Letter(message_id=f"m-{at}", receipt=f"r-{at}", body=f"b-{at}{padding}", sent_at=SENT_AT, group="acme")
        for at in range(count)
    ]


@dataclass
class HalfDeaf:
    """An SQS client whose batches fail for the entries that the test names, so often; it notes every batch."""

    fails: dict[str, int] = field(default_factory=dict)
    deletes_fail: dict[str, int] = field(default_factory=dict)
    is_down: bool = False
    sent: list[list[str]] = field(default_factory=list)
    deleted: list[list[str]] = field(default_factory=list)
    groups: set[str] = field(default_factory=set)

    def send_message_batch(self, *, QueueUrl: str, Entries: Sequence[Any]) -> dict[str, Any]:  # noqa: N803
        """Take what does not fail."""
        if self.is_down:
            raise ClientError({"Error": {"Code": "RequestThrottled"}}, "SendMessageBatch")
        bodies = [entry["MessageBody"] for entry in Entries]
        self.sent.append(bodies)
        self.groups |= {entry["MessageGroupId"] for entry in Entries}
        return self._answer(Entries, bodies, self.fails)

    def delete_message_batch(self, *, QueueUrl: str, Entries: Sequence[Any]) -> dict[str, Any]:  # noqa: N803
        """Delete what does not fail."""
        receipts = [entry["ReceiptHandle"] for entry in Entries]
        self.deleted.append(receipts)
        return self._answer(Entries, receipts, self.deletes_fail)

    def _answer(self, entries: Sequence[Any], names: list[str], fails: dict[str, int]) -> dict[str, Any]:
        """SQS's answer: 200, with the failed entries named in it."""
        failed = []
        for entry, name in zip(entries, names, strict=True):
            if fails.get(name, 0) > 0:
                fails[name] -= 1
                failed.append({"Id": entry["Id"], "SenderFault": False, "Code": "InternalError"})
        return {"Successful": [], "Failed": failed}


def move(client: HalfDeaf, found: list[Letter]) -> Moved:
    """Move them all."""
    return DeadLetters(client, "dead").move(found, "jobs")  # type: ignore[arg-type]  # as much of a client as is used


def test_only_what_failed_is_sent_again() -> None:
    """SQS-25: ten sent, two come back in ``Failed``: those two are sent again, and the count is the truth."""
    found = [
        Letter(message_id=f"m-{at}", receipt=f"r-{at}", body=f"b-{at}", sent_at=SENT_AT, group="acme")
        for at in range(10)
    ]
    client = HalfDeaf(fails={"b-3": 1, "b-7": 1})

    assert move(client, found) == Moved(found=10, sent=10, deleted=10)
    assert client.sent[1:] == [["b-3", "b-7"]]
    assert client.groups == {"acme"}


def test_letter_that_cannot_be_sent_is_not_deleted() -> None:
    """What SQS never took stays where it was, and is told as such."""
    found = [
        Letter(message_id=f"m-{at}", receipt=f"r-{at}", body=f"b-{at}", sent_at=SENT_AT, group="acme")
        for at in range(2)
    ]
    client = HalfDeaf(fails={"b-1": 99})
    moved = move(client, found)

    assert (moved.found, moved.sent, moved.deleted, moved.is_complete) == (2, 1, 1, False)
    assert len(client.sent) == TRIES
    assert client.deleted == [["r-0"]]


def test_failed_deletion_is_asked_again_and_told() -> None:
    """SQS-24: 200 with ``Failed``; a letter that stays in both queues is harmless, and not counted as removed."""
    client = HalfDeaf(deletes_fail={"r-0": 1})
    assert move(client, letters(2)) == Moved(found=2, sent=2, deleted=2)
    assert client.deleted == [["r-0", "r-1"], ["r-0"]]

    moved = move(HalfDeaf(deletes_fail={"r-0": 99}), letters(2))
    assert (moved.sent, moved.deleted, moved.is_complete) == (2, 1, False)


def test_outage_on_the_way_is_told_with_what_was_done() -> None:
    """The rest was not tried; nothing is claimed that was not answered."""
    moved = move(HalfDeaf(is_down=True), letters(3))

    assert (moved.found, moved.sent, moved.deleted) == (3, 0, 0)
    assert isinstance(moved.error, QueueUnavailable)
    assert not moved.is_complete


def test_batches_fit_what_sqs_takes() -> None:
    """Ten at once, and fewer where bodies are long."""
    many, long = HalfDeaf(), HalfDeaf()
    move(many, letters(23))
    move(long, letters(4, padding="x" * 90_000))

    assert [len(batch) for batch in many.sent] == [BATCH, BATCH, 3]
    assert [len(batch) for batch in long.sent] == [2, 2]
