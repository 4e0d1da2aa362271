"""A worker's world in memory: one job of one kind, a fake provider, a clock that is moved by hand."""

from __future__ import annotations

import asyncio
from dataclasses import replace
from datetime import timedelta
from typing import Any

from pydantic import BaseModel

from onceward.adapters.memory.blob import MemoryBlob
from onceward.adapters.memory.queue import MemoryQueue
from onceward.adapters.memory.store import MemoryStore
from onceward.domain.claim import Claim, Claimant, claim_change
from onceward.domain.conditions import KindLimit
from onceward.domain.job import Job
from onceward.domain.ledger import Account
from onceward.domain.names import RunToken, identity_of
from onceward.domain.policy import KindPolicy
from onceward.domain.records import Input
from onceward.domain.states import AttemptOutcome
from onceward.domain.timing import Timing
from onceward.domain.transaction import CreateRow, PutCold
from onceward.usecases.context import Context
from onceward.usecases.deps import Deps
from onceward.usecases.http_target import HttpTarget
from onceward.usecases.ports import Ids, Store
from onceward.usecases.registry import Registry
from onceward.usecases.run_job import Delivery, RunReport, run_job
from onceward.usecases.stored_input import StoredInput
from onceward.usecases.switches import Switches
from tests.support.builders import JOB_ID, TENANT, a_job, a_policy, seconds
from tests.support.fakes import FakeClock, FakeIds, FakeProvider, FakeSpawn


class Ask(BaseModel):
    """The input: names of the steps to ask, one after the other."""

    steps: list[str] = ["generate"]


class Said(BaseModel):
    """The output: what the last step said."""

    text: str


async def ask_all(context: Context, given: Ask) -> Said:
    """A kind that asks its steps in turn."""
    text = "{}"
    for step in given.steps:
        text = (await context.model.generate(step, [("user", step)], answer=Said)).text
    return Said.model_validate_json(text)


class WorkerWorld:
    """Everything a delivery needs, and the row to look at afterwards."""

    def __init__(self, run: Any = ask_all, *, policy: KindPolicy | None = None, timing: Timing | None = None) -> None:
        """One kind, ``text.generate``, whose code is ``run``."""
        self.clock = FakeClock()
        self.store = MemoryStore()
        self.timing = timing or Timing()
        self.queue = MemoryQueue(self.clock, visibility=timedelta(minutes=90), max_receive_count=50)
        self.blob = MemoryBlob(self.clock)
        self.provider = FakeProvider()
        self.http: dict[str, HttpTarget] = {}
        self.spawn = FakeSpawn()
        self.ids: Ids = FakeIds()
        self.registry = Registry()
        self.policy = policy or a_policy()
        self.registry.kind(policy=self.policy, input_model=Ask, output_model=Said)(run)

    def deps(self, store: Store | None = None) -> Deps:
        """The ports; ``store`` may be a wrapper of the test's."""
        return Deps(
            store=store or self.store,
            queue=self.queue,
            blob=self.blob,
            provider=self.provider,
            http=self.http,
            clock=self.clock,
            ids=self.ids,
            spawn=self.spawn,
            registry=self.registry,
            timing=self.timing,
            call_slots=asyncio.Semaphore(10),
            child_slots=asyncio.Semaphore(1),
            max_receive_count=50,
            switches=Switches(store or self.store, self.clock),
        )

    async def create(self, *, steps: list[str] | None = None, **fields: Any) -> Job:
        """Put a job, its input, and, if it reserves, an account that holds that much."""
        job = a_job(**fields)
        body = StoredInput(input={"steps": [*(steps or ["generate"])]}).model_dump_json()
        given = Input(tenant_id=TENANT, job_id=job.job_id, body=body)
        ops = (CreateRow(job, self.clock.now()), PutCold(given, job.expires_at))
        await self.store.transact(ops, f"create {job.job_id}")
        held = job.reserved_micro_usd
        if held is not None:
            self.store.accounts[TENANT] = Account(
                tenant_id=TENANT, granted=held, available=0, reserved=held, captured=0
            )
        return job

    async def lose_a_run(self, **fields: Any) -> None:
        """A worker starts an attempt, gets as far as ``fields`` says, and dies; its lease runs out."""
        limit = KindLimit(self.policy.name, self.policy.version, self.policy.retry.max_attempts)
        token = RunToken(self.ids.token())
        who = Claimant(job_id=JOB_ID, token=token, limits=(limit,), now=self.clock.now(), timing=self.timing)
        await self.store.update_job(TENANT, JOB_ID, claim_change(Claim.START, who))
        self.overwrite(**fields)
        self.clock.move(self.timing.lease + self.timing.skew_allowance + seconds(1))

    def overwrite(self, **fields: Any) -> None:
        """Put the row into a state by hand."""
        self.store.rows[TENANT, identity_of(JOB_ID)] = replace(self.row, **fields)

    async def deliver(
        self,
        *,
        receive_count: int = 1,
        seconds_left: float = 900,
        may_take_over: bool = True,
        store: Store | None = None,
        letter_epoch: int | None = None,
    ) -> RunReport:
        """Deliver a message for the job once: a wake-up, or its redriven dead letter of an epoch."""
        self.queue.put("{}")
        receipt = self.queue.receive()[-1].receipt
        delivery = Delivery(
            tenant_id=TENANT,
            job_id=JOB_ID,
            receipt=receipt,
            receive_count=receive_count,
            invocation_ends=self.clock.monotonic() + seconds_left,
            letter_epoch=letter_epoch,
        )
        return await run_job(self.deps(store), delivery, may_take_over=may_take_over)

    @property
    def row(self) -> Job:
        """The job's row as it is now."""
        return self.store.rows[TENANT, identity_of(JOB_ID)]

    @property
    def items(self) -> dict[str, Any]:
        """The job's cold items by their places."""
        return dict(self.store.items[TENANT, JOB_ID])

    @property
    def past_outcomes(self) -> list[AttemptOutcome | None]:
        """How the attempts ended that the row has moved on from, oldest first."""
        return [item.attempt.outcome for place, item in sorted(self.items.items()) if place.startswith("attempt#")]

    @property
    def account(self) -> Account:
        """The tenant's account."""
        return self.store.accounts[TENANT]
