"""Every job ends: by its deadline, by a review's limit, and when a deploy takes attempts away from it."""

from __future__ import annotations

from datetime import timedelta
from typing import Any

import pytest

from onceward.domain.job import AnswerRef, PresentAttempt
from onceward.domain.policy import RetryPolicy
from onceward.domain.states import JobState, WaitingFor
from tests.support.builders import NOW, STEP, TOKEN, a_policy, an_answer, an_open_call, seconds
from tests.support.worker_world import WorkerWorld

pytestmark = pytest.mark.anyio

ANSWER_BODY = '{"text":"{\\"text\\":\\"yes\\"}","finish":"stop","model":"fake-1","usage":null,"request_id":null}'
TRIED = {"attempts": 1, "attempt": PresentAttempt(started_at=NOW - seconds(90))}
RETRYING = {"state": JobState.WAITING, "waiting_for": WaitingFor.RETRY, "wake_at": NOW, **TRIED}
LOOKING_UP = {**RETRYING, "waiting_for": WaitingFor.LOOKUP}
LOST = {"state": JobState.RUNNING, "run_token": TOKEN, "lease_until": NOW - seconds(60), **TRIED}
ANSWERED = {"accepted": {STEP: AnswerRef(epoch=1, attempt=1)}}
MAYBE = {"open": (an_open_call(),)}


async def a_world(fields: dict[str, Any], *, max_attempts: int = 3) -> WorkerWorld:
    """A job in some state, whose reservation is held; an accepted step has its answer."""
    world = WorkerWorld(policy=a_policy(retry=RetryPolicy(max_attempts=max_attempts)))
    await world.create(**{"reserved_micro_usd": 5_000, **fields})
    if "accepted" in fields:
        await world.store.put_cold(an_answer(body=ANSWER_BODY), world.row.expires_at)
    return world


DEADLINES: list[tuple[str, dict[str, Any], JobState, str | None]] = [
    ("queued", {}, JobState.FAILED, "deadline_exceeded"),
    ("retry", RETRYING, JobState.FAILED, "deadline_exceeded"),
    ("lookup", LOOKING_UP, JobState.FAILED, "deadline_exceeded"),
    ("provider", {**RETRYING, "waiting_for": WaitingFor.PROVIDER}, JobState.FAILED, "deadline_exceeded"),
    ("lost", LOST, JobState.FAILED, "deadline_exceeded"),
    ("retry, with an accepted answer", {**RETRYING, **ANSWERED}, JobState.SUCCEEDED, None),
    ("lost, with an accepted answer", {**LOST, **ANSWERED}, JobState.SUCCEEDED, None),
    ("lost, with a maybe", {**LOST, **MAYBE}, JobState.NEEDS_REVIEW, None),
    ("lookup, with a maybe", {**LOOKING_UP, **MAYBE}, JobState.NEEDS_REVIEW, None),
]


@pytest.mark.parametrize(("fields", "state", "code"), [one[1:] for one in DEADLINES], ids=[one[0] for one in DEADLINES])
async def test_deadline_ends_a_job_wherever_it_is(fields: dict[str, Any], state: JobState, code: str | None) -> None:
    """Nothing is sent after it; what was paid for counts, and a maybe is never closed as a failure."""
    world = await a_world({**fields, "deadline_at": NOW})
    await world.deliver()

    assert (world.row.state, world.row.error_code, world.provider.keys) == (state, code, [])
    held = world.account.reserved
    assert held == (5_000 if state is JobState.NEEDS_REVIEW else 0)


async def test_attempt_is_cut_by_the_job_s_deadline_before_it_sends() -> None:
    """No call starts that its hard timeout could carry past the deadline (invariant 16)."""
    world = await a_world({"deadline_at": NOW + seconds(20)})
    await world.deliver()

    assert world.provider.keys == []
    world.clock.move(seconds(60))
    await world.deliver()
    assert (world.row.state, world.row.error_code) == (JobState.FAILED, "deadline_exceeded")


LOWERED: list[tuple[str, dict[str, Any], JobState, str | None]] = [
    ("retry", {**RETRYING, "attempts": 2}, JobState.FAILED, "attempts_exhausted"),
    ("retry, with an accepted answer", {**RETRYING, "attempts": 2, **ANSWERED}, JobState.SUCCEEDED, None),
    ("lookup", {**LOOKING_UP, "attempts": 2}, JobState.FAILED, "attempts_exhausted"),
    ("lost", {**LOST, "attempts": 2}, JobState.FAILED, "attempts_exhausted"),
    ("lost, with a maybe", {**LOST, "attempts": 2, **MAYBE}, JobState.NEEDS_REVIEW, None),
]


@pytest.mark.parametrize(("fields", "state", "code"), [one[1:] for one in LOWERED], ids=[one[0] for one in LOWERED])
async def test_lowered_maximum_ends_waiting_jobs_by_a_closing_run(
    fields: dict[str, Any], state: JobState, code: str | None
) -> None:
    """A deploy that allows one attempt finds jobs in their second: each ends, none is sent again, none stays."""
    world = await a_world(fields, max_attempts=1)
    await world.deliver()

    assert (world.row.state, world.row.error_code, world.row.attempts) == (state, code, 2)
    assert world.provider.keys == []
    assert len(world.queue.dead_letters) == (0 if state is JobState.SUCCEEDED else 1)


async def test_raised_maximum_lets_a_waiting_job_go_on() -> None:
    """The limit is today's, not that of the job's birth."""
    world = await a_world({**RETRYING, "attempts": 3}, max_attempts=4)
    await world.deliver()

    assert (world.row.state, world.row.attempts) == (JobState.SUCCEEDED, 4)


@pytest.mark.parametrize(
    ("fields", "state", "code"),
    [({}, JobState.FAILED, "review_expired"), ({"cancel_requested_at": NOW}, JobState.CANCELLED, "cancelled")],
)
async def test_review_past_its_limit_ends_and_releases(fields: dict[str, Any], state: JobState, code: str) -> None:
    """Nobody decided in time: ended, freed, and what it may have cost stays in the books."""
    review = {"state": JobState.NEEDS_REVIEW, "wake_at": NOW, "review_until": NOW, **TRIED, **MAYBE}
    world = await a_world({**review, **fields})
    await world.deliver()

    assert (world.row.state, world.row.error_code, world.row.open) == (state, code, ())
    assert (world.account.available, world.row.spent.high) == (5_000, 1_000)
    assert (world.row.due, world.row.review_until) == (None, None)


async def test_review_s_limit_is_cut_before_the_row_may_vanish() -> None:
    """A job that goes to review late in its life has less time there."""
    world = await a_world({**LOST, **MAYBE, "expires_at": NOW + timedelta(days=10)})
    await world.deliver()

    assert world.row.review_until == NOW + timedelta(days=3)
