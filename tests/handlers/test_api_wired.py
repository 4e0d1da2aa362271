"""The Lambdas of API, trigger and sweeper as they are deployed: settings, wiring, real adapters, event after event."""

from __future__ import annotations

import asyncio
import json
from collections.abc import Iterator
from typing import Any

import boto3
import pytest
from moto import mock_aws

from onceward.adapters.dynamodb.table import Tables
from onceward.domain.due import all_shards
from onceward.domain.timing import Timing
from onceward.handlers import api, sweeper, tenant_token
from onceward.handlers.wiring import Wiring
from onceward.local.environment import REGION
from onceward.usecases.registry import Registry
from tests.support.api_world import FakeContext, Reply, ask
from tests.support.emulators import dynamodb_at, make_tables
from tests.support.leftovers import running
from tests.support.samples import EVENTS, sample


@pytest.fixture
def tables(monkeypatch: pytest.MonkeyPatch) -> Iterator[Tables]:
    """An account inside this process with what the functions' variables name; environments start cold."""
    for name in ("AWS_ACCESS_KEY_ID", "AWS_SECRET_ACCESS_KEY"):
        monkeypatch.setenv(name, "test")
    monkeypatch.setenv("AWS_DEFAULT_REGION", REGION)
    monkeypatch.setenv("POWERTOOLS_SERVICE_NAME", "onceward-api")
    caches = (api._api, tenant_token._trigger, sweeper._passes)
    with mock_aws():
        made = make_tables(dynamodb_at())
        boto3.client("s3").create_bucket(Bucket="bucket")
        boto3.client("s3").put_bucket_versioning(Bucket="bucket", VersioningConfiguration={"Status": "Enabled"})
        settings = {
            "stage": "test",
            "jobs_table": made.jobs,
            "accounts_table": made.accounts,
            "flights_table": made.flights,
            "bucket": "bucket",
            "jobs_queue_url": boto3.client("sqs").create_queue(QueueName="jobs")["QueueUrl"],
            "dead_letters_queue_url": boto3.client("sqs").create_queue(QueueName="dead")["QueueUrl"],
            "due_grace_seconds": "30",
            "skew_allowance_seconds": "2",
            "tenant_claim": "tenant",
            "scope_claim": "scope",
            "creates_per_minute": "0",
            "documents_per_day": "0",
        }
        for name, value in settings.items():
            monkeypatch.setenv(f"ONCEWARD_{name.upper()}", value)
        for cache in caches:
            cache.cache_clear()
        yield made
        for cache in caches:
            cache.cache_clear()


def send(event: dict[str, Any]) -> Reply:
    """Call the Lambda; nothing of the invocation may be left when it returns."""
    before = running()
    reply = ask(api.handler, event)  # type: ignore[arg-type]  # called as an ``Api`` is

    assert running() == before
    return reply


def test_a_job_is_created_read_and_cancelled_over_the_real_adapters(tables: Tables) -> None:
    """One environment, request after request: row and input in the table, one message, the same job read back."""
    created = send({**sample("api_create_job"), "body": '{"kind": "text.generate", "input": {"prompt": "hello"}}'})
    assert created.status == 202, created.text
    job_id = created.json["job_id"]
    replayed = send(sample("api_create_job"))
    read = send({**sample("api_read_job"), "rawPath": f"/api/ai/jobs/{job_id}", "headers": {}})
    cancelled = send({**sample("api_cancel_job"), "rawPath": f"/api/ai/jobs/{job_id}/cancel"})

    assert replayed.headers["idempotent-replayed"] == "true"
    assert (read.status, read.json["status"]) == (200, "queued")
    assert (cancelled.status, cancelled.json["status"]) == (200, "cancelled")
    sorts = [item["sk"]["S"] for item in dynamodb_at().scan(TableName=tables.jobs)["Items"]]
    assert sorted(sorts) == ["input", "job"]
    queue = boto3.client("sqs").get_queue_url(QueueName="jobs")["QueueUrl"]
    (message,) = boto3.client("sqs").receive_message(QueueUrl=queue, MaxNumberOfMessages=10)["Messages"]
    assert json.loads(message["Body"])["job_id"] == job_id


def test_an_upload_form_is_signed(tables: Tables) -> None:
    """The bucket's own address and a policy come back."""
    reply = send(sample("api_create_document"))

    assert reply.status == 201
    assert {"key", "policy", "x-amz-signature"} <= {name.lower() for name in reply.json["fields"]}


def test_a_table_that_is_gone_is_503(tables: Tables) -> None:
    """What AWS says stays inside."""
    dynamodb_at().delete_table(TableName=tables.jobs)
    reply = send(sample("api_create_job"))

    assert (reply.status, reply.json["code"]) == (503, "store_unavailable")
    assert tables.jobs not in reply.text


def test_the_trigger_finds_a_clients_entry(tables: Tables) -> None:
    """By the client's id, in the accounts table."""
    event = sample("tenant_token_client")
    client_id = event["callerContext"]["clientId"]
    entry: Any = {
        "pk": {"S": f"client#{client_id}"},
        "sk": {"S": "client"},
        "tenant_id": {"S": "acme"},
        "scopes": {"SS": ["jobs:read"]},
    }
    dynamodb_at().put_item(TableName=tables.accounts, Item=entry)

    before = running()
    answer = tenant_token.handler(event, FakeContext())  # type: ignore[arg-type]  # what is read of a LambdaContext

    assert running() == before
    access = answer["response"]["claimsAndScopeOverrideDetails"]["accessTokenGeneration"]
    assert access["claimsToAddOrOverride"] == {"tenant": "acme"}
    assert access["scopesToAdd"] == ["onceward/jobs:read"]


def test_a_missing_variable_is_told_at_the_first_request(tables: Tables, monkeypatch: pytest.MonkeyPatch) -> None:
    """A stack that forgot one cannot answer anything."""
    monkeypatch.delenv("ONCEWARD_BUCKET")

    before = running()
    with pytest.raises(ValueError, match="bucket"):
        api.handler(sample("api_health"), FakeContext())  # type: ignore[arg-type]
    assert running() == before


@pytest.mark.parametrize("is_there", [True, False])
@pytest.mark.parametrize("gauges", [True, False])
def test_a_pass_of_the_sweeper_leaves_nothing_running(
    tables: Tables, monkeypatch: pytest.MonkeyPatch, *, is_there: bool, gauges: bool
) -> None:
    """Over real adapters, with all shards asked at once, also where the table does not answer; counting or not."""
    monkeypatch.setattr(sweeper, "is_time_to_gauge", lambda _now: gauges)
    if not is_there:
        dynamodb_at().delete_table(TableName=tables.jobs)
    before = running()

    counts = sweeper.handler(sample("sweeper_schedule"), FakeContext())  # type: ignore[arg-type]

    assert running() == before
    not_gauged = {"not_gauged": 1} if gauges else {}
    assert counts == ({} if is_there else {"failed": len(all_shards()), **not_gauged})


@pytest.mark.parametrize("name", [path.stem for path in sorted(EVENTS.glob("api_*.json"))])
def test_no_request_leaves_anything_running(tables: Tables, name: str) -> None:
    """Each sample, on a warm environment: threads, tasks and children are those of before (invariant 17)."""
    assert send(sample("api_health")).status == 200

    assert send(sample(name)).status < 500


@pytest.mark.failure_mode("F34")
def test_a_task_that_outlives_its_invocation_is_ended_and_told() -> None:
    """Invariant 17: nothing runs while the environment is frozen; a mistake of ours is loud."""
    wiring = Wiring(tables=Tables(jobs="jobs"), timing=Timing(), registry=Registry())
    ended = []

    async def forever() -> None:
        try:
            await asyncio.Event().wait()
        finally:
            ended.append(True)

    tasks = []

    async def careless() -> None:
        tasks.append(asyncio.create_task(forever(), name="forgotten"))
        await asyncio.sleep(0)

    with pytest.raises(RuntimeError, match="forgotten"), wiring.invocation():
        wiring.run(careless())

    assert ended == [True]
    with wiring.invocation():
        pass


@pytest.mark.failure_mode("F39")
def test_an_environment_keeps_its_loop_over_invocations() -> None:
    """SQS-09: clients and semaphores belong to the loop they were made on."""
    wiring = Wiring(tables=Tables(jobs="jobs"), timing=Timing(), registry=Registry())
    loops = []

    async def look() -> None:
        loops.append(asyncio.get_running_loop())

    for _ in range(2):
        with wiring.invocation():
            wiring.run(look())

    assert loops[0] is loops[1]
    assert not loops[0].is_closed()
    wiring._runner.close()
