"""GET /api/ai/jobs/{id}/attempts: the whole history, for who may read the tenant's jobs."""

from __future__ import annotations

import asyncio

from onceward.domain.job import PresentAttempt
from onceward.domain.money import Cost
from onceward.domain.records import PastAttempt, Usage
from onceward.domain.states import AttemptOutcome, CallState, JobState
from tests.support.api_world import ApiWorld, an_event, ask, claims_of
from tests.support.builders import JOB_ID, NOW, TENANT, a_job, an_answer, an_open_call, seconds

PATH = f"/api/ai/jobs/{JOB_ID}/attempts"
READ = "onceward/jobs:read"


def a_world() -> ApiWorld:
    """Failed by a person after one unknown call, whose answer came a day later."""
    world = ApiWorld()
    attempt = PresentAttempt(
        started_at=NOW,
        ended_at=NOW + seconds(5),
        outcome=AttemptOutcome.UNKNOWN,
        error_class="outcome_unknown",
        error_code="read_timeout",
        decision="outcome unknown",
        cost=Cost.maybe(1_000),
        run="0123abcd",
    )
    world.keep(
        a_job(state=JobState.FAILED, error_code="review_failed", attempts=1, attempt=attempt, spent=Cost.maybe(1_000))
    )
    call = an_open_call(state=CallState.UNKNOWN)
    kept = PastAttempt(tenant_id=TENANT, job_id=JOB_ID, epoch=1, number=1, attempt=attempt, open=(call,))
    late = an_answer(usage=Usage(input=5, cached=2, cache_write=1, output=3, reasoning=1), model="m", request_id="r-1")
    for item in (kept, late):
        asyncio.run(world.store.put_cold(item, NOW))
    return world


def test_an_attempt_is_told_with_its_calls_and_what_came_late() -> None:
    """Every word that the issue of a paid system can turn on."""
    told = ask(a_world().api(), an_event("GET", PATH, claims=claims_of(scope=READ))).json
    (attempt,) = told["attempts"]
    (call,) = attempt["calls"]

    assert (told["status"], told["provider_cost"]["exact_micro_usd"]) == ("failed", 250)
    assert {name: attempt[name] for name in ("epoch", "number", "run", "stage", "outcome", "error_class")} == {
        "epoch": 1,
        "number": 1,
        "run": "0123abcd",
        "stage": "answered",
        "outcome": "unknown",
        "error_class": "outcome_unknown",
    }
    assert (attempt["error_code"], attempt["decision"]) == ("read_timeout", "outcome unknown")
    assert (attempt["started_at"], attempt["ended_at"]) == ("2026-03-01T12:00:00Z", "2026-03-01T12:00:05Z")
    assert attempt["provider_cost"]["exact_micro_usd"] == 250
    assert (call["provider"], call["model"], call["provider_request_id"]) == ("stand-in", "m", "r-1")
    assert call["usage"] == {
        "input_tokens": 5,
        "cached_tokens": 2,
        "cache_write_tokens": 1,
        "output_tokens": 3,
        "reasoning_tokens": 1,
    }


def test_the_job_itself_tells_the_late_cost_too() -> None:
    """Both answers about a job agree."""
    told = ask(a_world().api(), an_event("GET", f"/api/ai/jobs/{JOB_ID}", claims=claims_of(scope=READ))).json

    assert (told["provider_cost"]["exact_micro_usd"], told["attempts"][0]["provider_cost"]["exact_micro_usd"]) == (
        250,
        250,
    )


def test_no_token_is_told() -> None:
    """The run's name is a hash: with it nobody can write."""
    world = a_world()

    assert "T" * 26 not in ask(world.api(), an_event("GET", PATH, claims=claims_of(scope=READ))).text


def test_another_tenants_history_is_absent() -> None:
    """Invariant 9."""
    assert ask(a_world().api(), an_event("GET", PATH, claims=claims_of("globex", READ))).status == 404


def test_the_history_needs_the_scope_of_readers() -> None:
    """As the job itself."""
    assert ask(a_world().api(), an_event("GET", PATH, claims=claims_of(scope="onceward/ops"))).status == 403
