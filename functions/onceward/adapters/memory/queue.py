"""The jobs queue and its dead letters in memory: visibility, receive counts, the move to the dead letters.

Deterministic: it delivers in the order of sending, by the given clock. A duplicate delivery is made by hand
(``duplicate``), a lost message too (``lose``). It holds the same bodies as SQS. Not modelled: delivery out of order,
in-flight limits.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from datetime import datetime, timedelta

from onceward.errors import QueueUnavailable
from onceward.usecases.ports import Clock, DeadLetter, Wakeup
from onceward.wire.messages import dead_letter_body, unreadable_body, wakeup_body

LONGEST_VISIBILITY = timedelta(hours=12)  # SQS's own limit, of one wish and of all since the receive
RETENTION = timedelta(days=4)  # the stack's own for its jobs queue: what is older is gone, received or not


@dataclass(frozen=True, slots=True, kw_only=True)
class Delivery:
    """A message as a receiver sees it; ``receipt`` is new with each receive, ``message_id`` stays."""

    message_id: str
    receipt: str
    body: str
    receive_count: int
    group: str | None
    traceparent: str | None


@dataclass(frozen=True, slots=True, kw_only=True)
class _Message:
    """A message at rest; its present receipt is the only one that counts."""

    message_id: str
    body: str
    group: str | None
    traceparent: str | None
    visible_at: datetime
    sent_at: datetime
    received_at: datetime | None = None
    receive_count: int = 0

    @property
    def receipt(self) -> str:
        return f"{self.message_id}/{self.receive_count}"


class MemoryQueue:
    """One jobs queue and its dead letters. The port's methods first, then what stands in for SQS's receiver."""

    def __init__(self, clock: Clock, *, visibility: timedelta, max_receive_count: int) -> None:
        """Start empty; ``visibility`` and ``max_receive_count`` are the queue's own settings."""
        self._clock = clock
        self._visibility = visibility
        self._max_receive_count = max_receive_count
        self._sent = 0
        self._jobs: dict[str, _Message] = {}
        self._dead: list[str] = []

    async def wake(self, wakeup: Wakeup) -> None:
        """Put a wake-up in."""
        body = wakeup_body(wakeup.tenant_id, wakeup.job_id)
        self.put(body, group=wakeup.tenant_id, traceparent=wakeup.traceparent)

    async def bury(self, letter: DeadLetter) -> None:
        """Put a dead letter to the dead letters."""
        self._dead.append(dead_letter_body(letter.tenant_id, letter.job_id, letter.epoch, letter.reason))

    async def bury_unreadable(self, body: str, reason: str) -> None:
        """Keep a message that names no job, wrapped once."""
        self._dead.append(unreadable_body(body, reason))

    async def hide(self, receipt: str, visibility: timedelta) -> None:
        """Hide a received message, from now on, in whole seconds; an old receipt is refused as SQS may refuse it.

        So is a wish that ends more than twelve hours after the receive: the message then comes back by what was set.
        A wish for all that SQS allows gets what is left of it.
        """
        message = self._of(receipt)
        seconds = -(-min(max(visibility, timedelta(0)), LONGEST_VISIBILITY) // timedelta(seconds=1))
        visible_at = self._clock.now() + timedelta(seconds=seconds)
        received_at = message.received_at or self._clock.now()
        if visible_at > received_at + LONGEST_VISIBILITY and seconds < LONGEST_VISIBILITY.total_seconds():
            raise QueueUnavailable("the total visibility of the message is beyond 43200 seconds")
        self._store(replace(message, visible_at=min(visible_at, received_at + LONGEST_VISIBILITY)))

    def put(self, body: str, *, group: str | None = None, traceparent: str | None = None) -> str:
        """Put any body into the jobs queue (a redriven letter, or one that nobody can read); its message id."""
        self._sent += 1
        now = self._clock.now()
        message_id = f"message-{self._sent}"
        self._store(
            _Message(
                message_id=message_id, body=body, group=group, traceparent=traceparent, visible_at=now, sent_at=now
            )
        )
        return message_id

    def receive(self, limit: int = 10) -> tuple[Delivery, ...]:
        """Hand out what is visible, oldest first, and hide it; what was received too often goes to the dead."""
        now = self._clock.now()
        self._jobs = {name: message for name, message in self._jobs.items() if message.sent_at + RETENTION > now}
        deliveries: list[Delivery] = []
        for message in [message for message in self._jobs.values() if message.visible_at <= now]:
            if message.receive_count >= self._max_receive_count:
                del self._jobs[message.message_id]
                self._dead.append(message.body)
            elif len(deliveries) < limit:
                count, until = message.receive_count + 1, now + self._visibility
                taken = replace(message, receive_count=count, visible_at=until, received_at=now)
                self._store(taken)
                deliveries.append(_delivery(taken))
        return tuple(deliveries)

    def acknowledge(self, receipt: str) -> None:
        """Delete a received message. An old receipt deletes nothing, as in SQS it may not."""
        message = self._jobs.get(receipt.partition("/")[0])
        if message is not None and message.receipt == receipt:
            del self._jobs[message.message_id]

    def duplicate(self, message_id: str) -> None:
        """Make a message visible at once although someone holds it, as SQS sometimes does."""
        self._store(replace(self._jobs[message_id], visible_at=self._clock.now()))

    def lose(self, message_id: str) -> None:
        """Drop a message as if it had never been sent."""
        del self._jobs[message_id]

    def redrive(self, *, copies: int = 1) -> int:
        """Move every dead letter back to the jobs queue, as a move task with this destination does; how many.

        ``copies``: more than one is a redrive that was started twice.
        """
        letters, self._dead = self._dead, []
        for body in letters * copies:
            self.put(body)
        return len(letters)

    @property
    def next_visible_at(self) -> datetime | None:
        """When the next message can be received; ``None``: the queue is empty."""
        return min((message.visible_at for message in self._jobs.values()), default=None)

    @property
    def dead_letters(self) -> tuple[str, ...]:
        """The bodies of the dead letters, oldest first."""
        return tuple(self._dead)

    def _of(self, receipt: str) -> _Message:
        """The message a receipt stands for, if it is the message's last one."""
        message = self._jobs.get(receipt.partition("/")[0])
        if message is None or message.receipt != receipt:
            raise QueueUnavailable("the receipt is not, or no longer, valid")
        return message

    def _store(self, message: _Message) -> None:
        self._jobs[message.message_id] = message


def _delivery(message: _Message) -> Delivery:
    """What a receiver sees of a message."""
    return Delivery(
        message_id=message.message_id,
        receipt=message.receipt,
        body=message.body,
        receive_count=message.receive_count,
        group=message.group,
        traceparent=message.traceparent,
    )
