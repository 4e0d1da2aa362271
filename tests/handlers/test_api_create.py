"""POST /api/ai/jobs, from the gateway's event to its answer. ID-… name the real-world cases."""

from __future__ import annotations

import json
from collections.abc import Sequence
from dataclasses import replace
from datetime import timedelta
from typing import Any

import pytest

from onceward.domain.job import PresentAttempt, ResultRef
from onceward.domain.ledger import Account
from onceward.domain.names import TenantId
from onceward.domain.states import JobState
from onceward.domain.timing import JOB_LIFE
from onceward.domain.transaction import CreateRow, Op, Refused, WriteReply
from onceward.errors import StoreBusy, StoreUnavailable
from onceward.wire.responses import JobAccepted
from tests.support.api_world import ApiWorld, FakeContext, an_event, ask, claims_of, create
from tests.support.builders import NOW, TOKEN

BODY = '{"kind": "text.generate", "input": {"prompt": "hello"}}'


class RecordingStore:
    """Writes down what is asked of the tables, and may go wrong at the write."""

    def __init__(self, world: ApiWorld, goes_wrong: Any = None) -> None:
        self.asked: list[str] = []
        self._world = world
        self._goes_wrong = goes_wrong

    def __getattr__(self, name: str) -> Any:
        self.asked.append(name)
        return getattr(self._world.store, name)

    async def transact(self, ops: Sequence[Op], token: str) -> WriteReply:
        """Apply, or go wrong."""
        self.asked.append("transact")
        if self._goes_wrong is not None:
            reply: WriteReply = await self._goes_wrong(ops, token)
            return reply
        return await self._world.store.transact(ops, token)


def recording(world: ApiWorld, goes_wrong: Any = None) -> list[str]:
    """Record what is asked from now on."""
    store = RecordingStore(world, goes_wrong)
    world.wrap_store = lambda _: store
    return store.asked


def test_a_job_is_accepted_with_where_to_ask_and_how_soon() -> None:
    """202, Location, an honest Retry-After, and a body that the client's model reads."""
    reply = create(ApiWorld().api())

    accepted = JobAccepted.model_validate_json(reply.text)
    assert (reply.status, accepted.status, accepted.kind) == (202, "queued", "text.generate")
    assert reply.headers["location"] == f"/api/ai/jobs/{accepted.job_id}"
    assert reply.headers["retry-after"] == "1"
    assert reply.headers["content-type"] == "application/json"
    assert "idempotent-replayed" not in reply.headers


def test_the_request_log_of_a_create_and_its_kin_is_the_designs() -> None:
    """Create: read, account, write. Replay and mismatch: one read. An own retry: as a create."""
    world = ApiWorld()
    api = world.api()
    asked = recording(world)

    create(api)
    assert asked == ["get_job", "get_account", "transact"]
    create(api)
    assert asked[3:] == ["get_job"]
    create(api, body='{"kind": "text.generate", "input": {"prompt": "other"}}')
    assert asked[4:] == ["get_job"]


def test_an_own_retry_is_a_create_and_sends_its_message() -> None:
    """Powertools runs the wrapped function: the refused row carries our own token."""
    world = ApiWorld()

    async def applied_and_lost(ops: Sequence[Op], token: str) -> WriteReply:
        await world.store.transact(ops, token)
        return Refused(row=next(op.job for op in ops if isinstance(op, CreateRow)), is_row_refused=True)

    recording(world, applied_and_lost)
    reply = create(world.api())

    assert reply.status == 202
    assert "idempotent-replayed" not in reply.headers
    assert len(world.queue.receive()) == 1


@pytest.mark.parametrize(
    "again",
    [
        pytest.param(BODY, id="byte by byte"),
        pytest.param('{"input":{"prompt":"hello"},"kind":"text.generate"}', id="ID-01 another order"),
        pytest.param(
            '{\n\n "kind" : "text.generate", "input": { "prompt":\t"hel\\u006co" } }\n', id="ID-02 another spelling"
        ),
    ],
)
def test_the_same_request_again_is_a_replay(again: str) -> None:
    """One job, marked as replayed."""
    world = ApiWorld()
    api = world.api()
    first = create(api)
    second = create(api, body=again)

    assert (second.status, second.text) == (202, first.text)
    assert second.headers["idempotent-replayed"] == "true"
    assert len(world.store.rows) == 1
    assert len(world.queue.receive()) == 1


@pytest.mark.parametrize(
    "fields",
    [
        {"state": JobState.RUNNING, "run_token": TOKEN, "attempts": 1, "attempt": PresentAttempt(started_at=NOW)},
        {"state": JobState.SUCCEEDED, "result": ResultRef(epoch=1, attempt=1), "finished_at": NOW},
        {"state": JobState.FAILED, "error_code": "attempts_exhausted", "finished_at": NOW},
        {"state": JobState.CANCELLED, "finished_at": NOW},
    ],
)
def test_a_replay_tells_the_state_of_now_and_never_waits(fields: dict[str, Any]) -> None:
    """ID-08, ID-15: no error while it runs, no memory of an earlier answer once it has ended."""
    world = ApiWorld()
    api = world.api()
    first = create(api)
    create(api)
    world.keep(replace(world.kept(first.json["job_id"]), **fields))

    reply = create(api)

    assert (reply.status, reply.json["job_id"], reply.json["status"]) == (202, first.json["job_id"], fields["state"])
    assert ("retry-after" in reply.headers) == (not fields["state"].is_terminal)
    assert world.clock.seconds == 0


@pytest.mark.failure_mode("F12")
@pytest.mark.parametrize("state", [JobState.QUEUED, JobState.RUNNING, JobState.SUCCEEDED])
def test_another_request_under_the_key_is_a_conflict_that_nobody_should_retry(state: JobState) -> None:
    """ID-05, ID-38: 409 with a code of its own, the header that provider clients obey, and nothing of the job told."""
    world = ApiWorld()
    api = world.api()
    job_id = create(api).json["job_id"]
    world.keep(replace(world.kept(job_id), state=state))

    reply = create(api, body='{"kind": "text.generate", "input": {"prompt": "other"}}')

    assert (reply.status, reply.json["code"]) == (409, "idempotency_key_reused")
    assert reply.headers["x-should-retry"] == "false"
    assert job_id not in reply.text
    assert len(world.store.rows) == 1


def test_a_key_used_again_after_expiry_starts_clean() -> None:
    """ID-31: the expired row is still there, and nothing of it is seen."""
    world = ApiWorld()
    api = world.api()
    old = create(api)
    world.clock.move(JOB_LIFE)

    new = create(api, body='{"kind": "text.generate", "input": {"prompt": "other"}}')

    assert new.status == 202
    assert new.json["job_id"] != old.json["job_id"]
    assert "idempotent-replayed" not in new.headers
    gone = ask(api, an_event("GET", f"/api/ai/jobs/{old.json['job_id']}", claims=claims_of()))
    assert gone.status == 404


def test_two_tenants_with_one_key_have_two_jobs_and_cannot_see_each_others() -> None:
    """ID-16: nothing of a tenant's job is told to another."""
    api = ApiWorld().api()
    one = create(api, "same").json["job_id"]
    other = create(api, "same", tenant="globex").json["job_id"]

    assert one != other
    assert ask(api, an_event("GET", f"/api/ai/jobs/{one}", claims=claims_of("globex"))).status == 404


def test_an_empty_account_is_402_and_keeps_the_key_free() -> None:
    """Once there is money, the same request is a create."""
    world = ApiWorld()
    api = world.api()
    acme = TenantId("acme")
    world.store.accounts[acme] = Account(tenant_id=acme, granted=1, available=1, reserved=0, captured=0)
    assert (create(api).status, create(api).json["code"]) == (402, "budget_exceeded")
    assert not world.store.rows

    world.store.accounts[acme] = Account(tenant_id=acme, granted=9000, available=9000, reserved=0, captured=0)
    assert create(api).status == 202


@pytest.mark.parametrize("error", [StoreUnavailable("dynamodb TransactWriteItems: ThrottlingException"), StoreBusy("")])
def test_a_store_that_does_not_answer_is_503_and_nothing_is_said_to_be_stored(error: Exception) -> None:
    """Out of Powertools' wrapping, with the time to come back; the retry then creates the job."""
    world = ApiWorld()
    api = world.api()

    async def fails(ops: Sequence[Op], token: str) -> WriteReply:
        raise error

    recording(world, fails)
    reply = create(api)
    assert (reply.status, reply.json["code"]) == (503, getattr(error, "code", None))
    assert reply.headers["retry-after"] == "2"
    assert world.is_untouched()

    world.wrap_store = lambda store: store
    assert create(api).status == 202


def test_an_unexpected_error_is_500_without_a_word_of_its_own(caplog: pytest.LogCaptureFixture) -> None:
    """An exception's text may hold content: neither the answer nor any log shows it."""
    world = ApiWorld()

    async def fails(ops: Sequence[Op], token: str) -> WriteReply:
        raise ValueError("SECRET-PROMPT")

    recording(world, fails)
    reply = create(world.api())

    assert (reply.status, reply.json["code"]) == (500, "internal_error")
    assert "SECRET-PROMPT" not in reply.text + json.dumps(world.lines) + caplog.text


def test_powertools_switched_off_says_nothing_was_stored(monkeypatch: pytest.MonkeyPatch) -> None:
    """Its variable would run the wrapped function without the layer: then there is no 202 without a row."""
    monkeypatch.setenv("POWERTOOLS_IDEMPOTENCY_DISABLED", "true")
    world = ApiWorld()
    with pytest.warns(UserWarning, match="Disabling idempotency"):
        reply = create(world.api())

    assert reply.status == 500
    assert world.is_untouched()


@pytest.mark.failure_mode("F86")
def test_logs_hold_ids_and_hashes_only() -> None:
    """ID-39: no key, prompt, document or token in any line of a create, a replay, a conflict and a refusal."""
    world = ApiWorld()
    api = world.api()
    body = '{"kind": "text.generate", "input": {"prompt": "CANARY-PROMPT"}}'
    for key, text in (("user@example.org-42", body), ("user@example.org-42", body), ("user@example.org-42", BODY)):
        create(api, key, text)
    create(api, "user@example.org-43", '{"kind":"text.generate","input":{"prompt":"","x":"CANARY-INPUT"}}')
    create(api, "user@example.org-44", "CANARY-BROKEN")

    written = json.dumps(world.lines)
    assert [line["status"] for line in world.lines] == [202, 202, 409, 422, 400]
    assert "CANARY" not in written
    assert "example.org" not in written
    assert {line["tenant_id"] for line in world.lines[:4]} == {"acme"}


def test_a_replay_of_a_job_that_nobody_fetched_sends_its_message_again() -> None:
    """SQS-26: the client's retry may be faster than the sweeper."""
    world = ApiWorld()
    api = world.api()
    create(api)
    (delivery,) = world.queue.receive()
    world.queue.acknowledge(delivery.receipt)
    world.clock.move(timedelta(seconds=10))
    create(api)

    assert len(world.queue.receive()) == 1


@pytest.mark.failure_mode("F2")
def test_the_remaining_time_of_the_invocation_does_not_matter_to_a_replay() -> None:
    """Powertools' own in-progress state does not exist here, so no timeout can leave one behind."""
    world = ApiWorld()
    api = world.api()
    event = an_event("POST", "/api/ai/jobs", body=BODY, headers={"idempotency-key": "k"}, claims=claims_of())

    assert [ask(api, event, FakeContext(remaining_ms=left)).status for left in (0, 1, 29_000)] == [202, 202, 202]
