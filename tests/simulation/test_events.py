"""The model of SQS and of Lambda's event source keeps AWS's rules."""

from __future__ import annotations

from typing import Any

import pytest

from onceward.adapters.memory.queue import Delivery
from tests.simulation.events import come_back, event_of

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
