"""One simulated deployment: tables, queue, provider, and the processes that a scenario starts over them.

The code inside the processes is the real one; the world only plays client, event source, schedule and time.
"""

from __future__ import annotations

import asyncio
import random
from collections.abc import Callable, Coroutine, Sequence
from dataclasses import dataclass, field
from operator import is_
from typing import Any

from onceward.adapters.memory.blob import MemoryBlob
from onceward.adapters.memory.queue import Delivery as Message
from onceward.domain.due import REVIEW_SHARD, all_shards
from onceward.domain.ledger import Entry, Verb
from onceward.domain.names import JobId
from onceward.usecases.deps import Deps
from onceward.usecases.ports import Queue, Store
from onceward.usecases.registry import Registry
from onceward.usecases.submit_job import Intake
from onceward.usecases.sweep import Sweeper
from onceward.usecases.switches import Switches
from tests.simulation.bell import Bell
from tests.simulation.boundaries import guarded
from tests.simulation.bug import Bug
from tests.simulation.checks.promised import wall
from tests.simulation.doors import TENANT, Deed, Heard
from tests.simulation.entrances import swept, worked
from tests.simulation.events import Answer, EventSource, SimQueue, event_of
from tests.simulation.faults import Counter, Fault
from tests.simulation.http_line import TARGET, HttpLine
from tests.simulation.kinds import VERSION, registry_of
from tests.simulation.model import ModelService
from tests.simulation.ports import CHILDREN, SimClock, SimIds, SimSpawn, breakers_of
from tests.simulation.process import Died, Process
from tests.simulation.scenario import (
    FREEZE_SECONDS,
    FUNCTION_SECONDS,
    MAX_RECEIVE_COUNT,
    OLD_CODE_SECONDS,
    SWEEP_SECONDS,
    Scenario,
)
from tests.simulation.scheduler import VirtualLoop
from tests.simulation.tables import SimStore

SHARDS = all_shards()


@dataclass(frozen=True, slots=True)
class Accepted:
    """A 202 that a client heard: which key, which job, when (virtual seconds)."""

    key: str
    job_id: JobId
    at: float


@dataclass(slots=True)
class World:
    """All state of one run; ``watch`` is told of every effect of every process, right after it.

    ``lines``: what the handlers have logged and counted.
    """

    loop: VirtualLoop
    scenario: Scenario
    seed: int
    counter: Counter
    bug: Bug
    tables: Callable[[VirtualLoop], SimStore] = SimStore
    watch: list[Callable[[Process, str], None]] = field(default_factory=list)
    accepted: list[Accepted] = field(default_factory=list)
    answers: list[tuple[str, str]] = field(default_factory=list)
    processes: dict[str, Process] = field(default_factory=dict)
    lines: list[str] = field(default_factory=list)
    errors: list[BaseException] = field(default_factory=list)
    store: SimStore = field(init=False)
    queue: SimQueue = field(init=False)
    blob: MemoryBlob = field(init=False)
    model: ModelService = field(init=False)
    events: EventSource = field(init=False)
    ended: Bell = field(default_factory=Bell)
    _registry: Registry = field(init=False)
    _code: int = field(init=False)
    _back_at: float = field(init=False)
    _draw: random.Random = field(init=False)
    _tasks: set[asyncio.Task[Any]] = field(default_factory=set)

    def __post_init__(self) -> None:
        """Build the deployment; its own clock has no skew."""
        here = SimClock(Process(self.loop, "aws", self.counter))
        scenario = self.scenario
        self.store = self.tables(self.loop)
        self.counter.expire = self.store.expire
        self.queue = SimQueue(here, visibility=scenario.visibility, max_receive_count=MAX_RECEIVE_COUNT)
        self.blob = MemoryBlob(here)
        self.model = ModelService(self.loop, scenario.capability, scenario.call_seconds, scenario.script)
        self.model.odd_lookups = scenario.odd_lookups
        self.events = EventSource(self.loop, self.queue, self.counter, scenario, self.work, self.deploy)
        self._registry = registry_of(
            scenario.on_unknown,
            call_seconds=scenario.call_seconds,
            most_attempts=scenario.most_attempts,
            more=scenario.kinds,
        )
        self._code = 0
        self._back_at = 0.0
        self._draw = random.Random(self.seed)

    async def open_account(self) -> None:
        """Grant the tenant's budget, if it has one."""
        grant = self.scenario.grant
        if grant is not None:
            entry = Entry(
                tenant_id=TENANT, job_id=JobId("grant"), epoch=1, verb=Verb.GRANT, micro_usd=grant, at=wall(0)
            )
            await self.store.grant(TENANT, grant, entry)
            await self.store.limit_account(TENANT, self.scenario.most_in_flight)

    def process(self, kind: str) -> Process:
        """A new process, with a clock that is off by as much as the scenario allows, either way or not at all."""
        number = sum(1 for name in self.processes if name.startswith(f"{kind}#")) + 1
        skew = self._draw.choice((-1.0, 0.0, 1.0)) * self.scenario.skew_seconds
        made = Process(self.loop, f"{kind}#{number}", self.counter, skew=skew, most_skew=self.scenario.skew_seconds)
        self.processes[made.name] = made
        return made

    def intake(self, process: Process) -> Intake:
        """What the API's process is given."""
        return Intake(
            store=self._store_of(process),
            blob=self._guarded(self.blob, "blob", process),
            queue=self._queue_of(process),
            clock=SimClock(process),
            ids=SimIds(process, str(self.seed)),
            registry=self._registry,
            timing=self.bug.timing or self.scenario.timing,
            limits=self.scenario.limits,
        )

    def deps(self, process: Process) -> Deps:
        """What a worker's process is given."""
        store, clock = self._store_of(process), SimClock(process)
        made = self.scenario.line(self.model, process.name, self.bug.capability)
        line = self._guarded(made, "provider", process)
        return Deps(
            store=store,
            queue=self._queue_of(process),
            blob=self._guarded(self.blob, "blob", process),
            provider=line,
            http={TARGET: HttpLine(line)},
            clock=clock,
            ids=SimIds(process, str(self.seed)),
            spawn=SimSpawn(process, CHILDREN),
            registry=self._workers_registry(process),
            timing=self.bug.timing or self.scenario.timing,
            call_slots=asyncio.Semaphore(self.scenario.call_slots),
            child_slots=asyncio.Semaphore(1),
            max_receive_count=MAX_RECEIVE_COUNT,
            switches=Switches(store, clock),
            breakers=breakers_of(process, store, self.scenario.breaker, str(self.seed)),
            flight_limits=self.scenario.flight_limits,
        )

    def deploy(self, change: Fault) -> None:
        """Change the code of the workers that start from now on, or for some minutes."""
        if change is Fault.OLDER_CODE:
            self._back_at = self.loop.time() + OLD_CODE_SECONDS
        else:
            self._code = 1

    def _workers_registry(self, process: Process) -> Registry:
        """The kinds as a worker that starts now knows them; the judge is told of it."""
        scenario = self.scenario
        known = registry_of(
            scenario.on_unknown,
            call_seconds=scenario.call_seconds,
            most_attempts=scenario.most_attempts,
            tariff=scenario.worker_tariff,
            version=VERSION + (-1 if self.loop.time() < self._back_at else self._code),
            more=scenario.kinds,
        )
        process.known_kinds = {kind.name: kind.policy.version for kind in known}
        return known

    async def throw_switch(self) -> None:
        """An operator switches everything off for a while, if the scenario says so."""
        if self.scenario.off is not None:
            begin, end = self.scenario.off
            await asyncio.sleep(begin)
            await self.store.switch("all", is_on=False)
            await asyncio.sleep(end - begin)
            await self.store.switch("all", is_on=True)

    def sweeper(self, process: Process) -> Sweeper:
        """What a sweeper's process is given: of the shards without a row, one stands for all."""
        full = {*self.store.shards.values(), REVIEW_SHARD}
        empty = next((shard for shard in SHARDS if shard not in full), None)
        return Sweeper(
            shards=tuple(shard for shard in SHARDS if shard in full or shard == empty),
            store=self._store_of(process),
            queue=self._queue_of(process),
            clock=SimClock(process),
            timing=self.bug.timing or self.scenario.timing,
        )

    async def sweep_on_schedule(self) -> None:
        """A pass each minute, whether or not the last one has ended.

        Of passes in a row that find nothing due, with no write between them, the first stands for all.
        """
        quiet: list[object] = []
        while True:
            await asyncio.sleep(SWEEP_SECONDS)
            rows: list[object] = [*self.store.rows.values()]
            if not self.is_anything_due():
                if len(quiet) == len(rows) and all(map(is_, quiet, rows)):
                    continue
                quiet = rows
            process = self.process("sweep")
            self.keep(process.run(swept(self, process)))

    def is_anything_due(self) -> bool:
        """Whether a pass of any sweeper would find anything now, whatever its clock says."""
        soon = wall(self.loop.time() + 2 * self.scenario.skew_seconds)
        return any(row.due is not None and row.due <= soon for row in self.store.rows.values())

    def start_api(self, deed: Deed, kind: str = "api") -> asyncio.Task[Heard | Died]:
        """One API invocation, or an operator's command; it goes on even if its client has stopped waiting."""
        process = self.process(kind)
        return self.keep(process.run(deed(self.intake(process))))

    async def work(self, batch: Sequence[Message]) -> Answer | Died:
        """One worker invocation over a batch, killed at the function's timeout."""
        process = self.process("worker")
        killer = self.loop.call_later(FUNCTION_SECONDS, process.crash)
        try:
            return await process.run(worked(self, process, event_of(batch)))
        finally:
            killer.cancel()
            self.ended.set()

    @property
    def is_idle(self) -> bool:
        """Whether no process is alive and no message is left."""
        return not self._tasks and self.events.is_idle and self.queue.next_visible_at is None

    async def until_idle(self) -> None:
        """Wait for processes that were frozen, for messages that will be acknowledged, and for what arrives late."""
        await asyncio.gather(*self.counter.late)
        while not self.is_idle:
            self.ended.clear()
            await self.ended.wait()
            await asyncio.gather(*self.counter.late)  # a process that was frozen until now may have sent it

    def keep[T](self, work: Coroutine[Any, Any, T]) -> asyncio.Task[T]:
        """A task of the world's own, looked at when it ends, also if nobody waits for it any more."""
        task = self.loop.create_task(work)
        self._tasks.add(task)

        def drop(done: asyncio.Task[T]) -> None:
            self._tasks.discard(done)
            self.ended.set()
            error = None if done.cancelled() else done.exception()
            if error is not None:
                self.errors.append(error)

        task.add_done_callback(drop)
        return task

    def _store_of(self, process: Process) -> Store:
        """The tables as a process reaches them: by the real SDK, or by a port in memory."""
        own = self.store.seen_by(process, SimIds(process, f"sdk/{self.seed}"), self._tell)
        return own or self._guarded(self.bug.store(self.store), "store", process)

    def _queue_of(self, process: Process) -> Queue:
        """The queues as a process reaches them."""
        own = self.store.queue_seen_by(process, self.queue, self._tell)
        return own or self._guarded(self.bug.queue(self.queue), "queue", process)

    def _guarded[P](self, port: P, name: str, process: Process) -> P:
        return guarded(port, name, process, FREEZE_SECONDS, self._tell)

    def _tell(self, process: Process, name: str) -> None:
        for watch in self.watch:
            watch(process, name)
