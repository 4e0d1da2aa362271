"""What every jobs queue promises."""

import asyncio
import json
from datetime import timedelta

import pytest

from onceward.errors import QueueUnavailable
from onceward.usecases.ports import DeadLetter, Wakeup
from onceward.wire.messages import Unreadable, WakeupBody, parse_message
from tests.support.builders import JOB_ID, TENANT
from tests.support.queue_bench import MAX_RECEIVE_COUNT, QueueBench

WAKEUP = Wakeup(TENANT, JOB_ID)
AT_ONCE = timedelta(0)


def hide(bench: QueueBench, receipt: str, visibility: timedelta) -> None:
    """Hide a received message."""
    asyncio.run(bench.queue.hide(receipt, visibility))


class QueuePromises:
    """A subclass gives the fixture ``bench``: empty queues."""

    @pytest.mark.failure_mode("F62", "F73")
    def test_wakeup_names_its_job_and_nothing_else(self, bench: QueueBench) -> None:
        """Claim check: the body is the whole message, in its tenant's group, without a trace if there is none."""
        asyncio.run(bench.queue.wake(WAKEUP))

        [message] = bench.receive()
        assert parse_message(message.body) == WakeupBody(tenant_id=TENANT, job_id=JOB_ID)
        assert (message.group, message.traceparent, message.receive_count) == (TENANT, None, 1)

    def test_trace_goes_beside_the_body(self, bench: QueueBench) -> None:
        """The worker continues the trace that the request began."""
        traceparent = "00-4bf92f3577b34da6a3ce929d0e0e4736-00f067aa0ba902b7-01"

        asyncio.run(bench.queue.wake(Wakeup(TENANT, JOB_ID, traceparent)))

        assert [message.traceparent for message in bench.receive()] == [traceparent]

    def test_wakeups_of_one_job_are_separate_messages(self, bench: QueueBench) -> None:
        """A repeated send is a second message: the row makes it harmless, not the queue."""
        for _send in range(2):
            asyncio.run(bench.queue.wake(WAKEUP))

        first, second = bench.receive()
        assert first.body == second.body
        assert first.receipt != second.receipt

    def test_received_message_is_hidden(self, bench: QueueBench) -> None:
        """While one worker has it, no other gets it."""
        asyncio.run(bench.queue.wake(WAKEUP))
        bench.receive()

        assert bench.receive() == []

    @pytest.mark.parametrize("visibility", [AT_ONCE, timedelta(seconds=-5)])
    def test_message_put_back_at_once_is_received_again(self, bench: QueueBench, visibility: timedelta) -> None:
        """No wait left, or less than none, is now; the receive count goes on."""
        asyncio.run(bench.queue.wake(WAKEUP))
        [first] = bench.receive()

        hide(bench, first.receipt, visibility)

        again = bench.await_message()
        assert (again.body, again.receive_count) == (first.body, 2)

    def test_part_of_a_second_is_rounded_up(self, bench: QueueBench) -> None:
        """A message never comes before the time that its job waits for."""
        asyncio.run(bench.queue.wake(WAKEUP))
        [first] = bench.receive()

        hide(bench, first.receipt, timedelta(milliseconds=200))

        assert bench.receive() == []
        assert bench.await_message().body == first.body

    @pytest.mark.failure_mode("F53")
    def test_longest_visibility_is_the_queues_own(self, bench: QueueBench) -> None:
        """More than twelve hours is twelve hours and no error."""
        asyncio.run(bench.queue.wake(WAKEUP))
        [message] = bench.receive()

        hide(bench, message.receipt, timedelta(days=2))

        assert bench.receive() == []

    def test_receipt_of_no_message_is_refused(self, bench: QueueBench) -> None:
        """The caller hears that nothing was changed."""
        with pytest.raises(QueueUnavailable):
            hide(bench, "no-such-receipt", AT_ONCE)

    def test_dead_letter_carries_its_epoch(self, bench: QueueBench) -> None:
        """It goes to the dead letters only; redriven, it says which epoch it speaks of."""
        asyncio.run(bench.queue.bury(DeadLetter(TENANT, JOB_ID, epoch=2, reason="attempts_exhausted")))

        [body] = bench.dead_letters()
        expected = {
            "schema_version": 1,
            "tenant_id": TENANT,
            "job_id": JOB_ID,
            "epoch": 2,
            "reason": "attempts_exhausted",
        }
        assert json.loads(body) == expected
        assert bench.receive() == []

    @pytest.mark.parametrize("body", ["not JSON", '{"tenant_id": 7}', "\x00\x0b\ud800\uffff", "x" * 1_000_000])
    def test_unreadable_body_is_kept_with_its_reason(self, bench: QueueBench, body: str) -> None:
        """Whatever was received, the queue takes it in the dead letters' form."""
        reason = parse_message(body)
        assert isinstance(reason, Unreadable)

        asyncio.run(bench.queue.bury_unreadable(body, reason.reason))

        [kept] = map(json.loads, bench.dead_letters())
        assert kept["reason"] == reason.reason
        assert body.encode("utf-8", "replace").decode().startswith(kept["unreadable"])

    def test_message_received_too_often_is_a_dead_letter(self, bench: QueueBench) -> None:
        """The queue's own move, for messages whose handler never ran: the body is as it was."""
        bench.put("as it was")
        for _receive in range(MAX_RECEIVE_COUNT):
            hide(bench, bench.await_message().receipt, AT_ONCE)

        assert bench.receive() == []
        assert bench.dead_letters() == ["as it was"]
