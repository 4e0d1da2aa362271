"""Crash points: port wrappers that end or hold a run at a place that the job's own input names.

A prompt with ``[[kill before_sent]]`` ends the worker's process there in its first attempt, ``[[kill before_sent @2]]``
in its second. SIGKILL runs nothing: no ``finally``, no thread's end, no answer to SQS; just what a lost machine does.
``[[stop before_sent]]`` keeps the job there, its lease alive, until the test lets it go on, or kills or freezes the
process from outside: so one process is lost with jobs at all places. Each happens once, whoever comes by again.
"""

from __future__ import annotations

import asyncio
import os
import re
import signal
import tempfile
from collections.abc import Sequence
from dataclasses import dataclass, replace
from datetime import datetime, timedelta
from pathlib import Path
from typing import Any

from onceward.domain.change import RowChange
from onceward.domain.names import DownstreamKey, JobId, TenantId
from onceward.domain.policy import Capability
from onceward.domain.records import Answer, ColdItem, Input, Usage
from onceward.domain.recovery import LookupReply, PollReply
from onceward.domain.states import ProviderCancel
from onceward.domain.transaction import Applied, Op, UpdateRow, WriteReply
from onceward.usecases.deps import Deps
from onceward.usecases.ports import ModelReply, ModelRequest, Provider, Store, Submitted

_MARKER = re.compile(r"\[\[(kill|stop) (\w+)(?: @(\d+))?\]\]")
_NOTES = Path(tempfile.gettempdir())  # shared by the processes of one local cloud, and by the tests
_GLANCE = 0.05  # seconds between two looks for the word to go on


def note_of(what: str, job_id: str) -> str:
    """The name of a file: ``holder`` (who claimed it last), ``reached`` (its place), ``go`` (on from there)."""
    return f"{what}-{job_id}"


@dataclass
class Plan:
    """Where one job is to be ended or held, and which attempt it is in."""

    job_id: str
    is_killed: bool = False
    point: str = ""
    in_attempt: int = 1
    attempt: int = 0

    def read(self, body: str) -> None:
        """Find the marker in the job's input."""
        marker = _MARKER.search(body)
        if marker is not None:
            self.is_killed, self.point, self.in_attempt = marker[1] == "kill", marker[2], int(marker[3] or 1)

    async def reach(self, point: str) -> None:
        """Die, or wait, here if the plan says so and nobody has yet."""
        if (self.point, self.in_attempt) != (point, self.attempt) or not self._is_first():
            return
        if self.is_killed:
            os.kill(os.getpid(), signal.SIGKILL)
        while not (_NOTES / note_of("go", self.job_id)).exists():  # noqa: ASYNC110 - another process's word
            await asyncio.sleep(_GLANCE)

    def _is_first(self) -> bool:
        """Whether no process has been here for this job before."""
        try:
            (_NOTES / note_of("reached", self.job_id)).touch(exist_ok=False)
        except FileExistsError:
            return False
        return True


class CrashPoints:
    """The plans of the jobs that this process has seen."""

    def __init__(self) -> None:
        """None yet."""
        self._plans: dict[str, Plan] = {}

    def of(self, job_id: str) -> Plan:
        """A job's plan; a downstream key begins with the job's id."""
        name = job_id[:35]
        return self._plans.setdefault(name, Plan(name))

    def claimed(self, job_id: str) -> None:
        """Note that this process holds a job now."""
        note = _NOTES / note_of("holder", job_id)
        whole = note.with_suffix(f".{os.getpid()}")
        whole.write_text(str(os.getpid()))
        whole.rename(note)  # readers never see half a number


class CrashingStore:
    """A store that dies before or after a journal, before or after an answer's item, or after a settle."""

    def __init__(self, store: Store, points: CrashPoints) -> None:
        """Wrap it."""
        self._store = store
        self._points = points

    def __getattr__(self, name: str) -> Any:
        """What needs no crash point goes straight to the store."""
        return getattr(self._store, name)

    async def update_job(self, tenant_id: TenantId, job_id: JobId, change: RowChange) -> WriteReply:
        """A journal names open calls and leaves state and attempt alone; a claim sets a token."""
        plan = self._points.of(job_id)
        is_journal = bool(change.set.get("open")) and "lease_until" in change.set and "state" not in change.set
        if is_journal:
            await plan.reach("before_sent")
        reply = await self._store.update_job(tenant_id, job_id, change)
        if isinstance(reply, Applied) and reply.before is not None:
            plan.attempt = change.apply(reply.before).attempts
            if "run_token" in change.set:
                self._points.claimed(job_id)
            if is_journal:
                await plan.reach("after_sent")
        return reply

    async def transact(self, ops: Sequence[Op], token: str) -> WriteReply:
        """A worker's transactions are settles."""
        reply = await self._store.transact(ops, token)
        for op in ops:
            if isinstance(op, UpdateRow):
                await self._points.of(op.job_id).reach("after_settle")
        return reply

    async def get_cold(self, tenant_id: TenantId, job_id: JobId, sort_key: str) -> ColdItem | None:
        """The input tells the plan."""
        item = await self._store.get_cold(tenant_id, job_id, sort_key)
        if isinstance(item, Input):
            self._points.of(job_id).read(item.body or "")
        return item

    async def put_cold(self, item: ColdItem, expires_at: datetime) -> bool:
        """An answer that is stored and not yet named by the row."""
        plan = self._points.of(item.job_id)
        if isinstance(item, Answer):
            await plan.reach("before_item")
        reply = await self._store.put_cold(item, expires_at)
        if isinstance(item, Answer):
            await plan.reach("after_item")
        return reply


class CrashingProvider:
    """A provider whose caller dies after the journal and before the socket."""

    def __init__(self, provider: Provider, points: CrashPoints) -> None:
        """Wrap it."""
        self._provider = provider
        self._points = points

    @property
    def name(self) -> str:
        """The provider's."""
        return self._provider.name

    @property
    def model(self) -> str:
        """The provider's."""
        return self._provider.model

    @property
    def route(self) -> str:
        """The provider's."""
        return self._provider.route

    @property
    def capability(self) -> Capability:
        """The provider's."""
        return self._provider.capability

    def price(self, model: str, usage: Usage | None) -> int | None:
        """The provider's."""
        return self._provider.price(model, usage)

    def most(self, request: ModelRequest) -> int | None:
        """The provider's."""
        return self._provider.most(request)

    async def generate(self, request: ModelRequest, key: DownstreamKey, timeout: timedelta) -> ModelReply | Submitted:
        """The guard has passed; nothing has left."""
        await self._points.of(key).reach("before_socket")
        return await self._provider.generate(request, key, timeout)

    async def lookup(self, key: DownstreamKey, timeout: timedelta) -> ModelReply | LookupReply | Submitted:
        """The provider's."""
        return await self._provider.lookup(key, timeout)

    async def poll(self, reference: str, key: DownstreamKey, timeout: timedelta) -> ModelReply | PollReply:
        """The provider's."""
        return await self._provider.poll(reference, key, timeout)

    async def stop(self, reference: str, timeout: timedelta) -> ProviderCancel:
        """The provider's."""
        return await self._provider.stop(reference, timeout)

    async def forget(self, reference: str, timeout: timedelta) -> None:
        """The provider's."""
        await self._provider.forget(reference, timeout)


def with_crash_points(deps: Deps) -> Deps:
    """The same world, mined."""
    points = CrashPoints()
    return replace(
        deps,
        store=CrashingStore(deps.store, points),
        provider=CrashingProvider(deps.provider, points),
        chosen={kind: CrashingProvider(provider, points) for kind, provider in deps.chosen.items()},
    )
