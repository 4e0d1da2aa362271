"""GET /api/ai/jobs/{id} and its waiting; POST …/cancel; POST /api/ai/documents."""

from __future__ import annotations

import json
from datetime import timedelta
from typing import Any

import pytest

from onceward.domain.job import PresentAttempt, ResultRef
from onceward.domain.money import Cost
from onceward.domain.records import PastAttempt, Usage
from onceward.domain.states import AttemptOutcome, CallState, JobState, WaitingFor
from onceward.errors.sentences import SENTENCES
from onceward.wire.responses import JobView, UploadAccepted
from tests.support.api_world import ApiWorld, FakeContext, Reply, an_event, ask, claims_of
from tests.support.builders import JOB_ID, NOW, STEP, TENANT, a_job, a_running_job, an_answer, seconds

FAILED = PresentAttempt(
    started_at=NOW,
    ended_at=NOW + seconds(2),
    outcome=AttemptOutcome.FAILED,
    error_class="invalid_output",
    error_code="invalid_output",
    decision="retry",
    cost=Cost.exact(300),
)
GOOD = PresentAttempt(
    started_at=NOW + seconds(3), ended_at=NOW + seconds(5), outcome=AttemptOutcome.SUCCEEDED, cost=Cost.exact(250)
)


def read(world: ApiWorld, *, query: str = "", prefer: str | None = None, remaining_ms: int = 29_000) -> Reply:
    """Read the job."""
    headers = {} if prefer is None else {"prefer": prefer}
    event = an_event("GET", f"/api/ai/jobs/{JOB_ID}", headers=headers, claims=claims_of(), query=query)
    return ask(world.api(), event, FakeContext(remaining_ms=remaining_ms))


def post(world: ApiWorld, path: str, body: str | None = None) -> Reply:
    """Post as the tenant."""
    return ask(world.api(), an_event("POST", path, body=body, claims=claims_of()))


def a_finished_world() -> ApiWorld:
    """A job that succeeded in its third attempt; the answers before broke the kind's model."""
    world = ApiWorld()
    job = a_job(
        state=JobState.SUCCEEDED,
        attempts=3,
        attempt=GOOD,
        spent=Cost.exact(850),
        charge_micro_usd=5000,
        result=ResultRef(epoch=1, attempt=3, step=STEP),
        finished_at=NOW + seconds(5),
    )
    world.keep(job)
    good = json.dumps({"text": '{"text": "hello"}', "finish": "stop", "model": "m", "usage": None, "request_id": None})
    items: list[Any] = [
        *(PastAttempt(tenant_id=TENANT, job_id=JOB_ID, epoch=1, number=number, attempt=FAILED) for number in (1, 2)),
        an_answer(attempt=1, usage=Usage(input=500, output=200), cost=Cost.exact(300), state=CallState.FAILED),
        an_answer(attempt=2, usage=Usage(input=500, output=210), cost=Cost.exact(300), state=CallState.FAILED),
        an_answer(attempt=3, usage=Usage(input=400, output=100, cached=50), body=good),
    ]
    world.store.items[TENANT, JOB_ID] = {item.sort_key: item for item in items}
    return world


def test_a_finished_job_tells_result_attempts_tokens_costs_and_charge() -> None:
    """LE-01, LE-04: a failed attempt's tokens and cost are told, attempts add up to the total, nothing is invented."""
    reply = read(a_finished_world())

    view = JobView.model_validate_json(reply.text)
    assert (reply.status, view.status, view.result) == (200, "succeeded", {"text": "hello"})
    assert [(one.number, one.outcome, one.error_code) for one in view.attempts] == [
        (1, "failed", "invalid_output"),
        (2, "failed", "invalid_output"),
        (3, "succeeded", None),
    ]
    tokens = [(one.usage.input_tokens, one.usage.output_tokens) for one in view.attempts if one.usage is not None]
    assert tokens == [(500, 200), (500, 210), (400, 100)]
    exact = [one.provider_cost.exact_micro_usd or 0 for one in view.attempts]
    assert sum(exact) == view.provider_cost.exact_micro_usd == 850
    assert (view.charge_micro_usd, view.error, view.cancel) == (5000, None, None)
    assert "retry-after" not in reply.headers
    assert reply.headers["cache-control"] == "no-store"


@pytest.mark.parametrize(
    ("spent", "told"),
    [
        (Cost.maybe(1000), {"exact_micro_usd": None, "low_micro_usd": 0, "high_micro_usd": 1000, "unpriced": False}),
        (
            Cost(low=7, high=7, unpriced=True),
            {"exact_micro_usd": None, "low_micro_usd": 7, "high_micro_usd": 7, "unpriced": True},
        ),
    ],
)
def test_an_unknown_cost_is_told_by_its_bounds_and_never_as_nothing(spent: Cost, told: dict[str, Any]) -> None:
    """LE-05: a call that timed out, and one without a price, have no exact cost."""
    world = ApiWorld()
    attempt = PresentAttempt(started_at=NOW, outcome=AttemptOutcome.UNKNOWN, cost=spent)
    world.keep(a_job(state=JobState.NEEDS_REVIEW, attempts=1, attempt=attempt, spent=spent, review_until=NOW))

    view = read(world).json

    assert view["provider_cost"] == view["attempts"][0]["provider_cost"] == told
    assert view["charge_micro_usd"] is None


def test_a_failed_job_tells_its_error_and_costs_the_user_nothing() -> None:
    """The charge follows the result alone."""
    world = ApiWorld()
    world.keep(a_job(state=JobState.FAILED, attempts=1, attempt=FAILED, error_code="attempts_exhausted"))

    view = read(world).json

    assert (view["error"], view["charge_micro_usd"], view["result"]) == (
        {"code": "attempts_exhausted", "message": SENTENCES["attempts_exhausted"]},
        0,
        None,
    )


@pytest.mark.parametrize(
    ("fields", "after"),
    [
        ({}, "1"),
        ({"state": JobState.RUNNING}, "2"),
        ({"state": JobState.WAITING, "waiting_for": WaitingFor.RETRY, "wake_at": NOW + seconds(90.2)}, "91"),
        ({"state": JobState.WAITING, "waiting_for": WaitingFor.RETRY, "wake_at": NOW - seconds(9)}, "1"),
        ({"state": JobState.WAITING, "waiting_for": WaitingFor.RETRY, "wake_at": NOW + timedelta(days=1)}, "3600"),
        ({"state": JobState.NEEDS_REVIEW}, "60"),
        ({"state": JobState.CANCELLED}, None),
    ],
)
def test_retry_after_is_honest(fields: dict[str, Any], after: str | None) -> None:
    """It says when asking again may tell more: at once, at the wake-up, or never."""
    world = ApiWorld()
    world.keep(a_job(**fields))

    assert read(world).headers.get("retry-after") == after


@pytest.mark.parametrize(
    ("asked", "waited", "applied"),
    [
        ({}, 0, None),
        ({"query": "wait=3"}, 3, None),
        ({"query": "wait=0.5"}, 0.5, None),
        ({"prefer": "wait=10"}, 10, "wait=10"),
        ({"prefer": 'respond-async, wait="10"'}, 10, "wait=10"),
        ({"prefer": "Wait=100"}, 25, "wait=25"),
        ({"prefer": "wait=ten"}, 0, None),
        ({"prefer": "await=10"}, 0, None),
        ({"prefer": "wait=9", "query": "wait=2"}, 2, None),
        ({"prefer": "wait=25", "remaining_ms": 8_000}, 5, "wait=5"),
        ({"query": "wait=25", "remaining_ms": 1_000}, 0, None),
    ],
)
def test_a_read_waits_as_asked_and_as_long_as_it_can(asked: dict[str, Any], waited: float, applied: str | None) -> None:
    """The query or RFC 7240's preference, cut to the gateway's patience and the invocation's time."""
    world = ApiWorld()
    world.keep(a_running_job())

    reply = read(world, **asked)

    assert reply.status == 200
    assert world.clock.seconds == pytest.approx(waited)
    assert reply.headers.get("preference-applied") == applied


@pytest.mark.parametrize("query", ["wait=26", "wait=-1", "wait=soon", "wait=nan"])
def test_a_wait_that_is_no_time_is_refused(query: str) -> None:
    """422 that names the parameter."""
    world = ApiWorld()
    world.keep(a_running_job())

    reply = read(world, query=query)

    assert (reply.status, reply.json["code"]) == (422, "invalid_input")
    assert reply.json["errors"][0]["pointer"] == "query.wait"


def test_cancel_tells_an_end_from_a_wish() -> None:
    """200 when the job is over, 202 with where to ask while it is not; both facts are told by a read."""
    world = ApiWorld()
    world.keep(a_running_job())
    wish = post(world, f"/api/ai/jobs/{JOB_ID}/cancel")
    assert (wish.status, wish.json["status"], wish.headers["location"]) == (202, "running", f"/api/ai/jobs/{JOB_ID}")
    assert read(world).json["cancel"] == {
        "requested_at": "2026-03-01T12:00:00Z",
        "cancelled_at": None,
        "provider": "none",
    }

    world.keep(a_job())
    end = post(world, f"/api/ai/jobs/{JOB_ID}/cancel", body='{"user": "u"}')
    assert (end.status, end.json["status"]) == (200, "cancelled")
    assert "location" not in end.headers


def test_the_same_key_at_another_route_is_another_request() -> None:
    """ID-37: method and path belong to the identity; a cancel needs no key and takes none."""
    world = ApiWorld()
    event = an_event("POST", "/api/ai/jobs/none/cancel", headers={"idempotency-key": "k37"}, claims=claims_of())

    assert ask(world.api(), event).status == 404
    assert not world.store.rows


def test_an_upload_form_is_handed_out() -> None:
    """201 with the form; the document exists once something was uploaded with it."""
    world = ApiWorld()
    body = {"content_type": "application/pdf", "size": 4, "sha256": "a" * 64, "filename": "contract.pdf"}
    reply = post(world, "/api/ai/documents", json.dumps(body))

    form = UploadAccepted.model_validate_json(reply.text)
    assert reply.status == 201
    assert form.fields["key"] == f"documents/{TENANT}/{form.document_id}"


def test_a_text_may_name_its_charset() -> None:
    """It is part of what the form lets in, and of what the job's extraction is told."""
    wanted = "text/plain; charset=Windows-1251"
    body = {"content_type": wanted, "size": 4, "sha256": "a" * 64}
    reply = post(ApiWorld(), "/api/ai/documents", json.dumps(body))

    assert reply.status == 201
    assert UploadAccepted.model_validate_json(reply.text).fields["Content-Type"] == wanted


@pytest.mark.parametrize(
    ("change", "pointer"),
    [
        ({"size": 0}, "/size"),
        ({"size": 10 * 1024 * 1024 + 1}, "/size"),
        ({"size": "4"}, "/size"),
        ({"sha256": "A" * 64}, "/sha256"),
        ({"sha256": "a" * 63}, "/sha256"),
        ({"content_type": "pdf"}, "/content_type"),
        ({"content_type": "application/pdf\r\nx: y"}, "/content_type"),
        ({"content_type": "text/plain; charset="}, "/content_type"),
        ({"content_type": "text/plain; charset=utf-8\n"}, "/content_type"),
        ({"content_type": "text/plain; charset=utf-8; x=y"}, "/content_type"),
        ({"content_type": "text/plain; version=1"}, "/content_type"),
        ({"key": "documents/globex/x"}, "/?"),
    ],
)
def test_an_upload_is_described_exactly_or_refused(change: dict[str, Any], pointer: str) -> None:
    """Type, size and checksum go into the form's policy, so none of them may be a guess."""
    body = {"content_type": "application/pdf", "size": 4, "sha256": "a" * 64, **change}
    reply = post(ApiWorld(), "/api/ai/documents", json.dumps(body))

    assert (reply.status, reply.json["code"]) == (422, "invalid_input")
    assert [error["pointer"] for error in reply.json["errors"]] == [pointer]


def test_erasing_tells_nothing_and_leaves_the_books() -> None:
    """204, again and again; the job is still told, with its costs and without its content."""
    world = a_finished_world()
    event = an_event("DELETE", f"/api/ai/jobs/{JOB_ID}", claims=claims_of())
    replies = [ask(world.api(), event) for _ in range(2)]

    assert [(reply.status, reply.text) for reply in replies] == [(204, "")] * 2
    view = read(world).json
    assert (view["status"], view["result"], view["erased_at"]) == ("succeeded", None, "2026-03-01T12:00:00Z")
    assert view["provider_cost"]["exact_micro_usd"] == 850
    assert "hello" not in repr(world.store.items)


def test_a_job_that_may_still_run_is_not_erased() -> None:
    """409 that says what to do first, and of which job it speaks."""
    world = ApiWorld()
    world.keep(a_running_job())
    reply = ask(world.api(), an_event("DELETE", f"/api/ai/jobs/{JOB_ID}", claims=claims_of()))

    assert (reply.status, reply.json["code"], reply.json["job_id"]) == (409, "job_not_finished", JOB_ID)
