"""The real API over the memory adapters, behind a real socket, with a gateway's checks before it and a worker behind.

The gateway knows one token, answers as API Gateway does where it does not let a request in, and takes upload forms as
the bucket would. The worker is the real one; while ``is_working`` each message is worked on before its request is
answered, so that no test waits for it.
"""

from __future__ import annotations

import asyncio
import threading
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass, field, replace
from datetime import timedelta
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Any

import pytest
from pydantic import BaseModel

from onceward.adapters.memory.blob import MemoryBlob
from onceward.adapters.system import SystemSpawn
from onceward.domain.names import JobId, TenantId, identity_of
from onceward.domain.policy import Capability
from onceward.domain.states import JobState
from onceward.errors import JobFailure
from onceward.handlers.batches import Record, handle_batch
from onceward.usecases.context import Context
from onceward.usecases.deps import Deps
from onceward.usecases.ports import Clock, UploadForm
from onceward.usecases.registry import Registry
from onceward.usecases.switches import Switches
from tests.support.actions import FakeTarget, an_action, declared
from tests.support.api_world import WRITER, ApiWorld, FakeContext, an_event, claims_of
from tests.support.builders import a_policy

TOKEN = "acme-token"
TENANT = TenantId("acme")
SCOPES = f"{WRITER} onceward/ops actions:create_task actions:create_approved actions:create_nothing"


class Text(BaseModel):
    """A prompt; ``fail`` lets the job fail."""

    prompt: str


class Paper(BaseModel):
    """A document."""

    document_id: str


class Said(BaseModel):
    """What came of it."""

    text: str


def a_registry() -> Registry:
    """Two kinds that ask no model, and three actions: one to be approved, one of a target that promises nothing."""
    registry = declared(
        Registry(),
        an_action("header", "create_task"),
        an_action("header", "create_approved", requires_approval=True),
        an_action("nothing"),
    )

    @registry.kind(policy=a_policy(), input_model=Text, output_model=Said)
    async def generate(context: Context, given: Text) -> Said:
        if given.prompt == "fail":
            raise JobFailure("asked to", code="too_vague")
        return Said(text=given.prompt.upper())

    @registry.kind(
        policy=a_policy(name="document.analyze"),
        input_model=Paper,
        output_model=Said,
        documents_of=lambda given: [given.document_id],
    )
    async def analyze(context: Context, given: Paper) -> Said:
        document = await context.documents.read(given.document_id)
        return Said(text=f"{len(document.content)} bytes of {document.content_type}")

    return registry


class UnaskedProvider:
    """A provider that no kind here asks."""

    name = "unasked"
    capability = Capability()

    def __getattr__(self, name: str) -> Any:
        raise AssertionError(f"nobody should ask for {name}")


class SocketBlob(MemoryBlob):
    """Upload forms that lead to the socket."""

    def __init__(self, clock: Clock) -> None:
        super().__init__(clock)
        self.url = ""
        self.given: dict[str, UploadForm] = {}

    async def upload_form(self, key: str, *, content_type: str, sha256: str, size: int, valid: timedelta) -> UploadForm:
        """A form for this server's bucket."""
        form = await super().upload_form(key, content_type=content_type, sha256=sha256, size=size, valid=valid)
        self.given[key] = form
        return replace(form, url=self.url)


@dataclass
class LiveApi:
    """A running API; ``url`` is where."""

    url: str = ""
    is_working: bool = True
    is_form_broken: bool = False
    answers_to_lose: int = 0
    world: ApiWorld = field(default_factory=lambda: ApiWorld(registry=a_registry()))
    seen: list[tuple[str, str]] = field(default_factory=list)
    when_asked: dict[str, threading.Event] = field(default_factory=dict)
    targets: tuple[FakeTarget, ...] = field(
        default_factory=lambda: (
            FakeTarget("header", "create_task"),
            FakeTarget("header", "create_approved"),
            FakeTarget("nothing", "create_nothing"),
        )
    )

    def __post_init__(self) -> None:
        self.blob = SocketBlob(self.world.clock)
        self.world.blob = self.blob
        self.api = self.world.api()
        self.lock = threading.Lock()

    def answer(self, method: str, target: str, headers: Mapping[str, str], body: bytes) -> tuple[int, Any, bytes]:
        """What the gateway, the bucket or the API answers."""
        path, _, query = target.partition("?")
        with self.lock:  # an execution environment has one request at a time
            self.seen.append((method, path))
            if path == "/bucket":
                return self._posted(headers, body)
            if headers.get("authorization") != f"Bearer {TOKEN}":
                return 401, {}, b'{"message":"Unauthorized"}'
            text = body.decode() if body else None
            event = an_event(method, path, body=text, headers=headers, claims=claims_of(TENANT, SCOPES), query=query)
            reply = self.api(event, FakeContext())  # type: ignore[arg-type]  # what is read of a LambdaContext
            if self.is_working:
                self.work()
            return reply["statusCode"], reply["headers"], reply["body"].encode()

    def work(self) -> None:
        """Let the worker take every message."""
        records = [
            Record(one.message_id, one.receipt, one.body, one.receive_count) for one in self.world.queue.receive()
        ]
        if records:
            asyncio.run(handle_batch(self._deps(), records, 60.0))

    def put_into_review(self, job_id: str) -> None:
        """As if a call's outcome were unknown and policy forbade to guess."""
        place = (TENANT, identity_of(JobId(job_id)))
        limit = self.world.clock.now() + timedelta(days=30)
        row = replace(self.world.store.rows[place], state=JobState.NEEDS_REVIEW, review_until=limit, wake_at=limit)
        self.world.store.rows[place] = row

    def _deps(self) -> Deps:
        """The worker's world; a semaphore belongs to the loop of its batch."""
        return Deps(
            store=self.world.store,
            queue=self.world.queue,
            blob=self.blob,
            provider=UnaskedProvider(),
            clock=self.world.clock,
            ids=self.world.ids,
            spawn=SystemSpawn(),
            registry=self.world.registry,
            timing=self.world.intake.timing,
            call_slots=asyncio.Semaphore(10),
            child_slots=asyncio.Semaphore(1),
            max_receive_count=50,
            switches=Switches(self.world.store, self.world.clock),
            http={one.name: one for one in self.targets},
        )

    def _posted(self, headers: Mapping[str, str], body: bytes) -> tuple[int, Any, bytes]:
        """What S3 answers to a form."""
        assert "authorization" not in headers, "our token is nobody else's"
        parts = _parts(headers["content-type"].rpartition("boundary=")[2].encode(), body)
        assert list(parts)[-1] == "file", "S3 ignores what comes after the file"
        fields = {name: content.decode() for name, content in parts.items() if name != "file"}
        form = self.blob.given[fields["key"]]
        if fields == form.fields and not self.is_form_broken and self.blob.upload(form, parts["file"]):
            return 204, {}, b""
        return 400, {}, b"<Error><Code>EntityTooLarge</Code><Message>Secret words.</Message></Error>"


def _parts(boundary: bytes, body: bytes) -> dict[str, bytes]:
    """The parts of a form in their order, by name."""
    parts = {}
    for part in body.split(b"--" + boundary)[1:-1]:
        head, _, content = part.partition(b"\r\n\r\n")
        parts[head.split(b'name="')[1].split(b'"')[0].decode()] = content.removesuffix(b"\r\n")
    return parts


@contextmanager
def live_api() -> Iterator[LiveApi]:
    """Serve until the block ends."""
    live = LiveApi()

    class Handler(BaseHTTPRequestHandler):
        protocol_version = "HTTP/1.1"

        def do_GET(self) -> None:
            headers = {name.lower(): value for name, value in self.headers.items()}
            body = self.rfile.read(int(headers.get("content-length", "0")))
            status, extra, raw = live.answer(self.command, self.path, headers, body)
            if (asked := live.when_asked.get(self.path.partition("?")[0])) is not None:
                asked.set()
            if live.answers_to_lose > 0:
                live.answers_to_lose -= 1
                self.close_connection = True
                return
            self.send_response(status)
            for name, value in {"content-type": "application/json", **extra}.items():
                self.send_header(name, value)
            self.send_header("content-length", str(len(raw)))
            self.end_headers()
            self.wfile.write(raw)

        do_POST = do_DELETE = do_GET

        def log_message(self, *_: object) -> None:
            """Stay silent."""

    server = ThreadingHTTPServer(("127.0.0.1", 0), Handler)
    server.daemon_threads = True
    live.url = f"http://127.0.0.1:{server.server_port}"
    live.blob.url = f"{live.url}/bucket"
    thread = threading.Thread(target=server.serve_forever, kwargs={"poll_interval": 0.05})
    thread.start()
    try:
        yield live
    finally:
        server.shutdown()
        thread.join()
        server.server_close()


@pytest.fixture
def live(monkeypatch: pytest.MonkeyPatch) -> Iterator[LiveApi]:
    """The real API behind a socket; its metrics, which are lines of standard output, are not the command's."""
    monkeypatch.setenv("POWERTOOLS_METRICS_DISABLED", "true")
    with live_api() as running:
        yield running
