"""An API over the memory adapters: a clock that a test moves, ids that count, requests as the gateway sends them."""

from __future__ import annotations

import asyncio
import itertools
import json
import logging
from collections.abc import Callable, Coroutine, Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass, field
from datetime import datetime, timedelta
from typing import Any

from aws_lambda_powertools import Logger
from pydantic import BaseModel, ConfigDict, Field

from onceward.adapters.memory.blob import MemoryBlob
from onceward.adapters.memory.queue import MemoryQueue
from onceward.adapters.memory.store import MemoryStore
from onceward.domain.due import shard_of_row
from onceward.domain.job import Job
from onceward.domain.policy import KindPolicy
from onceward.domain.tally import Limits
from onceward.domain.timing import Timing
from onceward.handlers.api_app import Api
from onceward.handlers.settings import ApiSettings
from onceward.usecases.context import Context
from onceward.usecases.ports import Queue, Store
from onceward.usecases.registry import Registry
from onceward.usecases.submit_job import NO_LIMITS, Intake
from tests.support.builders import NOW, a_policy

SETTINGS = ApiSettings(
    stage="test",
    jobs_table="jobs",
    accounts_table="accounts",
    flights_table="flights",
    bucket="bucket",
    jobs_queue_url="https://queue.test/jobs",
    due_grace_seconds=30,
    skew_allowance_seconds=2,
    tenant_claim="tenant",
    scope_claim="scope",
    creates_per_minute=0,
    documents_per_day=0,
)
WRITER = "onceward/jobs:read onceward/jobs:write"
DOCUMENT_ID = "D" * 26
_LOGGERS = itertools.count()


class TextInput(BaseModel):
    """A prompt, and documents for the tests that name some."""

    model_config = ConfigDict(extra="forbid")

    prompt: str = Field(min_length=1)
    documents: list[str] = Field(default_factory=list)


class TextOutput(BaseModel):
    """A text."""

    text: str


class SteppingClock:
    """Time that stands until somebody waits or moves it."""

    def __init__(self, now: datetime = NOW) -> None:
        self.at = now
        self.seconds = 0.0

    def now(self) -> datetime:
        """The instant that the test set."""
        return self.at

    def monotonic(self) -> float:
        """Seconds since the test began."""
        return self.seconds

    async def sleep(self, duration: timedelta) -> None:
        """Let that much time pass at once."""
        self.move(duration)

    def move(self, duration: timedelta) -> None:
        """Let time pass."""
        self.at += duration
        self.seconds += duration.total_seconds()


class CountingIds:
    """Tokens ``AAAA…B``, ``AAAA…C``: distinct and the same in each run; the first eight characters differ."""

    def __init__(self) -> None:
        self.made = 0

    def token(self) -> str:
        """The next token."""
        self.made += 1
        digits = "".join("ABCDEFGHIJKLMNOPQRSTUVWXYZ234567"[self.made // 32**place % 32] for place in range(8))
        return digits + "A" * 18

    def jitter(self) -> float:
        """Always the middle."""
        return 0.5


def a_registry(policy: KindPolicy | None = None) -> Registry:
    """One kind, ``text.generate``."""
    registry = Registry()

    @registry.kind(
        policy=policy or a_policy(),
        input_model=TextInput,
        output_model=TextOutput,
        documents_of=lambda given: given.documents,
    )
    async def run(context: Context, given: TextInput) -> TextOutput:
        return TextOutput(text=given.prompt)

    return registry


@dataclass
class FakeContext:
    """What Lambda passes beside the event, as far as it is read."""

    aws_request_id: str = "lambda-request"
    function_name: str = "api"
    memory_limit_in_mb: int = 1024
    invoked_function_arn: str = "arn:aws:lambda:us-east-1:000000000000:function:api"
    remaining_ms: int = 29_000

    def get_remaining_time_in_millis(self) -> int:
        """Milliseconds until Lambda stops the invocation."""
        return self.remaining_ms


@dataclass
class ApiWorld:
    """The routes' world, and everything a test looks at or breaks."""

    clock: SteppingClock = field(default_factory=SteppingClock)
    ids: CountingIds = field(default_factory=CountingIds)
    store: MemoryStore = field(default_factory=MemoryStore)
    registry: Registry = field(default_factory=a_registry)
    wrap_store: Callable[[MemoryStore], Store] = lambda store: store
    wrap_queue: Callable[[MemoryQueue], Queue] = lambda queue: queue
    limits: Limits = NO_LIMITS

    def __post_init__(self) -> None:
        self.blob = MemoryBlob(self.clock)
        self.queue = MemoryQueue(self.clock, visibility=timedelta(minutes=1), max_receive_count=50)
        self.lines: list[dict[str, Any]] = []

    @property
    def intake(self) -> Intake:
        """The ports of the API's stories."""
        return Intake(
            store=self.wrap_store(self.store),
            blob=self.blob,
            queue=self.wrap_queue(self.queue),
            clock=self.clock,
            ids=self.ids,
            registry=self.registry,
            timing=Timing(due_grace=timedelta(seconds=30)),
            limits=self.limits,
        )

    def is_untouched(self) -> bool:
        """Whether nothing was stored and nothing sent."""
        return not (self.store.rows or self.store.items or self.store.entries or self.queue.receive())

    def keep(self, job: Job) -> None:
        """Put a row as it is."""
        self.store.rows[job.tenant_id, job.identity] = job
        self.store.shards[job.tenant_id, job.identity] = shard_of_row(job)

    def kept(self, job_id: str) -> Job:
        """The row under a job's identity."""
        return next(job for job in self.store.rows.values() if job.job_id[:26] == job_id[:26])

    def run(self, story: Coroutine[Any, Any, Any]) -> Any:
        """Run a story to its end."""
        return asyncio.run(story)

    @contextmanager
    def invocation(self) -> Iterator[None]:
        """Nothing to lend."""
        yield

    def api(self) -> Api:
        """The API over this world; what it logs ends up in ``lines``."""
        # Powertools keeps one logger per service, with the handlers of its first maker.
        logger = Logger(service=f"api-test-{next(_LOGGERS)}", logger_handler=_Lines(self.lines), level="INFO")
        return Api(SETTINGS, self, logger)


class _Lines(logging.Handler):
    """Keeps what was logged, as it would be written."""

    def __init__(self, lines: list[dict[str, Any]]) -> None:
        super().__init__()
        self._lines = lines

    def emit(self, record: logging.LogRecord) -> None:
        self._lines.append(json.loads(self.format(record)))


@dataclass(frozen=True)
class Reply:
    """An answer of the API, read back."""

    status: int
    headers: Mapping[str, str]
    text: str

    @property
    def json(self) -> Any:
        """The body."""
        return json.loads(self.text)


def claims_of(tenant: str = "acme", scope: str = WRITER, **more: str) -> dict[str, str]:
    """An access token's claims."""
    return {"token_use": "access", "tenant": tenant, "scope": scope, "sub": f"client-{tenant}", **more}


def an_event(
    method: str,
    path: str,
    *,
    body: str | None = None,
    headers: Mapping[str, str] | None = None,
    claims: Mapping[str, str] | None = None,
    query: str = "",
    is_base64: bool = False,
) -> dict[str, Any]:
    """A request as the HTTP API passes it on (payload format 2.0)."""
    context: dict[str, Any] = {
        "requestId": "request-1",
        "stage": "$default",
        "http": {"method": method, "path": path, "sourceIp": "192.0.2.1", "protocol": "HTTP/1.1", "userAgent": "test"},
    }
    if claims is not None:
        context["authorizer"] = {"jwt": {"claims": dict(claims), "scopes": None}}
    event: dict[str, Any] = {
        "version": "2.0",
        "routeKey": "$default",
        "rawPath": path,
        "rawQueryString": query,
        "headers": {"content-type": "application/json", **(headers or {})},
        "requestContext": context,
        "isBase64Encoded": is_base64,
    }
    if query:
        event["queryStringParameters"] = dict(part.split("=", 1) for part in query.split("&"))
    if body is not None:
        event["body"] = body
    return event


def ask(api: Api, event: Mapping[str, Any], context: FakeContext | None = None) -> Reply:
    """Send one request."""
    reply = api(event, context or FakeContext())  # type: ignore[arg-type]  # what is read of a LambdaContext
    return Reply(reply["statusCode"], {name.lower(): value for name, value in reply["headers"].items()}, reply["body"])


def create(
    api: Api, key: str | None = "key-1", body: str | None = None, *, tenant: str = "acme", **event: Any
) -> Reply:
    """Ask for a job."""
    headers = {} if key is None else {"idempotency-key": key}
    text = body if body is not None else '{"kind": "text.generate", "input": {"prompt": "hello"}}'
    return ask(api, an_event("POST", "/api/ai/jobs", body=text, headers=headers, claims=claims_of(tenant), **event))
