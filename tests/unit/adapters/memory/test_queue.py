"""What the queue in memory lets a test do by hand; the promises of every queue are in tests/contract."""

import asyncio
from datetime import timedelta

import pytest

from onceward.adapters.memory.queue import MemoryQueue
from onceward.errors import QueueUnavailable
from onceward.usecases.ports import Wakeup
from tests.support.builders import JOB_ID, NOW, TENANT
from tests.support.fakes import FakeClock

VISIBILITY = timedelta(seconds=30)


@pytest.fixture
def clock() -> FakeClock:
    """Time that stands still until it is moved."""
    return FakeClock()


@pytest.fixture
def queue(clock: FakeClock) -> MemoryQueue:
    """A queue with one wake-up in it."""
    queue = MemoryQueue(clock, visibility=VISIBILITY, max_receive_count=3)
    asyncio.run(queue.wake(Wakeup(TENANT, JOB_ID)))
    return queue


def test_acknowledged_message_is_gone(queue: MemoryQueue, clock: FakeClock) -> None:
    """It does not come back when its visibility ends."""
    [delivery] = queue.receive()

    queue.acknowledge(delivery.receipt)
    clock.move(VISIBILITY)

    assert queue.receive() == ()
    assert queue.next_visible_at is None


def test_unacknowledged_message_comes_back_with_a_new_receipt(queue: MemoryQueue, clock: FakeClock) -> None:
    """A crashed worker's message is delivered again; its old receipt can do nothing any more."""
    [first] = queue.receive()
    assert queue.next_visible_at == NOW + VISIBILITY
    clock.move(VISIBILITY)
    [second] = queue.receive()

    queue.acknowledge(first.receipt)
    with pytest.raises(QueueUnavailable):
        asyncio.run(queue.hide(first.receipt, timedelta(0)))

    assert (first.message_id, second.receive_count) == (second.message_id, 2)
    assert queue.next_visible_at == NOW + 2 * VISIBILITY


def test_duplicate_is_a_second_delivery_of_a_held_message(queue: MemoryQueue) -> None:
    """At least once: two workers may hold one message."""
    [first] = queue.receive()

    queue.duplicate(first.message_id)

    assert [delivery.message_id for delivery in queue.receive()] == [first.message_id]


def test_lost_message_is_never_delivered(queue: MemoryQueue) -> None:
    """What the sweeper is for."""
    [delivery] = queue.receive()

    queue.lose(delivery.message_id)

    assert queue.next_visible_at is None


def test_batch_is_bounded_and_in_order(queue: MemoryQueue) -> None:
    """A batch has ten messages at most, oldest first, the same in every run."""
    sent = [queue.put(str(number)) for number in range(12)]

    batch = queue.receive()
    rest = queue.receive()

    assert [delivery.message_id for delivery in (*batch, *rest)][1:] == sent
    assert (len(batch), len(rest)) == (10, 3)


def test_twelve_hours_are_counted_from_the_receive(queue: MemoryQueue, clock: FakeClock) -> None:
    """However often its visibility is moved; a wish beyond is refused and changes nothing."""
    [delivery] = queue.receive()
    asyncio.run(queue.hide(delivery.receipt, timedelta(hours=11)))
    clock.move(timedelta(hours=10))

    with pytest.raises(QueueUnavailable):
        asyncio.run(queue.hide(delivery.receipt, timedelta(hours=3)))
    assert queue.next_visible_at == NOW + timedelta(hours=11)

    asyncio.run(queue.hide(delivery.receipt, timedelta(hours=2)))
    assert queue.next_visible_at == NOW + timedelta(hours=12)


def test_what_is_older_than_its_retention_is_gone(queue: MemoryQueue, clock: FakeClock) -> None:
    """Received or not: a message lives four days from its sending, and its receives do not make it younger."""
    clock.move(timedelta(days=3, hours=23))
    [_] = queue.receive()
    clock.move(timedelta(hours=1))

    assert queue.receive() == ()
    assert queue.next_visible_at is None


def test_a_redriven_message_is_a_new_one(queue: MemoryQueue, clock: FakeClock) -> None:
    """A move task sends it anew: another id, and a receive count of one."""
    ids = set()
    for _ in range(3):
        [delivery] = queue.receive()
        ids.add(delivery.message_id)
        clock.move(VISIBILITY)
    assert queue.receive() == ()

    assert queue.redrive() == 1
    [again] = queue.receive()

    assert again.receive_count == 1
    assert again.message_id not in ids
