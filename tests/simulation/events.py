"""The event source between the queue and the worker, as Lambda's: batches, partial failures, deletion, retries.

It receives what is visible, invokes a worker with a batch, deletes what the answer does not name as failed, and leaves
the rest to its visibility. A worker that dies, or is killed at its function's timeout, answers nothing: then nothing is
deleted. Receives and deletions are boundaries too, so messages come twice, late, or to a worker that never began.

Where Lambda has no room for an invocation, the source tries again, ever more rarely, and receives nothing meanwhile. It
holds its batch for as long as the queue's visibility lasts: the batch then comes late, under the receipts and counts of
its receive. What it holds longer comes back by itself, as what a worker never began with. After a function's error it
does not slow down, since AWS does not where partial failures are reported (``ReportBatchItemFailures``).
"""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable, Sequence
from datetime import timedelta
from typing import Any, Protocol

from onceward.adapters.memory.queue import Delivery, MemoryQueue
from onceward.usecases.ports import Clock, DeadLetter
from tests.simulation.bell import Bell
from tests.simulation.checks.promised import EPOCH
from tests.simulation.faults import Counter, Fault
from tests.simulation.process import Died
from tests.simulation.scheduler import VirtualLoop

INVOKE_SECONDS = 0.02  # from a visible message to a running handler; SQS to Lambda, median 16 ms
NO_ROOM = 180.0  # seconds: longer than a lease, shorter than the queue's visibility
FIRST_BACK_OFF, LAST_BACK_OFF = 1.0, 60.0  # seconds between the tries of an invocation; AWS does not tell them
LATE = timedelta(minutes=3)  # a delayed message: longer than a lease and the sweeper's first look

type Answer = dict[str, list[dict[str, str]]]
type Invoke = Callable[[Sequence[Delivery]], Awaitable[Answer | Died]]


class SimQueue(MemoryQueue):
    """The queue in memory, which tells its event source when to look again; ``buried``, ``bodies``: all ever sent."""

    def __init__(self, clock: Clock, *, visibility: timedelta, max_receive_count: int) -> None:
        """As the queue in memory."""
        super().__init__(clock, visibility=visibility, max_receive_count=max_receive_count)
        self.changed = Bell()
        self.buried: list[DeadLetter] = []
        self.bodies: list[str] = []

    def put(self, body: str, *, group: str | None = None, traceparent: str | None = None) -> str:
        """Put a message in and ring."""
        self.changed.set()
        self.bodies.append(body)
        return super().put(body, group=group, traceparent=traceparent)

    async def bury(self, letter: DeadLetter) -> None:
        """Keep a letter, and remember it when it has been redriven."""
        self.buried.append(letter)
        await super().bury(letter)

    async def hide(self, receipt: str, visibility: timedelta) -> None:
        """Move a message's visibility and ring."""
        await super().hide(receipt, visibility)
        self.changed.set()


class Settings(Protocol):
    """What the event source is configured with."""

    @property
    def batch_size(self) -> int:
        """Messages per invocation at most."""
        ...

    @property
    def concurrency(self) -> int:
        """Invocations at once at most (``MaximumConcurrency``)."""
        ...


class EventSource:
    """Polls the queue for as long as the scenario lasts."""

    def __init__(
        self,
        loop: VirtualLoop,
        queue: SimQueue,
        counter: Counter,
        settings: Settings,
        invoke: Invoke,
        deploy: Callable[[Fault], None],
    ) -> None:
        """``invoke`` runs one worker invocation to its end, ``deploy`` changes what code the next ones run."""
        self._loop = loop
        self._queue = queue
        self._counter = counter
        self._batch_size = settings.batch_size
        self._slots = asyncio.Semaphore(settings.concurrency)
        self._invoke = invoke
        self._deploy = deploy
        self._running: set[asyncio.Task[None]] = set()
        self._no_room_until = 0.0
        self.errors: list[Exception] = []

    @property
    def is_idle(self) -> bool:
        """Whether no invocation is under way."""
        return not self._running

    async def poll(self) -> None:
        """Receive and invoke until cancelled."""
        while True:
            await self._something_visible()
            await self._room()
            await asyncio.sleep(INVOKE_SECONDS if self._loop.turns is None else 0.0)
            for batch in await self._receive():
                await self._slots.acquire()
                task = self._loop.create_task(self._handle(batch))
                self._running.add(task)
                task.add_done_callback(self._running.discard)

    async def _something_visible(self) -> None:
        """Until a message is visible, or the queue changed and it is worth another look."""
        while True:
            self._queue.changed.clear()
            at = self._queue.next_visible_at
            wait = None if at is None else (at - EPOCH).total_seconds() - self._loop.time()
            if wait is not None and wait <= 0:
                return
            await self._queue.changed.wait(None if wait is None else wait + 0.001)

    async def _room(self) -> None:
        """Until an invocation would be let in, as whoever tries from time to time finds out."""
        pause = FIRST_BACK_OFF
        while self._loop.time() < self._no_room_until:
            await asyncio.sleep(pause)
            pause = min(2 * pause, LAST_BACK_OFF)

    async def _receive(self) -> tuple[tuple[Delivery, ...], ...]:
        """One receive: usually one batch; a duplicate delivery makes a second one of the same messages."""
        batch = self._queue.receive(self._batch_size)
        if not batch:
            return ()
        alike = frozenset({Fault.REORDER} if len(batch) == 1 else ())
        match self._counter.cross("sqs", "events.receive", self._loop.time(), alike=alike):
            case Fault.CRASH_BEFORE:  # the invocation never began; visibility brings the message back
                return ()
            case Fault.DUPLICATE:
                for delivery in batch:
                    self._queue.duplicate(delivery.message_id)
                return batch, self._queue.receive(self._batch_size)
            case Fault.DELAY:
                for delivery in batch:
                    await self._queue.hide(delivery.receipt, LATE)
                return ()
            case Fault.REORDER:
                return tuple((delivery,) for delivery in reversed(batch))
            case Fault.INVOKE_THROTTLED:
                self._no_room_until = self._loop.time() + NO_ROOM
                return (batch,)
            case Fault.OLDER_CODE | Fault.NEWER_CODE as change:
                self._deploy(change)
                return (batch,)
            case _:
                return (batch,)

    async def _handle(self, batch: Sequence[Delivery]) -> None:
        """One invocation; its answer decides which messages are deleted."""
        try:
            await self._room()
            try:
                answer = await self._invoke(batch)
            except Exception as error:  # noqa: BLE001  # a function error: Lambda deletes nothing
                self.errors.append(error)
                return
            if isinstance(answer, Died):
                return
            failed = come_back(answer, batch)
            if self._counter.cross("sqs", "events.delete", self._loop.time()) is Fault.LOST_ANSWER:
                return
            for delivery in batch:
                if delivery.message_id not in failed:
                    self._queue.acknowledge(delivery.receipt)
        finally:
            self._slots.release()
            self._queue.changed.set()


def event_of(batch: Sequence[Delivery]) -> dict[str, list[dict[str, Any]]]:
    """The event that Lambda hands to its function, as far as anybody reads it."""
    return {"Records": [_record_of(message) for message in batch]}


def _record_of(message: Delivery) -> dict[str, Any]:
    """One message of it."""
    trace = message.traceparent
    return {
        "messageId": message.message_id,
        "receiptHandle": message.receipt,
        "body": message.body,
        "attributes": {"ApproximateReceiveCount": str(message.receive_count)},
        "messageAttributes": {} if trace is None else {"traceparent": {"stringValue": trace, "dataType": "String"}},
    }


def come_back(answer: Any, batch: Sequence[Delivery]) -> set[str]:
    """Which messages of a batch stay in the queue, by what the function has answered.

    As AWS has it for ``ReportBatchItemFailures``: nothing said, or an empty list, means that all went well; a list that
    it cannot read, or that names an empty or a foreign message, fails the whole batch.
    """
    everything = {message.message_id for message in batch}
    if answer is None or (isinstance(answer, dict) and not answer.get("batchItemFailures")):
        return set()
    try:
        named = {one["itemIdentifier"] for one in answer["batchItemFailures"]}
    except (KeyError, TypeError):
        return everything
    is_readable = named <= everything
    return named if is_readable else everything
