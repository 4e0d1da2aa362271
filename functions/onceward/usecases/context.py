"""What a kind's code is given: its job's facts, the model, its documents, and children for untrusted bytes.

Everything a kind does to the outside goes through here, so that it is journaled, guarded, paid for once and never
repeated after its answer was accepted.
"""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Mapping
from dataclasses import dataclass
from datetime import timedelta
from typing import Protocol, overload

from pydantic import BaseModel, JsonValue

from onceward.domain.names import JobId, TenantId
from onceward.usecases.http_target import HttpAnswer
from onceward.usecases.ports import ChildEnd, ModelReply


@dataclass(frozen=True, slots=True)
class Document:
    """One uploaded document, in the version that the job was created with."""

    document_id: str
    content_type: str
    content: bytes


class Model(Protocol):
    """The model, one paid call per step."""

    async def generate(
        self,
        step: str,
        messages: list[tuple[str, str]],
        *,
        answer: type[BaseModel] | None = None,
        max_output_tokens: int = 4096,
    ) -> ModelReply:
        """Ask once under ``step`` (1-32 of ``[A-Za-z0-9_.-]``, unique in the kind).

        A step whose answer was accepted, in this attempt or an earlier one, returns that answer and sends nothing.
        ``answer`` asks the provider for JSON of that model's schema; the reply's text is still to be validated.
        Raises ``CallFailure``; let it pass: the retry decision is made from it.
        """
        ...


class Http(Protocol):
    """The declared HTTP targets, one request per step."""

    async def request(self, step: str, target: str, arguments: Mapping[str, JsonValue]) -> HttpAnswer:
        """Ask a declared target once under ``step`` (1-32 of ``[A-Za-z0-9_.-]``, unique in the kind).

        A step whose answer was accepted returns that answer and sends nothing. After a lost answer the target's own
        promise decides: it is looked up, sent again under the same key, or a person decides. Only successes (2xx) are
        answers. Raises ``CallFailure``; let it pass: the retry decision is made from it.
        """
        ...


class Documents(Protocol):
    """The job's own documents."""

    async def read(self, document_id: str) -> Document:
        """The document's bytes; raises ``JobFailure`` (``document_gone``) if it was erased since."""
        ...


class Children(Protocol):
    """Child processes for bytes that nobody vouches for."""

    async def run(self, module: str, stdin: bytes, *, timeout: timedelta, memory_bytes: int) -> ChildEnd:
        """Run ``python -m module`` with limits; it is gone when this returns or is cancelled."""
        ...


class Context(Protocol):
    """One attempt, as its kind's code sees it."""

    @property
    def tenant_id(self) -> TenantId:
        """Whose job it is."""
        ...

    @property
    def job_id(self) -> JobId:
        """Which job it is."""
        ...

    @property
    def attempt(self) -> int:
        """Which attempt of the epoch this is, from 1; never let it change what is asked of a model."""
        ...

    @property
    def model(self) -> Model:
        """The model that this deployment is configured with."""
        ...

    @property
    def http(self) -> Http:
        """The HTTP targets that this deployment declares."""
        ...

    @overload
    async def step(self, name: str, fn: Callable[[], object], *, given: JsonValue = None) -> JsonValue: ...

    @overload
    async def step[Made: BaseModel](
        self, name: str, fn: Callable[[], Made | Awaitable[Made]], *, given: JsonValue = None, answer: type[Made]
    ) -> Made: ...

    async def step(
        self,
        name: str,
        fn: Callable[[], object],
        *,
        given: JsonValue = None,
        answer: type[BaseModel] | None = None,
    ) -> object:
        """Run code of the kind's own once under ``name`` (1-32 of ``[A-Za-z0-9_.-]``, unique in the kind).

        What ``fn``, a function or a coroutine function, returns is JSON, or with ``answer`` of that pydantic model, of
        1.5 MB at most. It is stored as the step's accepted answer, and comes back as it was stored, in this attempt and
        in every later one; the function does not run again. ``given`` is what it works on, as JSON: with another
        ``given``, or as a call, the step ends its job with ``call_changed``.

        The function runs at least once: whoever dies before its result is stored has left nothing, and it runs again.
        So it pays for nothing and changes nothing outside; that goes through ``model`` and ``http``, and not from
        within a step (``step_in_step``). What it raises is the kind's own failure.
        """
        ...

    @property
    def documents(self) -> Documents:
        """The documents named in the input."""
        ...

    @property
    def children(self) -> Children:
        """Children for parsing."""
        ...
