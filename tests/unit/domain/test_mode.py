"""What a run may do after recovery."""

from __future__ import annotations

import pytest

from onceward.domain.claim import Claim
from onceward.domain.job import Job
from onceward.domain.mode import Mode, decide_mode, may_wait_on
from onceward.domain.states import CallState, WaitingFor
from tests.support.builders import NOW, a_policy, a_running_job, an_open_call, seconds

POLICY = a_policy()

TORN = a_running_job(waiting_for=WaitingFor.PROVIDER, open=(an_open_call(state=CallState.UNKNOWN),))

CASES: list[tuple[str, Claim, Job, bool, Mode]] = [
    ("started", Claim.START, a_running_job(), False, Mode.PRESENT),
    ("started at max", Claim.START, a_running_job(attempts=3), False, Mode.PRESENT),
    ("provider answered", Claim.RESUME, a_running_job(waiting_for=WaitingFor.PROVIDER), False, Mode.PRESENT),
    ("provider answered, beside a maybe", Claim.RESUME, TORN, False, Mode.NEXT),
    ("flight ended", Claim.RESUME, a_running_job(waiting_for=WaitingFor.FLIGHT), False, Mode.PRESENT),
    ("looked up", Claim.RESUME, a_running_job(waiting_for=WaitingFor.LOOKUP), False, Mode.NEXT),
    ("approved", Claim.RESUME, a_running_job(waiting_for=WaitingFor.APPROVAL, attempts=0), False, Mode.NEXT),
    ("taken over", Claim.TAKEOVER, a_running_job(lost=1), False, Mode.NEXT),
    ("taken over at max", Claim.TAKEOVER, a_running_job(lost=1, attempts=3), False, Mode.CLOSING),
    ("taken over at a limit that was lowered", Claim.TAKEOVER, a_running_job(lost=1, attempts=4), False, Mode.CLOSING),
    ("lost three times", Claim.TAKEOVER, a_running_job(lost=3), False, Mode.BARE),
    ("forbidden maybe", Claim.TAKEOVER, a_running_job(lost=1), True, Mode.CLOSING),
    ("forbidden maybe of an earlier attempt", Claim.START, a_running_job(), True, Mode.CLOSING),
    ("deadline past", Claim.START, a_running_job(deadline_at=NOW), False, Mode.CLOSING),
    ("cancelled", Claim.START, a_running_job(cancel_requested_at=NOW), False, Mode.CLOSING),
    ("in review", Claim.LOOK, a_running_job(review_until=NOW + seconds(9)), False, Mode.BARE),
    ("taken over from a look", Claim.TAKEOVER, a_running_job(review_until=NOW, lost=1), False, Mode.BARE),
    ("claimed to close", Claim.CLOSE, a_running_job(attempts=3), False, Mode.CLOSING),
    ("claimed to close, limit raised meanwhile", Claim.CLOSE, a_running_job(attempts=2), False, Mode.NEXT),
]


@pytest.mark.parametrize(
    ("claim", "job", "is_forbidden", "expected"), [case[1:] for case in CASES], ids=[case[0] for case in CASES]
)
def test_row_and_claim_decide_the_mode(claim: Claim, job: Job, is_forbidden: bool, expected: Mode) -> None:
    """A resume continues its attempt, a takeover starts the next, and what may not send only closes."""
    assert expected == decide_mode(job, claim, POLICY, NOW, is_forbidden=is_forbidden)


def test_look_with_news_runs_the_code_over_what_is_recorded() -> None:
    """Without news none of the kind's code runs: it came no further before, and may have killed its process."""
    job = a_running_job(review_until=NOW + seconds(9))

    assert decide_mode(job, Claim.LOOK, POLICY, NOW, is_forbidden=False, is_news=True) == Mode.CLOSING


WAITS: list[tuple[str, Claim, Job, bool, bool]] = [
    ("polled in vain", Claim.RESUME, a_running_job(), False, True),
    ("taken over", Claim.TAKEOVER, a_running_job(lost=1, attempts=3), False, True),
    ("started for a retry", Claim.START, a_running_job(), False, False),
    ("answered meanwhile", Claim.RESUME, a_running_job(), True, False),
    ("cancelled", Claim.RESUME, a_running_job(cancel_requested_at=NOW), False, False),
    ("deadline past", Claim.RESUME, a_running_job(deadline_at=NOW), False, False),
    ("in review", Claim.LOOK, a_running_job(review_until=NOW + seconds(9)), False, False),
]


@pytest.mark.parametrize(
    ("claim", "job", "is_news", "expected"), [case[1:] for case in WAITS], ids=[case[0] for case in WAITS]
)
def test_provider_still_at_work_is_waited_for(claim: Claim, job: Job, is_news: bool, expected: bool) -> None:
    """A poll in vain costs no attempt and runs none of the kind's code; what is over closes."""
    assert expected is may_wait_on(job, claim, NOW, is_forbidden=False, is_news=is_news)
