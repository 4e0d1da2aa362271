"""The guard between the journal and the socket."""

from __future__ import annotations

from typing import Any

import pytest

from onceward.domain.sending import BeforeSend, Guard, decide_send
from onceward.domain.timing import Timing
from tests.support.builders import seconds

TIMING = Timing()  # margin of the lease: 2 s of skew + 6 s; send window 10 s


def at(**fields: Any) -> BeforeSend:
    """Everything in order: a minute of each, a call of 30 s, journaled a second ago."""
    fine = {
        "lease_left": seconds(60),
        "attempt_left": seconds(60),
        "job_left": seconds(60),
        "invocation_left": seconds(60),
        "since_journal": seconds(1),
        "hard_timeout": seconds(30),
    }
    return BeforeSend(**{**fine, **fields})


@pytest.mark.failure_mode("F20", "F21", "F36")
@pytest.mark.parametrize(
    ("moment", "expected"),
    [
        (at(), Guard.SEND),
        (at(lease_left=seconds(8)), Guard.STOP_LEASE),
        (at(lease_left=seconds(8.001)), Guard.SEND),
        (at(lease_left=seconds(-100)), Guard.STOP_LEASE),
        (at(attempt_left=seconds(29.9)), Guard.STOP_TIME),
        (at(job_left=seconds(29.9)), Guard.STOP_TIME),
        (at(invocation_left=seconds(29.9)), Guard.STOP_INVOCATION),
        (at(invocation_left=seconds(30)), Guard.SEND),
        (at(since_journal=seconds(10)), Guard.SEND),
        (at(since_journal=seconds(10.001)), Guard.JOURNAL_AGAIN),
        (at(is_cancelled=True), Guard.STOP_CANCEL),
        (at(is_switched_off=True), Guard.STOP_SWITCHED_OFF),
        (at(is_cancelled=True, lease_left=seconds(0)), Guard.STOP_CANCEL),
        (at(lease_left=seconds(0), since_journal=seconds(99)), Guard.STOP_LEASE),
    ],
)
def test_guard_stops_whatever_could_not_end_well(moment: BeforeSend, expected: Guard) -> None:
    """Sent only with lease, time and window left, and nothing heard against it."""
    assert expected == decide_send(moment, TIMING)
