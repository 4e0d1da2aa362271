"""A context for kinds under test: documents in a table, a model that is a function, children that are real."""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable, Mapping
from dataclasses import dataclass, field
from datetime import timedelta
from typing import Any

from pydantic import BaseModel, JsonValue

from onceward.adapters.child import run_child
from onceward.domain.names import JobId, TenantId
from onceward.errors import JobFailure
from onceward.usecases.context import Document
from onceward.usecases.http_target import HttpAnswer
from onceward.usecases.ports import ChildEnd, ModelReply

TENANT = TenantId("acme")
JOB = JobId("A" * 26 + "-AAAAAAAA")

type Messages = list[tuple[str, str]]


@dataclass(frozen=True, slots=True)
class Asked:
    """One question as the model got it."""

    step: str
    messages: Messages
    answer: type[BaseModel] | None
    max_output_tokens: int


@dataclass(slots=True)
class FakeModel:
    """Answers by a function, and keeps what it was asked."""

    reply: Callable[[Messages], ModelReply]
    asked: list[Asked] = field(default_factory=list)

    async def generate(
        self,
        step: str,
        messages: Messages,
        *,
        answer: type[BaseModel] | None = None,
        max_output_tokens: int = 4096,
    ) -> ModelReply:
        """Answer."""
        self.asked.append(Asked(step, messages, answer, max_output_tokens))
        return self.reply(messages)


@dataclass(slots=True)
class FakeDocuments:
    """The documents of the job."""

    stored: Mapping[str, Document]

    async def read(self, document_id: str) -> Document:
        """One of them."""
        if document_id not in self.stored:
            raise JobFailure("the document was erased", code="document_gone")
        return self.stored[document_id]


class RealChildren:
    """The children that production starts."""

    async def run(self, module: str, stdin: bytes, *, timeout: timedelta, memory_bytes: int) -> ChildEnd:
        """Run one."""
        return await run_child(module, stdin, timeout=timeout, memory_bytes=memory_bytes)


@dataclass(slots=True)
class FakeChildren:
    """A child that ends as a test says, and never starts."""

    end: ChildEnd
    runs: int = 0
    stdin: bytes = b""

    async def run(self, module: str, stdin: bytes, *, timeout: timedelta, memory_bytes: int) -> ChildEnd:
        """End."""
        self.runs += 1
        self.stdin = stdin
        return self.end


class NoHttp:
    """No HTTP target is declared."""

    async def request(self, step: str, target: str, arguments: Mapping[str, JsonValue]) -> HttpAnswer:
        """Refuse."""
        raise AssertionError(f"no target {target}")


@dataclass(slots=True)
class FakeContext:
    """What a kind's code gets."""

    model: FakeModel
    documents: FakeDocuments = field(default_factory=lambda: FakeDocuments({}))
    children: RealChildren | FakeChildren = field(default_factory=RealChildren)
    tenant_id: TenantId = TENANT
    job_id: JobId = JOB
    attempt: int = 1
    http: NoHttp = field(default_factory=NoHttp)

    async def step(self, name: str, fn: Callable[[], object], **_: object) -> Any:
        """No kind that ships has a step of its own."""
        raise AssertionError(name)


def outcome[T](work: Awaitable[T]) -> T:
    """Run a kind's code to its end on a loop of its own."""

    async def run() -> T:
        return await work

    return asyncio.run(run())


def reply(text: str, finish: str = "stop") -> ModelReply:
    """A model's answer."""
    return ModelReply(text=text, finish=finish, model="m-1", usage=None)


def pdf(content: bytes, content_type: str = "application/pdf") -> Document:
    """An uploaded document."""
    return Document("doc-1", content_type, content)
