"""After a maybe: evidence, lookup, re-send, policy, in this order."""

from __future__ import annotations

from datetime import datetime, timedelta
from typing import Any

import pytest

from onceward.domain.policy import Capability, OnUnknown
from onceward.domain.records import Answer
from onceward.domain.recovery import (
    Adopt,
    DidFail,
    DidNotHappen,
    Finding,
    Forbidden,
    LookAgain,
    LookupReply,
    MayResend,
    conclusive_at,
    from_lookup,
    from_stored_answers,
    without_lookup,
)
from onceward.domain.states import CallState
from onceward.domain.timing import Timing
from tests.support.builders import NOW, an_answer, an_open_call, seconds

TIMING = Timing()
LOOKUP = Capability(lookup_lag=seconds(5))
# sent 4 s ago + send window 10 + hard timeout 30 + the target's lag 5 + twice the skew allowance 4
CONCLUSIVE = NOW - seconds(4) + seconds(10 + 30 + 5 + 4)


@pytest.mark.parametrize(
    ("stored", "expected"),
    [
        ([], None),
        ([an_answer()], Adopt(an_answer())),
        ([an_answer(attempt=3)], Adopt(an_answer(attempt=3))),
        ([an_answer(epoch=2)], Adopt(an_answer(epoch=2))),
        ([an_answer(step="other/1")], None),
        ([an_answer(state=CallState.FAILED)], DidFail(an_answer(state=CallState.FAILED))),
        ([an_answer(state=CallState.FAILED, attempt=2)], None),
        ([an_answer(state=CallState.FAILED), an_answer(attempt=2)], Adopt(an_answer(attempt=2))),
    ],
)
def test_stored_answer_of_any_attempt_ends_the_maybe(stored: list[Answer], expected: Finding | None) -> None:
    """A good answer counts whoever sent for it; a failed one only answers its own send."""
    assert expected == from_stored_answers(an_open_call(), stored)


@pytest.mark.failure_mode("F22")
def test_not_found_is_conclusive_only_when_nothing_can_be_on_its_way() -> None:
    """The instant is the sum that the design names."""
    assert conclusive_at(an_open_call(), LOOKUP, TIMING) == CONCLUSIVE


@pytest.mark.parametrize(
    ("reply", "now", "expected"),
    [
        (LookupReply.NOT_FOUND, CONCLUSIVE, DidNotHappen()),
        (LookupReply.NOT_FOUND, CONCLUSIVE - timedelta(milliseconds=1), LookAgain(CONCLUSIVE)),
        (LookupReply.UNREACHABLE, NOW, LookAgain(CONCLUSIVE)),
        (LookupReply.UNREACHABLE, CONCLUSIVE, LookAgain(CONCLUSIVE + TIMING.infrastructure_backoff)),
    ],
)
def test_lookup_is_repeated_until_conclusive(reply: LookupReply, now: datetime, expected: Finding) -> None:
    """An early "not found" is no answer, and no answer is never one."""
    assert expected == from_lookup(an_open_call(), reply, LOOKUP, TIMING, now)


@pytest.mark.parametrize(
    ("capability", "on_unknown", "expected"),
    [
        (Capability(), OnUnknown.REVIEW, Forbidden()),
        (Capability(), OnUnknown.RETRY, MayResend(is_deduped=False)),
        (Capability(dedup_window=timedelta(hours=24)), OnUnknown.REVIEW, MayResend(is_deduped=True)),
        (Capability(dedup_window=timedelta(hours=24)), OnUnknown.RETRY, MayResend(is_deduped=True)),
        (Capability(dedup_window=seconds(30)), OnUnknown.REVIEW, Forbidden()),
    ],
)
def test_what_cannot_be_found_out_follows_dedup_then_policy(
    capability: Capability, on_unknown: OnUnknown, expected: Finding
) -> None:
    """A re-send that is surely deduped is free; otherwise the kind's policy decides."""
    assert expected == without_lookup(an_open_call(), capability, on_unknown, TIMING, NOW)


@pytest.mark.parametrize(("age", "is_deduped"), [(60 - 34 - 1, True), (60 - 34, False)])
def test_dedup_window_counts_from_the_first_send_and_ends_early(age: int, is_deduped: bool) -> None:
    """The re-send must still arrive inside the window: its hard timeout and both clocks' skew are kept back."""
    call = an_open_call(first_sent_at=NOW - seconds(age), sent_at=NOW)
    found = without_lookup(call, Capability(dedup_window=seconds(60)), OnUnknown.REVIEW, TIMING, NOW)

    assert (MayResend(is_deduped=True) if is_deduped else Forbidden()) == found


def test_conclusive_instant_needs_a_target_that_answers_lookups() -> None:
    """Asking for it elsewhere is a bug, not a wait."""
    wrong: Any = Capability()
    with pytest.raises(ValueError, match="no lookups"):
        conclusive_at(an_open_call(), wrong, TIMING)
