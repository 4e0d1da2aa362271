"""Many jobs of one kind that coalesces, over memory: equal questions under different keys, delivered by hand."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

from onceward.domain.coalescing import CoalesceBy, FlightLimits
from onceward.domain.job import Job
from onceward.domain.ledger import Account
from onceward.domain.names import CreateToken, JobId, TenantId, identity_of
from onceward.domain.policy import KindPolicy
from onceward.domain.records import Input
from onceward.domain.transaction import CreateRow, PutCold
from onceward.usecases.cancel_job import cancel_job
from onceward.usecases.deps import Deps
from onceward.usecases.http_target import HttpTarget
from onceward.usecases.ports import Store
from onceward.usecases.run_delivery import run_delivery
from onceward.usecases.run_job import Delivery, RunReport
from onceward.usecases.stored_input import StoredDocument, StoredInput
from onceward.usecases.submit_job import Intake
from tests.support.builders import TENANT, a_job, a_policy
from tests.support.worker_world import WorkerWorld, ask_all

BY = CoalesceBy(instructions="Answer.")


def numbered(number: int) -> JobId:
    """One of many job ids."""
    letters = f"{number:026d}".translate(str.maketrans("0123456789", "ABCDEFGHIJ"))
    return JobId(f"{letters}-ABCDEFGH")


class FlightWorld(WorkerWorld):
    """A worker's world in which jobs are told apart by their numbers."""

    def __init__(
        self, run: Any = ask_all, *, by: CoalesceBy | None = BY, limits: FlightLimits | None = None, **of: Any
    ) -> None:
        """``of``: other rules of the kind."""
        policy: KindPolicy = a_policy(coalesce=by, **of)
        super().__init__(run, policy=policy)
        self.limits = limits or FlightLimits()
        self.http: dict[str, HttpTarget] = {}

    def deps(self, store: Store | None = None) -> Deps:
        """The ports, with the limits of this world."""
        return replace(super().deps(store), flight_limits=self.limits, http=self.http)

    async def ask(
        self,
        number: int,
        *,
        steps: tuple[str, ...] = ("generate",),
        tenant: TenantId = TENANT,
        coalesce: bool = True,
        documents: dict[str, StoredDocument] | None = None,
        note: str | None = None,
        **fields: Any,
    ) -> JobId:
        """Put a job and its input; a reservation is added to its tenant's account. The kind leaves the note alone."""
        job_id = numbered(number)
        job = a_job(job_id=job_id, tenant_id=tenant, create_token=CreateToken(f"{number:026d}"), **fields)
        noted = {} if note is None else {"note": note}
        stored = StoredInput(input={"steps": [*steps], **noted}, documents=documents or {}, coalesce=coalesce)
        given = Input(tenant_id=tenant, job_id=job_id, body=stored.model_dump_json())
        await self.store.transact(
            (CreateRow(job, self.clock.now()), PutCold(given, job.expires_at)), f"create-{number}"
        )
        held = job.reserved_micro_usd
        if held is not None:
            nothing = Account(tenant_id=tenant, granted=0, available=0, reserved=0, captured=0)
            known = self.store.accounts.get(tenant, nothing)
            more = replace(known, granted=known.granted + held, reserved=known.reserved + held)
            self.store.accounts[tenant] = more
        return job_id

    async def give(
        self, job_id: JobId, *, tenant: TenantId = TENANT, may_take_over: bool = True, store: Store | None = None
    ) -> RunReport:
        """Deliver a message that names this job; ``store`` may be a wrapper of the test's."""
        self.queue.put("{}")
        delivery = Delivery(
            tenant_id=tenant,
            job_id=job_id,
            receipt=self.queue.receive()[-1].receipt,
            receive_count=1,
            invocation_ends=self.clock.monotonic() + 900,
        )
        return await run_delivery(self.deps(store), delivery, may_take_over=may_take_over)

    async def cancel(self, job_id: JobId) -> Job:
        """A client cancels."""
        return await cancel_job(self.store, self.queue, self.clock, self.ids, tenant_id=TENANT, job_id=job_id)

    def of(self, job_id: JobId, tenant: TenantId = TENANT) -> Job:
        """A job's row."""
        return self.store.rows[tenant, identity_of(job_id)]

    def put(self, row: Job, **fields: Any) -> None:
        """Put a row into a state by hand."""
        self.store.rows[row.tenant_id, row.identity] = replace(row, **fields)

    @property
    def flights(self) -> list[Job]:
        """All flights, the oldest first."""
        return [row for row in self.store.rows.values() if row.is_flight]

    @property
    def calls(self) -> int:
        """How often the provider was asked."""
        return len(self.provider.keys)


def intake_of(world: FlightWorld) -> Intake:
    """What a person's verdict is written through."""
    return Intake(
        store=world.store,
        blob=world.blob,
        queue=world.queue,
        clock=world.clock,
        ids=world.ids,
        registry=world.registry,
        timing=world.timing,
    )
