"""Which claim fits which row, what each claim writes, and how a claim is given back."""

from __future__ import annotations

from datetime import timedelta
from typing import Any

import pytest

from onceward.domain.claim import (
    Claim,
    Claimant,
    Unclaimable,
    claim_change,
    claimed_from,
    decide_claim,
    is_own_claim,
)
from onceward.domain.job import FLIGHT_SCHEMA, Job
from onceward.domain.policy import KindPolicy, RetryPolicy
from onceward.domain.states import JobState, ProviderCancel, WaitingFor
from onceward.domain.timing import Timing
from tests.support.builders import JOB_ID, NOW, OTHER_TOKEN, TOKEN, a_job, a_policy, a_running_job, seconds

TIMING = Timing()


def a_claimant(*policies: KindPolicy, **fields: Any) -> Claimant:
    """Somebody who knows the default kind and claims now."""
    known = tuple(policy.limit for policy in policies or (a_policy(),))
    made: dict[str, Any] = {"job_id": JOB_ID, "token": OTHER_TOKEN, "limits": known, "now": NOW, "timing": TIMING}
    return Claimant(**{**made, **fields})


def waiting(reason: WaitingFor, wake_in: float, **fields: Any) -> Job:
    """A waiting job that wakes in so many seconds."""
    return a_job(state=JobState.WAITING, waiting_for=reason, wake_at=NOW + seconds(wake_in), attempts=1, **fields)


CANCELLED = {"cancel_requested_at": NOW - seconds(1)}
IN_REVIEW = {"state": JobState.NEEDS_REVIEW, "review_until": NOW + timedelta(days=30), "attempts": 1}

DECISIONS: list[tuple[str, Job, Claim | Unclaimable]] = [
    ("queued", a_job(), Claim.START),
    ("queued, attempts used up by a lower limit", a_job(attempts=3), Claim.CLOSE),
    ("queued, deadline past", a_job(deadline_at=NOW), Claim.CLOSE),
    ("queued, cancel recorded", a_job(**CANCELLED), Claim.CLOSE),
    ("retry, awake", waiting(WaitingFor.RETRY, 0), Claim.START),
    ("retry, awake, attempts used up", waiting(WaitingFor.RETRY, 0, deadline_at=NOW), Claim.CLOSE),
    ("retry, asleep", waiting(WaitingFor.RETRY, 1), Unclaimable.ASLEEP),
    ("retry, asleep, cancel recorded", waiting(WaitingFor.RETRY, 1, **CANCELLED), Unclaimable.ASLEEP),
    ("lookup, awake", waiting(WaitingFor.LOOKUP, 0), Claim.RESUME),
    ("lookup, asleep", waiting(WaitingFor.LOOKUP, 1), Unclaimable.ASLEEP),
    ("provider, asleep, cancel recorded", waiting(WaitingFor.PROVIDER, 1, **CANCELLED), Claim.RESUME),
    ("running, lease live", a_running_job(lease_until=NOW + seconds(1)), Unclaimable.LEASE_LIVE),
    ("running, lease over by less than the skew", a_running_job(lease_until=NOW - seconds(2)), Unclaimable.LEASE_LIVE),
    ("running, lease over", a_running_job(lease_until=NOW - seconds(3)), Claim.TAKEOVER),
    ("review, asleep", a_job(**IN_REVIEW, wake_at=NOW + seconds(1)), Unclaimable.IN_REVIEW),
    ("review, letter not sent", a_job(**IN_REVIEW), Unclaimable.IN_REVIEW),
    ("review, awake", a_job(**IN_REVIEW, wake_at=NOW), Claim.LOOK),
    ("review, cancel not yet heeded", a_job(**IN_REVIEW, **CANCELLED), Claim.LOOK),
    (
        "review, cancel heeded",
        a_job(**IN_REVIEW, **CANCELLED, provider_cancel=ProviderCancel.UNSUPPORTED),
        Unclaimable.IN_REVIEW,
    ),
    ("succeeded", a_job(state=JobState.SUCCEEDED), Unclaimable.TERMINAL),
    ("failed", a_job(state=JobState.FAILED), Unclaimable.TERMINAL),
    ("cancelled", a_job(state=JobState.CANCELLED), Unclaimable.TERMINAL),
    ("past its retention", a_job(expires_at=NOW), Unclaimable.ABSENT),
    ("another life of the key", a_job(job_id=f"{JOB_ID[:-1]}Z"), Unclaimable.ABSENT),
    ("a kind of newer code", a_job(kind="video.cut"), Unclaimable.UNKNOWN_CODE),
    ("a version of newer code", a_job(kind_version=2), Unclaimable.UNKNOWN_CODE),
    ("a schema of newer code", a_job(schema_version=FLIGHT_SCHEMA + 1), Unclaimable.UNKNOWN_CODE),
]


@pytest.mark.parametrize(("row", "expected"), [case[1:] for case in DECISIONS], ids=[case[0] for case in DECISIONS])
def test_row_decides_the_claim(row: Job, expected: Claim | Unclaimable) -> None:
    """Each state has exactly one claim that fits, or a reason why none does."""
    assert expected == decide_claim(row, a_claimant())


@pytest.mark.parametrize(("row", "claim"), [case[1:] for case in DECISIONS], ids=[case[0] for case in DECISIONS])
def test_decided_claim_is_accepted_and_no_other_start(row: Job, claim: Claim | Unclaimable) -> None:
    """What was decided on a row applies to that row; a start applies only where a start was decided."""
    who = a_claimant()
    start = claim_change(Claim.START, who)

    assert start.holds(row) is (claim is Claim.START)
    if isinstance(claim, Claim):
        change = claim_change(claim, who, row)
        after = change.apply(row)

        assert change.holds(row)
        assert (after.state, after.run_token) == (JobState.RUNNING, OTHER_TOKEN)
        assert after.lease_until == NOW + TIMING.lease
        assert after.seq == row.seq + 1


@pytest.mark.parametrize("claim", [Claim.START, Claim.CLOSE, Claim.RESUME, Claim.LOOK])
def test_only_a_start_counts_an_attempt(claim: Claim) -> None:
    """Polls, wake-ups, looks and closing runs are not attempts."""
    after = claim_change(claim, a_claimant()).apply(a_job(attempts=1))

    assert after.attempts == (2 if claim is Claim.START else 1)


def test_takeover_counts_a_loss_and_no_attempt() -> None:
    """Recovery decides about attempts; a takeover only says that a run was lost."""
    row = a_running_job(lease_until=NOW - seconds(9))
    after = claim_change(Claim.TAKEOVER, a_claimant(), row).apply(row)

    assert (after.lost, after.attempts) == (1, 1)


def test_heartbeat_between_look_and_takeover_wins() -> None:
    """A takeover is conditioned on the very lease that was seen expired."""
    seen = a_running_job(lease_until=NOW - seconds(9))
    beaten = a_running_job(lease_until=NOW + seconds(60))

    assert not claim_change(Claim.TAKEOVER, a_claimant(), seen).holds(beaten)


def test_takeover_without_a_seen_lease_is_refused() -> None:
    """There is no blind takeover."""
    with pytest.raises(ValueError, match="lease"):
        claim_change(Claim.TAKEOVER, a_claimant(), a_job())


def test_limits_are_those_of_the_row_s_own_kind() -> None:
    """Another kind's larger limit does not let this one start."""
    other = a_policy(name="document.analyze", retry=RetryPolicy(max_attempts=9))

    assert decide_claim(a_job(attempts=3), a_claimant(a_policy(), other)) == Claim.CLOSE
    assert decide_claim(a_job(attempts=3, kind="document.analyze"), a_claimant(a_policy(), other)) == Claim.START


def test_own_claim_is_known_by_its_token() -> None:
    """An SDK that retried an applied claim is refused by its own effect."""
    assert is_own_claim(a_running_job(), TOKEN)
    assert not is_own_claim(a_running_job(), OTHER_TOKEN)
    assert not is_own_claim(a_running_job(state=JobState.WAITING), TOKEN)


@pytest.mark.parametrize(
    ("claim", "row", "expected"),
    [
        (Claim.START, a_running_job(), (JobState.QUEUED, None)),
        (Claim.START, a_running_job(waiting_for=WaitingFor.RETRY), (JobState.WAITING, WaitingFor.RETRY)),
        (Claim.RESUME, a_running_job(waiting_for=WaitingFor.PROVIDER), (JobState.WAITING, WaitingFor.PROVIDER)),
        (Claim.TAKEOVER, a_running_job(), (JobState.WAITING, WaitingFor.LOOKUP)),
        (Claim.LOOK, a_running_job(review_until=NOW), (JobState.NEEDS_REVIEW, None)),
    ],
)
def test_claim_is_given_back_to_where_it_came_from(
    claim: Claim, row: Job, expected: tuple[JobState, WaitingFor | None]
) -> None:
    """Infrastructure errors restore the state that was claimed; a takeover waits for a lookup."""
    assert expected == claimed_from(claim, row)
