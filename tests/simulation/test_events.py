"""The model of SQS and of Lambda's event source keeps AWS's rules."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import pytest

from onceward.adapters.memory.queue import Delivery
from tests.simulation.catalogue import story_of
from tests.simulation.events import NO_ROOM, come_back, event_of
from tests.simulation.faults import Fault, Plan
from tests.simulation.story import play

BATCH = tuple(
    Delivery(message_id=name, receipt=f"{name}/1", body="{}", receive_count=1, group=None, traceparent=None)
    for name in ("one", "two")
)


@pytest.mark.parametrize(
    ("answer", "kept"),
    [
        (None, set()),
        ({}, set()),
        ({"batchItemFailures": None}, set()),
        ({"batchItemFailures": []}, set()),
        ({"batchItemFailures": [{"itemIdentifier": "two"}]}, {"two"}),
        ({"batchItemFailures": [{"itemIdentifier": ""}]}, {"one", "two"}),
        ({"batchItemFailures": [{"itemIdentifier": None}]}, {"one", "two"}),
        ({"batchItemFailures": [{"item": "one"}]}, {"one", "two"}),
        ({"batchItemFailures": [{"itemIdentifier": "three"}]}, {"one", "two"}),
        ("done", {"one", "two"}),
    ],
)
def test_a_partial_failure_is_read_as_lambda_reads_it(answer: Any, kept: set[str]) -> None:
    """Only what is named stays; what names nothing that can be read fails the batch."""
    assert come_back(answer, BATCH) == kept


def test_a_record_has_what_a_function_is_handed() -> None:
    """The count of receives is text, as ever in SQS."""
    (first, _) = event_of(BATCH)["Records"]

    assert (first["messageId"], first["attributes"]["ApproximateReceiveCount"]) == ("one", "1")


@pytest.mark.failure_mode("F48")
def test_a_throttled_invocation_comes_late_under_its_own_receive() -> None:
    """The source holds the batch: the message was received once, and nothing else is received meanwhile."""
    story = replace(story_of("one-call"), requests=("key-1", "key-2"), concurrency=2, batch_size=1)
    first = next(one for one in play(story).trace if one.name == "events.receive")
    run = play(story, Plan().plus(first.index, Fault.INVOKE_THROTTLED))
    begun = [one.at for one in run.trace if one.process.startswith("worker")]

    assert (run.violations, run.ends) == ((), (("succeeded", 1), ("succeeded", 1)))
    assert min(begun) >= first.at + NO_ROOM
    assert sum(one.name == "events.receive" and one.at < first.at + NO_ROOM for one in run.trace) == 1
