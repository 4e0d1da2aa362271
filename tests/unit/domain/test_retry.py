"""The retry decision as a table; its properties are in ``test_retry_properties.py``."""

from __future__ import annotations

from datetime import timedelta
from typing import Any

import pytest

from onceward.domain.error_class import MAY_BE_RETRIED
from onceward.domain.money import Cost
from onceward.domain.policy import Backoff, KindPolicy, OnUnknown, RetryPolicy
from onceward.domain.retry import (
    Decision,
    ErrorClass,
    Failure,
    GiveUp,
    LookUpAt,
    RetryAt,
    Review,
    Situation,
    decide_retry,
)
from onceward.domain.timing import MAX_JOB_DEADLINE
from tests.support.builders import NOW, a_policy, seconds

POLICY = a_policy()


def a_failure(error_class: ErrorClass, retry_after: float | None = None) -> Failure:
    """A failure of that class."""
    after = None if retry_after is None else seconds(retry_after)
    return Failure(error_class=error_class, code="some_code", retry_after=after)


def a_situation(error_class: ErrorClass = ErrorClass.TRANSIENT, **fields: Any) -> Situation:
    """The first attempt has failed, nothing was spent, the job has a day."""
    facts: dict[str, Any] = {
        "failure": a_failure(error_class),
        "attempts": 1,
        "spent": Cost.nothing(),
        "now": NOW,
        "deadline_at": NOW + timedelta(days=1),
        "jitter": 0.5,
    }
    return Situation(**{**facts, **fields})


def outcome(decision: Decision) -> tuple[type, object]:
    """A decision without its reasons."""
    match decision:
        case RetryAt(at=at) | LookUpAt(at=at):
            return type(decision), at
        case GiveUp(code=code):
            return GiveUp, code
        case Review():
            return Review, None


MAYBE = ErrorClass.OUTCOME_UNKNOWN
AT_MAX: dict[str, Any] = {"attempts": 3}
ON_RETRY = a_policy(retry=RetryPolicy(on_unknown=OnUnknown.RETRY))
QUOTA = a_policy(retry=RetryPolicy(retry_on=frozenset({ErrorClass.QUOTA_EXHAUSTED})))
CONSTANT = a_policy(retry=RetryPolicy(backoff=Backoff.CONSTANT))
CAPPED = a_policy(max_provider_cost=1_500)
TIGHT: dict[str, Any] = {"deadline_at": NOW + seconds(0.1)}

CASES: list[tuple[str, KindPolicy, Situation, tuple[type, object]]] = [
    ("transient", POLICY, a_situation(), (RetryAt, NOW + seconds(0.25))),
    ("rate limited", POLICY, a_situation(ErrorClass.RATE_LIMITED), (RetryAt, NOW + seconds(0.25))),
    ("permanent", POLICY, a_situation(ErrorClass.PERMANENT), (GiveUp, "some_code")),
    ("invalid output", POLICY, a_situation(ErrorClass.INVALID_OUTPUT), (GiveUp, "some_code")),
    ("policy rejected", POLICY, a_situation(ErrorClass.POLICY_REJECTED), (GiveUp, "some_code")),
    ("quota exhausted", POLICY, a_situation(ErrorClass.QUOTA_EXHAUSTED), (GiveUp, "some_code")),
    ("quota, where it is named", QUOTA, a_situation(ErrorClass.QUOTA_EXHAUSTED), (RetryAt, NOW + seconds(0.25))),
    ("transient, where it is not", QUOTA, a_situation(), (GiveUp, "some_code")),
    ("constant back-off", CONSTANT, a_situation(attempts=2), (RetryAt, NOW + seconds(0.25))),
    ("doubling back-off", POLICY, a_situation(attempts=2), (RetryAt, NOW + seconds(0.5))),
    ("maybe, a person allowed it", POLICY, a_situation(MAYBE, is_repeat_allowed=True), (RetryAt, NOW + seconds(0.25))),
    ("at max", POLICY, a_situation(**AT_MAX), (GiveUp, "attempts_exhausted")),
    ("no time", POLICY, a_situation(**TIGHT), (GiveUp, "deadline_exceeded")),
    ("spend cap", CAPPED, a_situation(spent=Cost.maybe(501)), (GiveUp, "spend_cap_reached")),
    ("below the spend cap", CAPPED, a_situation(spent=Cost.maybe(500)), (RetryAt, NOW + seconds(0.25))),
    ("maybe", POLICY, a_situation(MAYBE), (Review, None)),
    ("maybe, policy retry", ON_RETRY, a_situation(MAYBE), (RetryAt, NOW + seconds(0.25))),
    ("maybe, deduped", POLICY, a_situation(MAYBE, is_resend_deduped=True), (RetryAt, NOW + seconds(0.25))),
    ("maybe, deduped, at max", POLICY, a_situation(MAYBE, is_resend_deduped=True, **AT_MAX), (Review, None)),
    ("maybe, deduped, no time", POLICY, a_situation(MAYBE, is_resend_deduped=True, **TIGHT), (Review, None)),
    (
        "maybe, deduped, spend cap",
        CAPPED,
        a_situation(MAYBE, is_resend_deduped=True, spent=Cost.exact(501)),
        (Review, None),
    ),
    (
        "maybe, lookup",
        POLICY,
        a_situation(MAYBE, can_look_up_at=NOW + seconds(45), **AT_MAX),
        (LookUpAt, NOW + seconds(45)),
    ),
]


@pytest.mark.parametrize(("policy", "at", "expected"), [case[1:] for case in CASES], ids=[case[0] for case in CASES])
def test_class_and_facts_decide(policy: KindPolicy, at: Situation, expected: tuple[type, object]) -> None:
    """One row per rule of the design."""
    assert expected == outcome(decide_retry(policy, at))


def test_every_decision_gives_its_reasons() -> None:
    """The reasons are stored with the attempt, for whoever asks later."""
    assert all(decide_retry(policy, at).reasons for _, policy, at, _ in CASES)


def test_the_reasons_name_every_figure_that_was_looked_at() -> None:
    """Attempts left, spend and its cap, the deadline, the wait and how much of it the provider asked for."""
    at = a_situation(failure=a_failure(ErrorClass.RATE_LIMITED, 120), spent=Cost.maybe(500))

    assert decide_retry(CAPPED, at).reasons == (
        "rate_limited is retried; attempt 1 of 3; spent 0-500 of 1500 micro-USD; 86400 s to the deadline; "
        "waits 126.000 s, 120 s of it asked for"
    )


@pytest.mark.parametrize("error_class", sorted(set(ErrorClass) - MAY_BE_RETRIED))
def test_a_policy_cannot_name_what_is_final(error_class: ErrorClass) -> None:
    """A contradiction stops a deploy, never a job."""
    with pytest.raises(ValueError, match="retry_on"):
        RetryPolicy(retry_on=frozenset({error_class}))


@pytest.mark.parametrize(
    ("asked", "kept"),
    [
        (timedelta(seconds=-5), timedelta(0)),
        (timedelta(hours=3), timedelta(hours=3)),
        (timedelta.max, MAX_JOB_DEADLINE),
    ],
)
def test_wish_when_to_come_back_is_kept_within_a_job_s_longest_life(asked: timedelta, kept: timedelta) -> None:
    """Any target, and any kind's code, may ask for anything: no instant overflows, nobody comes back in the past."""
    failure = Failure(error_class=ErrorClass.RATE_LIMITED, code="busy", retry_after=asked)
    decision = decide_retry(a_policy(), a_situation(failure=failure))

    assert failure.retry_after == kept
    if kept == MAX_JOB_DEADLINE:
        assert isinstance(decision, GiveUp)
        assert decision.code == "deadline_exceeded"
    else:
        assert isinstance(decision, RetryAt)
        assert decision.at > NOW + kept
