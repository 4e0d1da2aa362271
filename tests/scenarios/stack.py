"""A deployed stack as a test sees it: the API as a client has it, and the tables, queues and model as witnesses."""

from __future__ import annotations

import json
import time
from collections.abc import Callable, Iterator, Mapping
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager
from dataclasses import dataclass
from functools import cache
from hashlib import sha256
from typing import Any

import boto3
import httpx

from onceward.domain.names import JobId, identity_of
from onceward.local.cloud import LocalCloud
from onceward.local.deploy import Outputs
from onceward.local.differences import api_url
from onceward.local.server import NO_TLS
from tests.support.model_server import ModelServer
from tests.support.tracker import Tracker

PATIENCE = 180.0  # seconds; a condition that takes longer is not coming, on however busy a machine
PATIENCE_WITH_STARTS = 240.0  # seconds; fifty parallel requests start fifty processes on two cores
STARTS = 10  # processes that a wave adds; more at once on two cores run into the function's own timeout
WAVE = 8  # seconds that a wave's requests hold their processes: long enough for the new ones to start
PAUSE = 0.05  # seconds between the first two looks at a condition
SLOWER, LONGEST_PAUSE = 1.2, 0.25  # times, seconds: a look keeps the API, the cloud and this process busy for 50 ms


@dataclass(frozen=True, kw_only=True)
class DeployedStack:
    """The real `cdk deploy` of the real stacks in a local cloud, with a model server of its own."""

    cloud: LocalCloud
    outputs: Outputs
    tokens: Mapping[str, str]
    model: ModelServer
    tracker: Tracker

    @property
    def http(self) -> httpx.Client:
        """One client for all tests; nothing is retried."""
        return _http(api_url(self.cloud.endpoint_url, self.outputs["ApiId"]))

    def aws(self, service: str) -> Any:
        """A boto3 client of any service."""
        return _client(self.cloud, service)

    @property
    def dynamodb(self) -> Any:
        """The tables' client."""
        return self.aws("dynamodb")

    @property
    def sqs(self) -> Any:
        """The queues' client."""
        return self.aws("sqs")

    def headers(self, tenant: str = "acme", **more: str) -> dict[str, str]:
        """A tenant's verified identity."""
        return {"authorization": f"Bearer {self.tokens[tenant]}", **more}

    def create(self, kind: str, given: Mapping[str, Any], *, key: str, tenant: str = "acme") -> httpx.Response:
        """POST a job."""
        body = {"kind": kind, "input": dict(given)}
        headers = self.headers(tenant, **{"idempotency-key": f'"{key}"'})
        return self.http.post("/api/ai/jobs", json=body, headers=headers)

    def created(self, kind: str, given: Mapping[str, Any], *, key: str, tenant: str = "acme") -> str:
        """POST a job that must be taken; its id."""
        answer = self.create(kind, given, key=key, tenant=tenant)
        assert answer.status_code == httpx.codes.ACCEPTED, answer.text
        job_id: str = answer.json()["job_id"]
        return job_id

    def get(self, job_id: str, *, tenant: str = "acme") -> dict[str, Any]:
        """A job as the API shows it."""
        answer = self.http.get(f"/api/ai/jobs/{job_id}", headers=self.headers(tenant))
        assert answer.status_code == httpx.codes.OK, answer.text
        shown: dict[str, Any] = answer.json()
        return shown

    def ended(self, job_id: str, *, patience: float = PATIENCE, tenant: str = "acme") -> dict[str, Any]:
        """A job once it is terminal or in review."""

        def look() -> dict[str, Any] | None:
            shown = self.get(job_id, tenant=tenant)
            is_over = shown["status"] in {"succeeded", "failed", "cancelled", "needs_review"}
            return shown if is_over else None

        return until(look, f"{job_id} has ended", patience)

    def warm(self, job_id: str, processes: int) -> None:
        """Have so many processes of the API's function running: a cold start takes a second of a core each.

        Requests that wait for a job that does not end hold a process each; wave by wave, a few more start.
        """
        for parallel in range(STARTS, processes + STARTS, STARTS):
            with ThreadPoolExecutor(parallel) as pool:
                for _ in range(parallel):
                    pool.submit(self.http.get, f"/api/ai/jobs/{job_id}", params={"wait": WAVE}, headers=self.headers())

    def upload(self, content: bytes, *, content_type: str = "application/pdf", tenant: str = "acme") -> str:
        """Upload a document as a browser would; its id."""
        wish = {"content_type": content_type, "size": len(content), "sha256": sha256(content).hexdigest()}
        form = self.http.post("/api/ai/documents", json=wish, headers=self.headers(tenant))
        assert form.is_success, form.text
        answer = form.json()
        sent = httpx.post(
            answer["url"],
            data=answer["fields"],
            files={"file": ("document", content, content_type)},
            trust_env=False,
            verify=NO_TLS,
        )
        assert sent.is_success, sent.text
        document_id: str = answer["document_id"]
        return document_id

    def sweep(self) -> dict[str, int]:
        """Let the sweeper make one pass."""
        answer = self.aws("lambda").invoke(FunctionName=self.outputs["SweeperFunction"], Payload=b"{}")
        counts: dict[str, int] = json.load(answer["Payload"])
        return counts

    @contextmanager
    def queue_closed(self) -> Iterator[None]:
        """No message is delivered until this ends."""
        functions = self.aws("lambda")
        source = functions.list_event_source_mappings(FunctionName=self.outputs["WorkerFunction"])
        uuid = source["EventSourceMappings"][0]["UUID"]
        self._deliver(functions, uuid, enabled=False)
        try:
            yield
        finally:
            self._deliver(functions, uuid, enabled=True)

    def _deliver(self, functions: Any, uuid: str, *, enabled: bool) -> None:
        wanted = "Enabled" if enabled else "Disabled"
        functions.update_event_source_mapping(UUID=uuid, Enabled=enabled)
        until(
            lambda: functions.get_event_source_mapping(UUID=uuid)["State"] == wanted or None,
            f"the event source is {wanted.lower()}",
        )

    def lose_messages(self) -> None:
        """Drop whatever is in the jobs queue."""
        self.sqs.purge_queue(QueueUrl=self.outputs["JobsQueueUrl"])

    def letter_of(self, job_id: str) -> dict[str, Any] | None:
        """The dead letter of a job, if it is there; it stays there."""
        answer = self.sqs.receive_message(
            QueueUrl=self.outputs["DeadLettersQueueUrl"], MaxNumberOfMessages=10, VisibilityTimeout=0
        )
        letters: list[dict[str, Any]] = [json.loads(message["Body"]) for message in answer.get("Messages", [])]
        return next((letter for letter in letters if letter.get("job_id") == job_id), None)

    def log_group(self, function: str) -> str:
        """The log group that a function of this stage writes to."""
        found = self.aws("lambda").get_function_configuration(FunctionName=self.outputs[function])
        return str(found["LoggingConfig"]["LogGroup"])

    def invocations(self, function: str) -> int:
        """How many invocations of a function have ended and are logged."""
        pages = self.aws("logs").get_paginator("filter_log_events").paginate(logGroupName=self.log_group(function))
        return sum(event["message"].startswith("START") for page in pages for event in page["events"])

    def log_lines(self) -> list[str]:
        """Every line of every log group; an invocation's are there once it has ended."""
        logs = self.aws("logs")
        pages = logs.get_paginator("describe_log_groups").paginate()
        groups = [one["logGroupName"] for page in pages for one in page["logGroups"]]
        return [
            event["message"]
            for group in groups
            for page in logs.get_paginator("filter_log_events").paginate(logGroupName=group)
            for event in page["events"]
        ]

    def schedule(self, *, is_on: bool) -> None:
        """Let the sweeper's own schedule run, or not.

        The rule is put again as it is: CloudFormation of the local cloud forgets when it was made, and without that
        its first minute begins when it is first seen to be on.
        """
        events = self.aws("events")
        for rule in events.list_rules()["Rules"]:
            if "SweepEveryMinute" in rule["Name"]:
                state = "ENABLED" if is_on else "DISABLED"
                events.put_rule(Name=rule["Name"], ScheduleExpression=rule["ScheduleExpression"], State=state)

    def items(self, of: str = "") -> list[dict[str, Any]]:
        """Everything in the jobs table, as stored; or what has this, an identity or a job's id, in its partition key.

        The table is searched by the cloud: to be told all that a session has stored takes a tenth of a second.
        """
        wish = {"FilterExpression": "contains(pk, :of)", "ExpressionAttributeValues": {":of": {"S": of}}} if of else {}
        pages = self.dynamodb.get_paginator("scan").paginate(
            TableName=self.outputs["JobsTable"], ConsistentRead=True, **wish
        )
        return [item for page in pages for item in page["Items"]]

    def row(self, job_id: str) -> dict[str, Any]:
        """A job's row, as stored, whosever it is."""
        (row,) = [item for item in self.items(identity_of(JobId(job_id))) if item["sk"]["S"] == "job"]
        return row


@cache
def _http(base: str) -> httpx.Client:
    """The client, also of those who see the stack with other tokens."""
    return httpx.Client(base_url=base, timeout=PATIENCE_WITH_STARTS, trust_env=False, verify=NO_TLS)


@cache
def _client(cloud: LocalCloud, service: str) -> Any:
    """One client of a service for all tests: to make one takes longer than to ask it."""
    of_any: Any = boto3.client  # its type lists all services, to compare with which takes mypy a second
    return of_any(service, **cloud.access)


def until[T](look: Callable[[], T | None], what: str, patience: float = PATIENCE, *, pause: float = PAUSE) -> T:
    """What ``look`` returns once it returns something; fails when that does not come."""
    ends = time.monotonic() + patience
    while (seen := look()) is None:
        assert time.monotonic() < ends, f"waited {patience} s, and it is still not so that {what}"
        time.sleep(pause)
        pause = max(pause, min(pause * SLOWER, LONGEST_PAUSE))
    return seen
