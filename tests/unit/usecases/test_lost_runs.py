"""What a lost run costs, by where it died and what the target can do."""

from __future__ import annotations

from datetime import timedelta
from typing import Any

import pytest

from onceward.domain.claim import Claim
from onceward.domain.policy import Capability
from onceward.domain.states import AttemptOutcome, JobState
from onceward.errors import CallFailure
from tests.support.builders import an_answer, an_open_call, seconds
from tests.support.worker_world import WorkerWorld

pytestmark = pytest.mark.anyio

DEDUPES = Capability(dedup_window=timedelta(hours=24))
LOOKUP = Capability(lookup_lag=seconds(1))
UNKNOWN = CallFailure("", code="connection_lost", error_class="outcome_unknown", was_sent=True)
ANSWER_BODY = '{"text":"{\\"text\\":\\"yes\\"}","finish":"stop","model":"fake-1","usage":null,"request_id":null}'


LOST: list[tuple[str, Capability, dict[str, Any], bool, JobState, list[AttemptOutcome | None], int]] = [
    (
        "before sent",
        Capability(),
        {},
        False,
        JobState.SUCCEEDED,
        [AttemptOutcome.INTERRUPTED],
        1,
    ),
    (
        "after sent, nothing can be done",
        Capability(),
        {"open": (an_open_call(),)},
        False,
        JobState.NEEDS_REVIEW,
        [],
        0,
    ),
    (
        "after sent, target dedupes",
        DEDUPES,
        {"open": (an_open_call(),)},
        False,
        JobState.SUCCEEDED,
        [AttemptOutcome.UNKNOWN],
        1,
    ),
    (
        "after sent, target knows nothing of it",
        LOOKUP,
        {"open": (an_open_call(),)},
        False,
        JobState.SUCCEEDED,
        [AttemptOutcome.INTERRUPTED],
        1,
    ),
    (
        "after the answer's item",
        Capability(),
        {"open": (an_open_call(),)},
        True,
        JobState.SUCCEEDED,
        [AttemptOutcome.INTERRUPTED],
        0,
    ),
]


@pytest.mark.failure_mode("F19")
@pytest.mark.parametrize(
    ("capability", "fields", "is_answered", "state", "past", "calls"),
    [case[1:] for case in LOST],
    ids=[case[0] for case in LOST],
)
async def test_lost_run_is_taken_over(
    capability: Capability,
    fields: dict[str, Any],
    is_answered: bool,
    state: JobState,
    past: list[AttemptOutcome | None],
    calls: int,
) -> None:
    """What the crash table of the design says, by where the run died and what the target can do."""
    world = WorkerWorld()
    world.provider.capability = capability
    await world.create(reserved_micro_usd=5_000)
    await world.lose_a_run(**fields)
    if is_answered:
        await world.store.put_cold(an_answer(body=ANSWER_BODY), world.row.expires_at)
    report = await world.deliver()

    assert report.found is Claim.TAKEOVER
    assert (world.row.state, world.past_outcomes, len(world.provider.keys)) == (state, past, calls)
    assert world.row.attempts == (1 if state is JobState.NEEDS_REVIEW else 2)
    assert world.account.captured == (5_000 if state is JobState.SUCCEEDED else 0)


async def test_code_that_kills_its_process_is_settled_without_it() -> None:
    """Three losses: none of the kind's code runs again; an answer that nobody may read is for a person."""
    world = WorkerWorld()
    await world.create()
    await world.lose_a_run(lost=2)
    await world.deliver()

    assert (world.row.state, world.row.error_code) == (JobState.FAILED, "attempts_exhausted")
    assert world.provider.keys == []


async def test_paid_answer_of_code_that_kills_its_process_goes_to_review() -> None:
    """What was paid for is not thrown away as exhausted."""
    world = WorkerWorld()
    await world.create()
    await world.lose_a_run(lost=2, open=(an_open_call(),))
    await world.store.put_cold(an_answer(body=ANSWER_BODY), world.row.expires_at)
    await world.deliver()

    assert (world.row.state, world.provider.keys) == (JobState.NEEDS_REVIEW, [])


@pytest.mark.failure_mode("F24")
@pytest.mark.parametrize(
    ("fields", "state"),
    [({}, JobState.FAILED), ({"open": (an_open_call(attempt=3),)}, JobState.NEEDS_REVIEW)],
    ids=["nothing sent", "sent"],
)
async def test_last_attempt_lost(fields: dict[str, Any], state: JobState) -> None:
    """Exhausted with nothing sent is a failure; with an open maybe it is a review, never a failure."""
    world = WorkerWorld()
    await world.create(attempts=2)
    await world.lose_a_run(**fields)
    await world.deliver()

    assert (world.row.state, world.row.attempts, world.provider.keys) == (state, 3, [])
    assert len(world.queue.dead_letters) == 1


async def test_last_attempt_s_answer_still_counts() -> None:
    """A closing run runs the kind's code over recorded answers: succeeded at the maximum, nothing sent."""
    world = WorkerWorld()
    await world.create(attempts=2, reserved_micro_usd=5_000)
    await world.lose_a_run(open=(an_open_call(attempt=3),))
    await world.store.put_cold(an_answer(body=ANSWER_BODY, attempt=3), world.row.expires_at)
    await world.deliver()

    assert (world.row.state, world.row.attempts, world.provider.keys) == (JobState.SUCCEEDED, 3, [])
    assert world.account.captured == 5_000
