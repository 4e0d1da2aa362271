"""The same request again, whenever: the same job as it is now, and nothing written, until its row has expired."""

from __future__ import annotations

from datetime import timedelta
from typing import Any

import httpx
import pytest

from onceward.adapters.system import SystemClock
from onceward.domain.names import JobId, TenantId, identity_of
from onceward.domain.states import JobState
from tests.scenarios.customers import quiet_afterwards, with_tenants
from tests.scenarios.stack import DeployedStack
from tests.scenarios.witness import Witness, assert_books_agree
from tests.support.deployed.kinds import KINDS
from tests.support.model_server import ModelServer

__all__ = ["quiet_afterwards"]

TENANT = TenantId("replays")
TARIFF = KINDS.find("test.ask").policy.tariff_micro_usd
PROMPT = "Say it once."


@pytest.fixture(scope="module")
def own(stack: DeployedStack) -> Witness:
    """A tenant with money for a few jobs."""
    witness = Witness(stack=with_tenants(stack, TENANT), tenant=TENANT)
    witness.open_account(10 * TARIFF)
    return witness


def snapshot(own: Witness, job_id: str) -> tuple[Any, ...]:
    """What is stored under a job's identity and in its tenant's book, for comparing."""
    items = own.stack.items(identity_of(JobId(job_id)))
    return sorted(items, key=lambda item: (item["pk"]["S"], item["sk"]["S"])), own.account, own.entries(job_id)


def again(own: Witness, key: str, prompt: str = PROMPT) -> httpx.Response:
    """Ask for it."""
    return own.stack.create("test.ask", {"prompt": prompt}, key=key, tenant=TENANT)


def assert_replayed(answer: httpx.Response, job_id: str, status: str) -> None:
    """202, the same job, its present state, marked as a replay."""
    assert answer.status_code == httpx.codes.ACCEPTED, answer.text
    assert (answer.json()["job_id"], answer.json()["status"]) == (job_id, status)
    assert answer.headers["idempotent-replayed"] == "true"


def assert_refused(answer: httpx.Response) -> None:
    """409 that nobody should retry and that tells nothing of the job."""
    assert (answer.status_code, answer.json()["code"]) == (409, "idempotency_key_reused")
    assert answer.headers["x-should-retry"] == "false"
    assert "job_id" not in answer.json()


def test_replays_follow_the_job_and_write_nothing(own: Witness, model: ModelServer) -> None:
    """Queued, running, succeeded: each replay tells the state of now; another body is refused in each of them."""
    model.behave(hold="replays")
    with own.stack.queue_closed():
        job_id = again(own, "followed").json()["job_id"]
        before, messages = snapshot(own, job_id), own.messages()
        assert_replayed(again(own, "followed"), job_id, "queued")
        assert_refused(again(own, "followed", "Something else."))
        assert (snapshot(own, job_id), own.messages()) == (before, messages)
    model.wait_for(held=1)
    assert_replayed(again(own, "followed"), job_id, "running")
    assert_refused(again(own, "followed", "Something else."))
    model.release()
    assert own.at_rest(job_id).state is JobState.SUCCEEDED
    before = snapshot(own, job_id)
    assert_replayed(again(own, "followed"), job_id, "succeeded")
    assert_refused(again(own, "followed", "Something else."))

    assert snapshot(own, job_id) == before
    assert own.entries(job_id) == ["capture", "reserve"]
    assert own.calls(job_id).requests == 1


def test_replay_of_a_failed_job_is_the_failed_job(own: Witness, model: ModelServer) -> None:
    """A key is no retry button: the failure is told, the money was released, nothing runs again."""
    model.behave(status=400, text="Fail for good.")
    job_id = again(own, "failing", "Fail for good.").json()["job_id"]
    assert own.at_rest(job_id).state is JobState.FAILED
    before = snapshot(own, job_id)
    assert_replayed(again(own, "failing", "Fail for good."), job_id, "failed")

    assert snapshot(own, job_id) == before
    assert own.entries(job_id) == ["release", "reserve"]
    assert_books_agree(own.account)


def test_key_used_again_after_expiry_starts_clean(own: Witness, model: ModelServer) -> None:
    """ID-31: the expired row is still in the table. A new job, and nothing of the old one is seen or paid again."""
    old = again(own, "expiring").json()["job_id"]
    assert own.at_rest(old).state is JobState.SUCCEEDED
    key = {"pk": {"S": f"{TENANT}#{identity_of(JobId(old))}"}, "sk": {"S": "job"}}
    past = int((SystemClock().now() - timedelta(minutes=1)).timestamp())
    own.stack.dynamodb.update_item(
        TableName=own.stack.outputs["JobsTable"],
        Key=key,
        UpdateExpression="SET expires_at = :past",
        ExpressionAttributeValues={":past": {"N": str(past)}},
    )
    gone = own.stack.http.get(f"/api/ai/jobs/{old}", headers=own.stack.headers(TENANT))
    assert gone.status_code == httpx.codes.NOT_FOUND

    made = again(own, "expiring", "Another wish.")
    new = made.json()["job_id"]
    assert (made.status_code, "idempotent-replayed" in made.headers) == (202, False)
    assert (new[:26], new == old) == (old[:26], False)
    assert own.at_rest(new).state is JobState.SUCCEEDED
    shown = own.shown(new)

    assert len(shown["attempts"]) == 1
    assert own.stack.http.get(f"/api/ai/jobs/{old}", headers=own.stack.headers(TENANT)).status_code == 404
    assert [own.entries(job_id) for job_id in (old, new)] == [["capture", "reserve"]] * 2
    assert [own.calls(job_id).requests for job_id in (old, new)] == [1, 1]
