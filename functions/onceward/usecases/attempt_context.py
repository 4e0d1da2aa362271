"""What a kind's code is given in a run: the context over a call maker and the job's stored input."""

from __future__ import annotations

import json
from collections.abc import Callable, Mapping
from datetime import timedelta
from typing import Any

from pydantic import BaseModel, JsonValue, TypeAdapter

from onceward.domain.names import JobId, StepKey, TenantId, is_step_key
from onceward.errors import InfrastructureError, JobFailure
from onceward.usecases.context import Document
from onceward.usecases.deps import Deps
from onceward.usecases.held_job import HeldJob
from onceward.usecases.http_target import HttpAnswer
from onceward.usecases.local_slot import hold_slot
from onceward.usecases.make_call import CallMaker
from onceward.usecases.ports import ChildEnd, ModelReply, ModelRequest
from onceward.usecases.question import question_to_http
from onceward.usecases.sharing import ChildWork, DocumentVersion
from onceward.usecases.stored_input import StoredDocument
from onceward.usecases.take_step import take_step

MOST_OUTPUT_TOKENS = 1_000_000  # several times what any model writes in one answer; beyond it, a bug asks
ANSWER = TypeAdapter(HttpAnswer)


class StepModel:
    """The model port as a kind sees it: one paid call per step."""

    def __init__(self, calls: CallMaker, kind_version: int) -> None:
        """``kind_version`` is the job's: its steps keep their keys when newer code finishes them."""
        self._calls = calls
        self._version = kind_version

    async def generate(
        self,
        step: str,
        messages: list[tuple[str, str]],
        *,
        answer: type[BaseModel] | None = None,
        max_output_tokens: int = 4096,
    ) -> ModelReply:
        """Ask once under ``step``; see ``context.Model``."""
        key = _step_key(step, self._version)
        if type(max_output_tokens) is not int or not 1 <= max_output_tokens <= MOST_OUTPUT_TOKENS:
            raise JobFailure("an answer has 1 to 1,000,000 tokens", code="bad_output_limit")
        schema = None if answer is None else json.dumps(answer.model_json_schema(), sort_keys=True)
        request = ModelRequest(
            messages=tuple(messages),
            max_output_tokens=max_output_tokens,
            json_schema=schema,
            schema_name="answer" if answer is None else answer.__name__,
        )
        return await self._calls.ask(key, request)


class StepHttp:
    """The declared HTTP targets as a kind sees them: one request per step."""

    def __init__(self, deps: Deps, calls: CallMaker, kind_version: int, *, reads_only: bool) -> None:
        """``kind_version`` is the job's, as for the model; ``reads_only``: the kind coalesces."""
        self._deps = deps
        self._calls = calls
        self._version = kind_version
        self._reads_only = reads_only

    async def request(self, step: str, target: str, arguments: Mapping[str, JsonValue]) -> HttpAnswer:
        """Ask once under ``step``; see ``context.Http``.

        Not for a kind that coalesces: a request may change something, for many at once, and no coalesce key names
        where its answer comes from.
        """
        if self._reads_only:
            raise JobFailure("a kind that coalesces asks no HTTP target", code="not_read_only")
        declared = self._deps.http.get(target)
        if declared is None:
            raise JobFailure("no such HTTP target is declared", code="unknown_target")
        question = question_to_http(declared, arguments)
        reply = await self._calls.call(_step_key(step, self._version), question)
        return ANSWER.validate_json(reply.text)


class StoredDocuments:
    """The documents that create resolved, each in exactly that version."""

    def __init__(
        self, deps: Deps, calls: CallMaker, tenant_id: TenantId, documents: Mapping[str, StoredDocument]
    ) -> None:
        """``documents`` by the id that the input names."""
        self._deps = deps
        self._calls = calls
        self._tenant_id = tenant_id
        self._documents = documents

    async def read(self, document_id: str) -> Document:
        """The document's bytes; see ``context.Documents``."""
        known = self._documents.get(document_id)
        with self._calls.working():
            content = None if known is None else await self._download(known)
        if known is None or content is None:
            raise JobFailure("the document is not there any more", code="document_gone")
        return Document(document_id, known.content_type or "application/octet-stream", content)

    async def _download(self, known: StoredDocument) -> bytes | None:
        """The bytes, from one download for all jobs of the batch that want this version now."""
        version = DocumentVersion(self._tenant_id, known.key, known.version)
        return await self._deps.shared.document(version, lambda: self._deps.blob.get(known.key, known.version))


class LimitedChildren:
    """Children by the spawn port; the jobs of a batch that have the same bytes parsed share one."""

    def __init__(self, deps: Deps, calls: CallMaker, tenant_id: TenantId) -> None:
        """One per run."""
        self._deps = deps
        self._calls = calls
        self._tenant_id = tenant_id

    async def run(self, module: str, stdin: bytes, *, timeout: timedelta, memory_bytes: int) -> ChildEnd:
        """Run a module apart; see ``context.Children``."""
        work = ChildWork.of(self._tenant_id, module, stdin, timeout, memory_bytes)

        async def start() -> ChildEnd:
            latest = self._calls.latest_start(timeout)
            async with hold_slot(self._deps.child_slots, self._deps.clock, latest):
                try:
                    return await self._deps.spawn.child(module, stdin, timeout=timeout, memory_bytes=memory_bytes)
                except OSError:  # no process, no memory, no room for its input: of this machine, not of the document
                    raise InfrastructureError("no child can be started here", code="no_child") from None

        with self._calls.working():
            return await self._calls.unless_cancelled(self._deps.shared.child(work, start))


class AttemptContext:
    """One attempt, as its kind's code sees it."""

    def __init__(self, deps: Deps, held: HeldJob, calls: CallMaker, documents: Mapping[str, StoredDocument]) -> None:
        """Facts come from the row as it is now."""
        self._held = held
        self._calls = calls
        self.model = StepModel(calls, held.job.kind_version)
        reads_only = deps.registry.find(held.job.kind).policy.coalesce is not None
        self.http = StepHttp(deps, calls, held.job.kind_version, reads_only=reads_only)
        self.documents = StoredDocuments(deps, calls, held.tenant_id, documents)
        self.children = LimitedChildren(deps, calls, held.tenant_id)

    @property
    def tenant_id(self) -> TenantId:
        """Whose job it is."""
        return self._held.tenant_id

    @property
    def job_id(self) -> JobId:
        """Which job it is."""
        return self._held.job_id

    @property
    def attempt(self) -> int:
        """Which attempt of the epoch this is."""
        return self._held.job.attempts

    async def step(
        self,
        name: str,
        fn: Callable[[], object],
        *,
        given: JsonValue = None,
        answer: type[BaseModel] | None = None,
    ) -> Any:
        """Run the kind's own code once under ``name``; see ``context.Context``."""
        return await take_step(self._calls, _step_key(name, self._held.job.kind_version), fn, given, answer)


def _step_key(step: str, version: int) -> StepKey:
    """The step's key; raises ``JobFailure`` for a name that is none."""
    key = f"{step}/{version}"
    if not is_step_key(key):
        raise JobFailure("a step's name is 1-32 of [A-Za-z0-9_.-]", code="bad_step_name")
    return StepKey(key)
