"""What holds of every retry decision, whatever the policy and the situation."""

from __future__ import annotations

from datetime import timedelta

from hypothesis import given
from hypothesis import strategies as st

from onceward.domain.error_class import MAY_BE_RETRIED, ErrorClass
from onceward.domain.money import Cost
from onceward.domain.policy import Backoff, KindPolicy, OnUnknown, RetryPolicy
from onceward.domain.retry import (
    Failure,
    GiveUp,
    LookUpAt,
    RetryAt,
    Review,
    Situation,
    backoff,
    decide_retry,
)
from tests.support.builders import NOW, a_policy, seconds

MAYBE = ErrorClass.OUTCOME_UNKNOWN
draws = st.floats(0, 1, exclude_max=True)
floors = st.none() | st.integers(0, 10_000).map(seconds)


@st.composite
def policies(draw: st.DrawFn) -> KindPolicy:
    """Any policy that can be written down."""
    first = draw(st.floats(0.001, 60))
    retry = RetryPolicy(
        max_attempts=draw(st.integers(1, 20)),
        backoff=draw(st.sampled_from(Backoff)),
        initial_delay=seconds(first),
        max_delay=seconds(first + draw(st.floats(0, 600))),
        retry_on=draw(st.frozensets(st.sampled_from(sorted(MAY_BE_RETRIED)))),
        on_unknown=draw(st.sampled_from(OnUnknown)),
    )
    cap = draw(st.none() | st.integers(1_000, 20_000))
    return a_policy(retry=retry, max_provider_cost=cap, max_call_cost=draw(st.integers(0, 1_000)))


@st.composite
def situations(draw: st.DrawFn) -> Situation:
    """Any failed attempt."""
    low = draw(st.integers(0, 20_000))
    failure = Failure(error_class=draw(st.sampled_from(ErrorClass)), code="some_code", retry_after=draw(floors))
    return Situation(
        failure=failure,
        attempts=draw(st.integers(1, 25)),
        spent=Cost(low=low, high=low + draw(st.integers(0, 20_000))),
        now=NOW,
        deadline_at=NOW + timedelta(seconds=draw(st.floats(-10, 20_000))),
        jitter=draw(draws),
        can_look_up_at=draw(st.none() | st.just(NOW + seconds(45))),
        is_resend_deduped=draw(st.booleans()),
        is_repeat_allowed=draw(st.booleans()),
    )


@given(policies(), situations())
def test_no_retry_is_beyond_the_attempts(policy: KindPolicy, at: Situation) -> None:
    """The attempt that would follow is one of those that the policy allows."""
    if isinstance(decide_retry(policy, at), RetryAt):
        assert at.attempts + 1 <= policy.retry.max_attempts


@given(policies(), situations())
def test_no_retry_is_beyond_the_spend_cap(policy: KindPolicy, at: Situation) -> None:
    """Possible spend included: what may have been paid counts as paid, and the next call as its most."""
    if isinstance(decide_retry(policy, at), RetryAt) and policy.max_provider_cost is not None:
        assert at.spent.high + policy.max_call_cost <= policy.max_provider_cost


@given(policies(), situations())
def test_no_retry_is_beyond_the_deadline(policy: KindPolicy, at: Situation) -> None:
    """A call that starts then can still end in time."""
    decision = decide_retry(policy, at)
    if isinstance(decision, RetryAt):
        assert at.now <= decision.at <= at.deadline_at - policy.call_timeout


@given(policies(), situations())
def test_a_permanent_error_never_retries(policy: KindPolicy, at: Situation) -> None:
    """Nor does anything else that the policy does not name; a maybe only where it may be repeated."""
    decision = decide_retry(policy, at)
    error_class = at.failure.error_class
    if error_class is ErrorClass.PERMANENT:
        assert isinstance(decision, GiveUp)
        assert not decision.is_exhausted
    if isinstance(decision, RetryAt) and error_class is not MAYBE:
        assert error_class in policy.retry.retry_on
    if isinstance(decision, RetryAt) and error_class is MAYBE:
        assert at.is_resend_deduped or at.is_repeat_allowed or policy.retry.on_unknown is OnUnknown.RETRY


@given(policies(), situations())
def test_a_maybe_never_fails_in_silence(policy: KindPolicy, at: Situation) -> None:
    """It is repeated, looked up, or a person's; and only a maybe is."""
    decision = decide_retry(policy, at)

    assert isinstance(decision, GiveUp) <= (at.failure.error_class is not MAYBE)
    assert isinstance(decision, LookUpAt | Review) <= (at.failure.error_class is MAYBE)


@given(policies(), situations())
def test_one_situation_has_one_decision(policy: KindPolicy, at: Situation) -> None:
    """Pure: no clock, no chance of its own; and it always gives its reasons, short enough for the hot row."""
    first = decide_retry(policy, at)

    assert first == decide_retry(policy, at)
    assert 0 < len(first.reasons) <= 200


@given(policies(), situations())
def test_retry_after_is_a_floor_with_positive_jitter(policy: KindPolicy, at: Situation) -> None:
    """Never earlier than asked, and never exactly then."""
    decision, floor = decide_retry(policy, at), at.failure.retry_after
    if isinstance(decision, RetryAt) and floor is not None:
        assert decision.at > at.now + floor


@given(policies(), st.integers(1, 200), draws, floors)
def test_backoff_stays_below_its_ceiling(
    policy: KindPolicy, attempts: int, jitter: float, floor: timedelta | None
) -> None:
    """Full jitter from nothing to the ceiling; on a floor from just above it to as much more."""
    wait = backoff(policy, attempts, jitter, floor)
    bare = floor or timedelta(0)

    assert bare <= wait <= bare + max(policy.retry.max_delay, timedelta(milliseconds=1))


@given(policies(), st.integers(1, 20), floors, st.lists(draws, min_size=50, max_size=50, unique=True))
def test_jobs_that_fail_together_do_not_wake_together(
    policy: KindPolicy, attempts: int, floor: timedelta | None, jitters: list[float]
) -> None:
    """Each draws for itself, and two draws that lie apart wake apart by that share of the whole spread."""
    waits = sorted(backoff(policy, attempts, jitter, floor) for jitter in jitters)
    spread = backoff(policy, attempts, 0.999999, floor) - (floor or timedelta(0))
    apart = max(jitters) - min(jitters)

    assert waits[-1] - waits[0] >= spread * apart - timedelta(milliseconds=2)
