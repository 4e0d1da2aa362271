"""What the refusal of a repeat says of the send before it, and what the row knows after it."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import pytest

from onceward.domain.error_class import ErrorClass
from onceward.domain.history import cost_of_job
from onceward.domain.job import EarlierSend, OpenCall
from onceward.domain.money import Cost
from onceward.domain.records import Answer
from onceward.domain.recovery import DidFail, from_stored_answers
from onceward.domain.repeating import after_refusal, is_silent, stands_for_both
from onceward.domain.states import CallState, JobState
from tests.support.builders import NOW, a_job, an_answer, an_open_call, seconds

EARLIER = EarlierSend(epoch=1, attempt=2, sent_at=NOW - seconds(60), max_cost=700, is_booked=True, promised="0123abcd")
SPENT = Cost(low=20, high=900)


def a_repeat(**fields: Any) -> OpenCall:
    """The second send under a key, in the next epoch."""
    given = {"epoch": 2, "attempt": 1, "first_sent_at": EARLIER.sent_at, "repeats": EARLIER, **fields}
    return an_open_call(**given)


def a_refusal(**fields: Any) -> Answer:
    """Of that send."""
    given = {"epoch": 2, "attempt": 1, "state": CallState.FAILED, "body": None, "cost": Cost.nothing()}
    return an_answer(**{**given, "error_class": "transient", **fields})


@pytest.mark.parametrize("error_class", ErrorClass)
@pytest.mark.parametrize("target", [None, "create_task"])
def test_only_a_models_final_word_speaks_of_both_sends(error_class: ErrorClass, target: str | None) -> None:
    """Of a first send every refusal does."""
    refusal, later = a_refusal(error_class=error_class), (ErrorClass.TRANSIENT, ErrorClass.RATE_LIMITED)
    first = an_open_call(epoch=2, target=target)

    assert is_silent(a_repeat(target=target), refusal) == (target is not None or error_class in later)
    assert not is_silent(first, refusal)


def test_repeat_of_older_code_is_known_by_its_instants() -> None:
    """It does not say what it repeats; a refusal ends it no more than any other."""
    call = a_repeat(repeats=None, target="create_task")

    assert from_stored_answers(call, [a_refusal()]) is None
    assert from_stored_answers(an_open_call(epoch=2, target="create_task"), [a_refusal()]) == DidFail(a_refusal())


def test_refusal_for_now_gives_the_earlier_send_back_as_it_was() -> None:
    """Its epoch and attempt, its key and instants, its promises and its bound, which is spent no more."""
    after = after_refusal(a_job(epoch=2, spent=SPENT), a_repeat(), a_refusal())
    (again,) = after.open

    assert (again.epoch, again.attempt, again.key, again.state) == (1, 2, a_repeat().key, CallState.UNKNOWN)
    assert (again.sent_at, again.first_sent_at, again.is_repeat) == (EARLIER.sent_at, EARLIER.sent_at, False)
    assert (again.max_cost, again.promised, after.spent) == (700, "0123abcd", Cost(low=20, high=200))


@pytest.mark.parametrize(
    ("error_class", "model", "is_booked", "high"),
    [
        ("transient", None, False, 900),  # it was in no book, and is on the open call again
        ("permanent", None, True, 900),  # the second purchase never came; the first stays booked
        ("permanent", None, False, 1_600),  # nobody else has booked the first
        ("invalid_output", "fake-1", True, 900),
        ("invalid_output", "fake-1", False, 900),  # the one purchase that both are, which the answer itself has booked
    ],
)
def test_bound_of_the_earlier_send_is_booked_once(
    error_class: str, model: str | None, is_booked: bool, high: int
) -> None:
    """On the open call or in what was spent, never in both or neither."""
    earlier = EarlierSend(epoch=1, attempt=2, sent_at=EARLIER.sent_at, max_cost=700, is_booked=is_booked)
    refusal = a_refusal(error_class=error_class, model=model)

    assert after_refusal(a_job(spent=SPENT), a_repeat(repeats=earlier), refusal).spent == Cost(low=20, high=high)


def test_refusal_of_a_first_send_leaves_nothing() -> None:
    """There is nothing to give back."""
    job = a_job(spent=SPENT)

    assert after_refusal(job, an_open_call(), a_refusal()) is job


def test_work_that_was_taken_and_failed_is_no_refusal() -> None:
    """A repeat whose provider gave a reference is polled: what comes of it ends it."""
    job, taken = a_job(spent=SPENT), a_repeat(state=CallState.SUBMITTED)

    assert from_stored_answers(taken, [a_refusal()]) == DidFail(a_refusal())
    assert after_refusal(job, taken, a_refusal()) is job


@pytest.mark.parametrize(
    ("earlier", "model", "high"),
    [
        (None, None, 1_000),  # older code's, or one whose own repeat was refused: it stands for all before it
        (replace(EARLIER, is_booked=False), None, 1_000),
        (EARLIER, None, 0),
        (replace(EARLIER, is_booked=False), "fake-1", 0),
    ],
)
def test_bound_that_stands_for_both_sends_outlives_a_refusal_of_one(
    earlier: EarlierSend | None, model: str | None, high: int
) -> None:
    """In the books of a job that goes on, and in what is told of one that has ended."""
    call = a_repeat(repeats=earlier, state=CallState.UNKNOWN, max_cost=1_000)
    final = a_refusal(error_class="permanent", model=model)
    ended = a_job(state=JobState.FAILED, spent=Cost.maybe(1_000))

    told = cost_of_job(ended, [call], [final])
    assert (told.high, stands_for_both(call, final)) == (high, high > 0)
    assert cost_of_job(ended, [call], [replace(final, state=CallState.SUCCEEDED)]) == Cost.nothing()


def test_late_final_refusal_of_a_repeat_that_names_no_other_books_its_bound() -> None:
    """Its own repeat was refused, and it is a maybe again: what was sent before it is in no other book."""
    assert after_refusal(a_job(), a_repeat(repeats=None, max_cost=1_000), a_refusal(error_class="permanent")).spent == (
        Cost.maybe(1_000)
    )
