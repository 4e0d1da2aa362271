"""GET /api/ai/reviews, GET …/{id} and POST …/{id}/resolve: for the scope ``ops``, within the caller's tenant."""

from __future__ import annotations

import json
from dataclasses import replace
from datetime import timedelta
from typing import Any, cast

import pytest

from onceward.domain.job import FLIGHT_SCHEMA, PresentAttempt
from onceward.domain.ledger import Account
from onceward.domain.names import JobId
from onceward.domain.states import AttemptOutcome, CallState, JobState
from onceward.usecases.ports import Store
from tests.support.api_world import ApiWorld, Reply, an_event, ask, claims_of
from tests.support.builders import JOB_ID, NOW, STEP, TENANT, a_job, an_open_call, seconds
from tests.support.hooked_store import HookedStore

OPS = "onceward/ops"
PATH = f"/api/ai/reviews/{JOB_ID}"
LIMIT = NOW + timedelta(days=30)


def a_world(**fields: Any) -> ApiWorld:
    """A job in review since two seconds ago, which holds its tariff."""
    world = ApiWorld()
    attempt = PresentAttempt(started_at=NOW - seconds(9), ended_at=NOW - seconds(2), outcome=AttemptOutcome.UNKNOWN)
    given: dict[str, Any] = {
        "state": JobState.NEEDS_REVIEW,
        "attempts": 1,
        "attempt": attempt,
        "review_until": LIMIT,
        "wake_at": NOW + seconds(60),
        "due": NOW + seconds(60),
        "open": (an_open_call(state=CallState.UNKNOWN),),
        "reserved_micro_usd": 5_000,
    }
    world.keep(a_job(**{**given, **fields}))
    world.store.accounts[TENANT] = Account(tenant_id=TENANT, granted=5_000, available=0, reserved=5_000, captured=0)
    return world


def resolve(world: ApiWorld, *, tenant: str = "acme", scope: str = OPS, **body: Any) -> Reply:
    """Give a verdict."""
    text = json.dumps({"verdict": "fail", "epoch": 1, "why": "asked them", **body})
    return ask(world.api(), an_event("POST", f"{PATH}/resolve", body=text, claims=claims_of(tenant, scope)))


def get(world: ApiWorld, path: str, *, tenant: str = "acme", scope: str = OPS, query: str = "") -> Reply:
    """Read a list or a review."""
    return ask(world.api(), an_event("GET", path, claims=claims_of(tenant, scope), query=query))


def test_a_review_tells_what_is_unknown_and_what_it_may_have_cost() -> None:
    """All that a person needs to ask the provider: step, key, when it was sent, and the bound."""
    told = get(a_world(), PATH).json
    (call,) = told["open_calls"]

    assert (told["status"], told["epoch"], told["is_open"], told["records"]) == ("needs_review", 1, True, [])
    assert (told["since"], told["until"]) == ("2026-03-01T11:59:58Z", "2026-03-31T12:00:00Z")
    assert (call["step"], call["state"], call["downstream_key"]) == (STEP, "unknown", f"{JOB_ID}-1-generate_1")
    assert (call["provider_cost"]["low_micro_usd"], call["provider_cost"]["high_micro_usd"]) == (0, 1_000)
    assert (told["provider_cost"]["high_micro_usd"], told["reserved_micro_usd"]) == (1_000, 5_000)


def test_the_list_is_the_tenants_reviews_and_no_other_jobs() -> None:
    """By state, page by page."""
    world = a_world()
    world.keep(a_job(job_id="Z" * 26 + "-ABCDEFGH"))

    assert [one["job_id"] for one in get(world, "/api/ai/reviews").json["reviews"]] == [JOB_ID]
    page = get(world, "/api/ai/reviews", query="limit=1").json
    assert page["next_cursor"] is not None
    assert get(world, "/api/ai/reviews", query=f"limit=1&cursor={page['next_cursor']}").status == 200


@pytest.mark.parametrize(
    ("body", "status", "after"),
    [
        ({"verdict": "accept", "result": {"text": "FOUND"}}, "succeeded", (0, 5_000)),
        ({"verdict": "fail"}, "failed", (0, 0)),
        ({"verdict": "retry", "may_pay_twice": True}, "queued", (5_000, 0)),
    ],
)
def test_a_verdict_is_written_answered_and_answered_again(
    body: dict[str, Any], status: str, after: tuple[int, int]
) -> None:
    """With its record: who is the token's subject, whatever the body would say."""
    world = a_world()
    first, again = resolve(world, **body), resolve(world, **body)
    account = world.store.accounts[TENANT]

    assert (first.status, again.status) == (200, 200)
    assert (first.json["review"]["status"], first.json["is_replay"], again.json["is_replay"]) == (status, False, True)
    assert first.json["record"] == again.json["record"] == get(world, PATH).json["records"][0]
    assert (first.json["record"]["by"], first.json["record"]["why"]) == ("client-acme", "asked them")
    assert (account.reserved, account.captured) == after


@pytest.mark.parametrize(
    ("body", "status", "code"),
    [
        ({"epoch": 2}, 409, "not_in_review"),
        ({"verdict": "retry"}, 422, "payment_unconfirmed"),
        ({"verdict": "accept", "result": {"wrong": 1}}, 422, "invalid_input"),
        ({"verdict": "accept"}, 422, "invalid_input"),
        ({"verdict": "maybe"}, 422, "invalid_input"),
        ({"why": ""}, 422, "invalid_input"),
        ({"epoch": "1"}, 422, "invalid_input"),
        ({"by": "somebody else"}, 422, "invalid_input"),
    ],
)
def test_a_verdict_that_cannot_be_taken_changes_nothing(body: dict[str, Any], status: int, code: str) -> None:
    """A problem with its code; nothing is written."""
    world = a_world()
    rows = dict(world.store.rows)
    refused = resolve(world, **body)

    assert (refused.status, refused.json["code"]) == (status, code)
    assert world.store.rows == rows
    assert not world.store.entries


@pytest.mark.parametrize(
    ("fields", "code"),
    [
        ({"state": JobState.RUNNING}, "review_looking"),
        ({"state": JobState.SUCCEEDED, "review_until": None}, "not_in_review"),
    ],
)
def test_what_decides_first_is_told_by_its_code(fields: dict[str, Any], code: str) -> None:
    """A look that runs, or the truth itself."""
    refused = resolve(a_world(**fields))

    assert (refused.status, refused.json["code"]) == (409, code)


def test_reviews_need_the_scope_of_operators() -> None:
    """Reading and writing jobs opens none of it."""
    world = a_world()
    scope = "onceward/jobs:read onceward/jobs:write"
    refused = [resolve(world, scope=scope), get(world, PATH, scope=scope), get(world, "/api/ai/reviews", scope=scope)]

    assert [one.status for one in refused] == [403] * 3
    assert world.kept(JOB_ID).state is JobState.NEEDS_REVIEW


def test_another_tenants_operator_finds_nothing() -> None:
    """Invariant 9: a foreign job answers exactly as an absent one, for ``ops`` too."""
    world = a_world()
    foreign = [get(world, PATH, tenant="globex"), resolve(world, tenant="globex")]
    absent = get(world, f"/api/ai/reviews/{'A' * 26}-{'B' * 8}", tenant="globex")

    assert [(one.status, one.json["code"], one.json["detail"]) for one in foreign] == [
        (404, "job_not_found", absent.json["detail"])
    ] * 2
    assert get(world, "/api/ai/reviews", tenant="globex").json["reviews"] == []
    assert world.kept(JOB_ID).state is JobState.NEEDS_REVIEW


def test_what_is_logged_of_a_verdict_is_ids_and_the_word() -> None:
    """Invariant 12: neither the reason nor the result."""
    world = a_world()
    resolve(world, verdict="accept", result={"text": "CANARY-result"}, why="CANARY-why")

    assert "CANARY" not in json.dumps(world.lines)
    (line,) = [line for line in world.lines if line["message"] == "request"]
    assert (line["verdict"], line["job_id"], line["tenant_id"]) == ("accept", JOB_ID, "acme")


def test_participant_names_the_flight_that_decides_and_the_flight_can_be_decided() -> None:
    """Operators of the tenant never see a dead letter: the review itself says which one to resolve."""
    flight = f"{'F' * 26}-ABCDEFGH"
    world = a_world(flight=flight, open=())
    mine = world.kept(JOB_ID)
    world.keep(
        replace(
            mine,
            job_id=JobId(flight),
            flight=None,
            participants=1,
            schema_version=FLIGHT_SCHEMA,
            open=(an_open_call(state=CallState.UNKNOWN),),
            reserved_micro_usd=None,
        )
    )
    (listed,) = get(world, "/api/ai/reviews").json["reviews"]
    assert (listed["job_id"], listed["flight"], listed["is_open"]) == (JOB_ID, flight, False)
    refused = resolve(world)
    assert (refused.status, refused.json["code"]) == (409, "not_in_review")

    told = get(world, f"/api/ai/reviews/{flight}").json
    assert (told["participants"], told["is_open"], len(told["open_calls"])) == (1, True, 1)
    body = json.dumps({"verdict": "fail", "epoch": 1, "why": "asked them"})
    path = f"/api/ai/reviews/{flight}/resolve"
    done = ask(world.api(), an_event("POST", path, body=body, claims=claims_of("acme", OPS)))
    assert (done.status, done.json["review"]["status"]) == (200, "failed")


def test_a_review_that_cannot_be_read_is_left_out_and_logged() -> None:
    """The operator learns from the log that there is one more to look at."""
    world = a_world()

    async def damaged(_real: Any, *_asked: Any) -> None:
        raise ValueError("CANARY")

    world.wrap_store = lambda store: cast("Store", HookedStore(store, get_job=damaged))
    reply = get(world, "/api/ai/reviews")

    assert (reply.status, reply.json["reviews"]) == (200, [])
    assert world.lines[-1]["unreadable_rows"] == "1"
    assert "CANARY" not in reply.text + json.dumps(world.lines)
