"""Who reads, in a simulation: clients and persons ask the API about a job, and what they are told is compared.

What a client has got a 202 for is there whenever it looks, and once a job has ended its answer says how. A sentence
that does not hold is an ``AssertionError``, which is the run's violation.
"""

from __future__ import annotations

import hashlib
from datetime import datetime
from typing import Any

from onceward.domain.job import Job
from onceward.handlers import routes
from onceward.handlers.routes import ApiRoute
from onceward.usecases.ports import UploadForm
from tests.simulation.asking import ask_until_heard
from tests.simulation.checks.promised import CANARY
from tests.simulation.doors import OPERATOR, RUN_ID, TENANT, Heard
from tests.simulation.http_door import CLIENT, PERSON, STRANGER, pass_on, request
from tests.simulation.scenario import CLIENT_RETRY
from tests.simulation.world import Accepted, World
from tests.support.api_world import an_event

MOST_TRIES = 40  # of a reader who means it: longer than any outage here
AT_REST = frozenset({"succeeded", "failed", "cancelled", "needs_review"})
DOCUMENT = ("an uploaded page " * 300).encode()  # with its input beyond what a transaction holds
ABSENT = "A" * 26 + "-" + "A" * 8  # a job's id that is nobody's
REFUSALS: tuple[tuple[int, str, dict[str, Any]], ...] = (
    (400, "malformed_json", {"body": '{"kind": "sim.one", "kind": "sim.two"}'}),
    (400, "idempotency_key_missing", {"headers": {}}),
    (400, "idempotency_key_malformed", {"headers": {"idempotency-key": "a,b"}}),
    (401, "unauthorized", {"by": None}),
    (415, "unsupported_media_type", {"headers": {"idempotency-key": "key", "content-type": "text/plain"}}),
    (422, "invalid_input", {"body": {"kind": "sim.one", "input": {"text": 1}}}),
    (422, "invalid_input", {"body": {"kind": "sim.one"}}),
    (422, "unknown_kind", {"body": {"kind": "sim.none", "input": {}}}),
)


async def told(world: World, route: ApiRoute, name: str = "", *, by: str = CLIENT, **more: Any) -> Heard:
    """The final answer of a route."""
    kind = OPERATOR if by == PERSON else "api"
    heard = await ask_until_heard(world, request(world, route, name, by=by, **more), kind, MOST_TRIES)
    assert heard is not None, f"{route.name} was never answered"
    return heard


async def first_job(world: World) -> Job:
    """The first job that is stored, whether or not its client has heard of it yet."""
    while not world.store.rows:
        await _a_moment(world)
    return next(iter(world.store.rows.values()))


def row_of(world: World, job_id: str) -> Job:
    """The row of a job as it is now."""
    return next(row for row in world.store.rows.values() if row.job_id == job_id)


async def until_at_rest(world: World, job_id: str) -> Job:
    """Wait until nothing more happens to a job by itself."""
    while (row := row_of(world, job_id)).state not in AT_REST:
        await _a_moment(world)
    return row


async def _a_moment(world: World) -> None:
    """Until some process has ended, or a client would look again."""
    world.ended.clear()
    await world.ended.wait(CLIENT_RETRY)


async def read_all(world: World) -> None:
    """Look at a job while it runs, and at all that there is about it once it has ended."""
    job = await first_job(world)
    young = await told(world, routes.READ_JOB, job.job_id, query="wait=1")
    assert (young.status, young.job_id) == (200, job.job_id), young
    end = await until_at_rest(world, job.job_id)
    old = await told(world, routes.READ_JOB, job.job_id, headers={"prefer": "wait=1"})
    assert (old.status, old.body["status"]) == (200, end.state), old
    assert (old.body["result"] is not None) == (end.state == "succeeded"), old
    listed = await told(world, routes.LIST_JOBS, query="status=succeeded&limit=1")
    assert listed.status == 200, listed  # the index may be behind: what is listed is true, and need not be all
    assert all(one["status"] == "succeeded" for one in listed.body["jobs"]), listed
    history = await told(world, routes.READ_HISTORY, job.job_id)
    assert len(history.body["attempts"]) >= end.attempts, history
    account = (await told(world, routes.READ_ACCOUNT)).body
    parts = account["available_micro_usd"] + account["reserved_micro_usd"] + account["captured_micro_usd"]
    assert account["granted_micro_usd"] == parts, account


async def erase(world: World) -> None:
    """Erase a job once it has ended, in vain before; then nobody reads its content any more."""
    job = await first_job(world)
    if job.state not in AT_REST:
        early = await told(world, routes.ERASE_JOB, job.job_id)
        is_over = row_of(world, job.job_id).state in AT_REST
        assert (early.code == "job_not_finished") or is_over, early
    end = await until_at_rest(world, job.job_id)
    if end.state == "needs_review":
        return
    await _erase(world, job.job_id)


async def _erase(world: World, job_id: str) -> None:
    done = await told(world, routes.ERASE_JOB, job_id)
    assert done.status == 204, done
    after = await told(world, routes.READ_JOB, job_id)
    assert (after.status, after.body["result"]) == (200, None), after
    assert after.body["erased_at"] is not None, after


async def read_review(world: World) -> None:
    """A person reads the list of reviews, and the review that is to be decided."""
    job = await first_job(world)
    await until_at_rest(world, job.job_id)
    listed = await told(world, routes.LIST_REVIEWS, by=PERSON)
    assert {one["job_id"] for one in listed.body["reviews"]} <= {job.job_id}, listed
    review = await told(world, routes.READ_REVIEW, job.job_id, by=PERSON)
    assert (review.status, review.job_id) == (200, job.job_id), review


async def read_operation(world: World) -> None:
    """An agent lists its run, and reads its operation, as often as it was asked for."""
    job = await first_job(world)
    end = await until_at_rest(world, job.job_id)
    key = world.scenario.requests[0].partition("/")[0]
    heard = sum(1 for one in world.accepted if one.job_id == job.job_id)
    listed = (await told(world, routes.LIST_ACTIONS, query=f"run_id={RUN_ID}")).body["operations"]
    assert listed or not heard, "an operation that was answered is not in its run's list"
    assert all(one["operation_id"] == key for one in listed), listed
    operation = await told(world, routes.READ_ACTION, key)
    assert (operation.status, operation.body["status"]) == (200, end.state), operation
    assert operation.body["transport_attempts_seen"] >= heard, operation
    again = await told(world, routes.PERFORM_ACTION, body=_same(world, key), headers={"prefer": "wait=1"})
    assert again.job_id == job.job_id, again


def _same(world: World, key: str) -> dict[str, Any]:
    """The same intention, in words of its own."""
    action = world.scenario.kind.partition(".")[2]
    return {"action": action, "arguments": {"text": CANARY}, "operation_id": key, "run_id": RUN_ID, "attempt": 2}


async def intrude(world: World) -> None:
    """Another tenant asks for the job, and is told what it would be told of one that is not there."""
    job = await first_job(world)
    for route in (routes.READ_JOB, routes.CANCEL_JOB, routes.ERASE_JOB, routes.READ_HISTORY):
        foreign = await told(world, route, job.job_id, by=STRANGER)
        absent = await told(world, route, ABSENT, by=STRANGER)
        assert (foreign.status, foreign.code) == (absent.status, absent.code) == (404, "job_not_found"), foreign
    listed = await told(world, routes.LIST_JOBS, by=STRANGER)
    assert listed.body["jobs"] == [], listed
    review = await told(world, routes.RESOLVE_REVIEW, job.job_id, by=STRANGER, body={})
    assert review.code == "forbidden", review
    assert list(world.store.rows.values()) == [row_of(world, job.job_id)], "a request that was refused has left a job"


async def be_refused(world: World) -> None:
    """Requests that are not let in leave nothing behind; what is open to all answers without a token."""
    for status, code, wrong in REFUSALS:
        given = {"body": {"kind": "sim.one", "input": {"text": CANARY}}, "headers": {"idempotency-key": "key"}, **wrong}
        heard = await told(world, routes.CREATE_JOB, **given)
        assert (heard.status, heard.code) == (status, code), heard
    for method, path, status in (
        ("GET", routes.HEALTH, 200),
        ("HEAD", routes.HEALTH, 200),
        ("GET", routes.OPENAPI, 200),
        ("OPTIONS", routes.JOBS, 204),
        ("PUT", routes.JOBS, 405),
        ("GET", "/api/ai/none", 404),
    ):
        heard_of = await ask_until_heard(world, pass_on(world, an_event(method, path)))
        assert heard_of is not None, path
        assert heard_of.status == status, heard_of
    assert not world.store.rows, "a request that was refused has left a job"


async def bring_document(world: World) -> None:
    """Upload a document, ask for a job about it, and have all of it erased when it has ended."""
    digest = hashlib.sha256(DOCUMENT).hexdigest()
    wanted = {"content_type": "text/plain", "size": len(DOCUMENT), "sha256": digest}
    given = (await told(world, routes.UPLOAD, body=wanted)).body
    form = UploadForm(given["url"], given["fields"], datetime.fromisoformat(given["expires_at"]))
    assert world.blob.upload(form, DOCUMENT), given
    request_of = {"kind": world.scenario.kind, "input": {"text": CANARY, "document": given["document_id"]}}
    made = await told(world, routes.CREATE_JOB, body=request_of, headers={"idempotency-key": '"key 1"'})
    assert made.job_id is not None, made
    world.accepted.append(Accepted("key 1", made.job_id, world.loop.time()))
    if (await until_at_rest(world, made.job_id)).state != "needs_review":
        await _erase(world, made.job_id)
        assert await world.blob.head(f"documents/{TENANT}/{given['document_id']}") is None
