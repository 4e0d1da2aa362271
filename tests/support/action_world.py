"""An agent's world in memory: the API, a worker that runs when a test says so, and a target that is the witness."""

from __future__ import annotations

import asyncio
import json
from datetime import timedelta
from typing import Any
from urllib.parse import quote

from onceward.domain.job import Job
from onceward.domain.names import JobId, identity_of
from onceward.domain.timing import Timing
from onceward.usecases.deps import Deps
from onceward.usecases.run_job import Delivery, RunReport, run_job
from onceward.usecases.switches import Switches
from onceward.wire.messages import DeadLetterBody, WakeupBody, parse_message
from tests.support.actions import FakeTarget, Task, an_action, declared
from tests.support.api_world import ApiWorld, FakeContext, Reply, a_registry, an_event, ask, claims_of
from tests.support.builders import TENANT
from tests.support.fakes import FakeProvider, FakeSpawn

OPERATION = "ticket-481:create-task:v1"
ARGUMENTS = {"source_ticket": "481", "title": "Check"}


class ActionWorld:
    """One action of one promise; the agent asks through the API, ``work`` delivers what is in the queue."""

    def __init__(self, promise: str = "header", **fields: Any) -> None:
        """``fields`` are the action's."""
        self.action = an_action(promise, "create_task", **fields)
        self.target = FakeTarget(promise, "create_task")
        self.world = ApiWorld(registry=declared(a_registry(), self.action))
        self.timing = Timing()
        self.api = self.world.api()

    def post(
        self,
        operation_id: str | None = OPERATION,
        arguments: dict[str, Any] | None = None,
        *,
        key: str | None = None,
        prefer: str | None = None,
        scope: str = "onceward/actions:create_task",
        tenant: str = "acme",
        action: str = "create_task",
        **more: Any,
    ) -> Reply:
        """Ask for the action."""
        headers = {} if key is None else {"idempotency-key": key}
        headers |= {} if prefer is None else {"prefer": prefer}
        body = {"action": action, "arguments": ARGUMENTS if arguments is None else arguments, **more}
        body |= {} if operation_id is None else {"operation_id": operation_id}
        claims = claims_of(tenant, scope)
        event = an_event("POST", "/agent-actions", body=json.dumps(body), headers=headers, claims=claims)
        return ask(self.api, event, FakeContext())

    def get(self, operation_id: str = OPERATION, *, scope: str = "actions:create_task", tenant: str = "acme") -> Reply:
        """Read the operation."""
        path = f"/agent-actions/{quote(operation_id, safe='')}"
        return ask(self.api, an_event("GET", path, claims=claims_of(tenant, scope)))

    def listed(self, run_id: str, query: str = "", **claims: str) -> Reply:
        """List a run."""
        told = claims_of(**{"scope": "actions:create_task", **claims})
        return ask(self.api, an_event("GET", "/agent-actions", query=f"run_id={run_id}{query}", claims=told))

    def say(self, word: str, operation_id: str = OPERATION, *, scope: str = "ops", **body: Any) -> Reply:
        """Approve or reset."""
        path = f"/agent-actions/{quote(operation_id, safe='')}/{word}"
        return ask(self.api, an_event("POST", path, body=json.dumps(body), claims=claims_of(scope=scope)))

    def deps(self) -> Deps:
        """The worker's world over the same store."""
        world = self.world
        return Deps(
            store=world.store,
            queue=world.queue,
            blob=world.blob,
            provider=FakeProvider(),
            clock=world.clock,
            ids=world.ids,
            spawn=FakeSpawn(),
            registry=world.registry,
            timing=self.timing,
            call_slots=asyncio.Semaphore(10),
            child_slots=asyncio.Semaphore(1),
            max_receive_count=50,
            switches=Switches(world.store, world.clock),
            http={self.target.name: self.target},
        )

    def work(self) -> list[RunReport]:
        """Deliver everything that is visible now."""
        reports = []
        while batch := self.world.queue.receive(10):
            for message in batch:
                body = parse_message(message.body)
                assert isinstance(body, WakeupBody)  # as a dead letter is, which also says its epoch
                delivery = Delivery(
                    tenant_id=body.tenant_id,
                    job_id=body.job_id,
                    receipt=message.receipt,
                    receive_count=message.receive_count,
                    invocation_ends=self.world.clock.monotonic() + 900,
                    letter_epoch=body.epoch if isinstance(body, DeadLetterBody) else None,
                )
                reports.append(asyncio.run(run_job(self.deps(), delivery, may_take_over=True)))
        return reports

    def rest(self, rounds: int = 8) -> Job:
        """Let time pass and deliver until the operation has come to rest."""
        for _ in range(rounds):
            self.work()
            job = self.row
            if job.state.is_terminal or job.state == "needs_review":
                return job
            self.world.clock.move(timedelta(minutes=1))
            self.deliver(job.job_id)
        return self.row

    def deliver(self, job_id: JobId) -> None:
        """A wake-up, as the sweeper sends it."""
        self.world.queue.put(WakeupBody(tenant_id=TENANT, job_id=job_id).model_dump_json())

    @property
    def row(self) -> Job:
        """The one operation's row."""
        return next(iter(self.world.store.rows.values()))

    @property
    def effects(self) -> int:
        """What the witness saw."""
        return len(self.target.effects)


__all__ = ["ARGUMENTS", "OPERATION", "ActionWorld", "Task", "identity_of"]
