"""The ledger under any interleaving: create, claim, crash, settle, cancel, redrive, resolve, erase, grant, limit.

The real stories over memory. After each step every account adds up and nothing in it is negative (invariant 7), and the
audit, which knows the jobs alone, agrees to the micro-dollar. A crash is an exception that no story catches, before or
after the effect of a drawn call of the store; from then on that process reaches no store any more.

Interleavings drawn blindly come to little: a job must be exhausted before it is redriven, and lie in review before it
is resolved. So most steps choose among the jobs that they can move, and what the steps came to is counted: a run that
never redrove, never resolved or never died fails.
"""

from __future__ import annotations

import asyncio
import base64
import hashlib
from collections import Counter
from collections.abc import Callable
from dataclasses import replace
from datetime import timedelta
from typing import Any, ClassVar

import pytest
from hypothesis import HealthCheck, seed, settings
from hypothesis import strategies as st
from hypothesis.stateful import (
    RuleBasedStateMachine,
    initialize,
    invariant,
    rule,
    run_state_machine_as_test,
)

from onceward.domain.auditing import Audit
from onceward.domain.granting import grant_entry
from onceward.domain.job import Job
from onceward.domain.names import Fingerprint, Identity, TenantId
from onceward.domain.states import JobState, Resolution
from onceward.domain.sweep import is_exhausted
from onceward.errors import OncewardError
from onceward.usecases.cancel_job import cancel_job
from onceward.usecases.erase_job import Eraser, erase_job
from onceward.usecases.resolve_job import Verdict, resolve_job
from onceward.usecases.run_job import Delivery, run_job
from onceward.usecases.submit_job import Submission, submit_job
from onceward.usecases.verify_account import verify_account
from tests.support.ledger_world import (
    ACTS,
    FATES,
    FAULTS,
    KINDS,
    MOST,
    RARELY,
    REACHES,
    WHICH,
    Crash,
    Fragile,
    LedgerWorld,
    came_to,
)

TENANTS = (TenantId("acme"), TenantId("globex"))  # the first is limited, the second is not until something is granted


class LedgerMachine(RuleBasedStateMachine):
    """One deployment and what people and processes do to it."""

    reached: ClassVar[Counter[str]] = Counter()  # what the steps of all examples came to

    def __init__(self) -> None:
        """Nothing was ever created."""
        super().__init__()
        self.world = LedgerWorld()
        self.clock, self.store, self.queue = self.world.clock, self.world.store, self.world.queue
        self.made = 0
        self.calm = asyncio.Runner()  # for what never dies: a loop of its own would take longer than an audit

    def teardown(self) -> None:
        """Close the loop."""
        self.calm.close()

    @initialize(
        micro_usd=st.integers(4 * MOST, 9 * MOST),
        fates=st.lists(st.sampled_from([None, *FATES, "busy", "lost"]), min_size=6, max_size=6),
    )
    def begin(self, micro_usd: int, fates: list[str | None]) -> None:
        """The first tenant has an account from the beginning; jobs of all tariffs are there, and have had a fate."""
        self._grant(TENANTS[0], micro_usd)
        for place, fate in enumerate(fates):
            tenant, key = TENANTS[place // len(KINDS)], place % len(KINDS)
            self._create(tenant, key, KINDS[key], 1 + key % 2, (None, 0))
            if fate is not None:
                self._work_to_the_end(list(self.store.rows.values())[-1], fate)

    @rule(tenant=st.sampled_from(TENANTS), micro_usd=st.integers(0, 3 * MOST))
    def grant(self, tenant: TenantId, micro_usd: int) -> None:
        """An account is added to, or opened beside jobs that are under way."""
        self._grant(tenant, micro_usd)

    @rule(tenant=st.sampled_from(TENANTS), most=st.one_of(st.none(), st.integers(0, 6)))
    def limit(self, tenant: TenantId, most: int | None) -> None:
        """The limit of jobs in flight changes."""
        self.calm.run(self.store.limit_account(tenant, most))

    @rule(tenant=st.sampled_from(TENANTS), key=st.integers(0, 7), other=st.integers(0, 5), fault=FAULTS)
    def create(self, tenant: TenantId, key: int, other: int, fault: tuple[str | None, int]) -> None:
        """A client asks, for the first time, again, or for something else under a used key; it may hear nothing."""
        asked = key if other else key + 1
        self._create(tenant, key, KINDS[asked % len(KINDS)], 1 + asked % 2, fault)

    def _create(self, tenant: TenantId, key: int, kind: str, steps: int, fault: tuple[str | None, int]) -> None:
        """One request."""
        digest = hashlib.sha256(f"{tenant}/{key}".encode()).digest()
        wish = Submission(
            tenant_id=tenant,
            identity=Identity(base64.b32encode(digest).decode()[:26]),
            fingerprint=Fingerprint(hashlib.sha256(f"{kind}/{steps}".encode()).hexdigest()),
            kind=kind,
            input={"steps": steps},
            created_by="client",
        )
        self._run("create", submit_job(self.world.intake(fault), wish))

    @rule(which=WHICH, act=st.sampled_from(sorted(ACTS)), then=st.sampled_from(sorted(ACTS)), fault=FAULTS)
    def work(self, which: tuple[int, bool], act: str, then: str, fault: tuple[str | None, int]) -> None:
        """A message is delivered: claim, recover, call, settle, and a death anywhere in it."""
        self.clock.move(timedelta(seconds=20))  # longer than any wait for a retry: deliveries come to something
        job = self._job(which, is_open)
        if job is not None:
            self._run("work", run_job(self.world.deps(fault, act, then), self._delivery(job), may_take_over=True))

    @rule(which=WHICH, fate=st.sampled_from(FATES))
    def work_to_the_end(self, which: tuple[int, bool], fate: str) -> None:
        """Deliveries without a death, until nothing more comes of them: a result, exhaustion, a review, a failure."""
        job = self._job(which, is_open)
        if job is not None:
            self._work_to_the_end(job, fate)

    def _work_to_the_end(self, job: Job, fate: str) -> None:
        """Every call of its runs comes to the same."""
        for _ in range(4):
            self.clock.move(timedelta(seconds=70))
            story = run_job(self.world.deps((None, 0), fate, fate), self._delivery(job), may_take_over=True)
            self._run("work", story)

    @rule(which=WHICH, fault=FAULTS)
    def cancel(self, which: tuple[int, bool], fault: tuple[str | None, int]) -> None:
        """Its client changes its mind."""
        job = self._job(which, is_open)
        if job is not None:
            store: Any = Fragile(self.store, *fault)
            self._run(
                "cancel",
                cancel_job(store, self.queue, self.clock, self.world.ids, tenant_id=job.tenant_id, job_id=job.job_id),
            )

    @rule(which=WHICH, late=st.integers(0, 1), fault=FAULTS)
    def redrive(self, which: tuple[int, bool], late: int, fault: tuple[str | None, int]) -> None:
        """A dead letter comes back, of this epoch or of an earlier one."""
        job = self._job(which, is_exhausted)
        if job is not None:
            delivery = replace(self._delivery(job), letter_epoch=max(job.epoch - late, 1))
            story = run_job(self.world.deps(fault, "answer", "answer"), delivery, may_take_over=True)
            self._run("redrive", story)

    @rule(which=WHICH, resolution=st.sampled_from(sorted(Resolution)), fault=FAULTS)
    def resolve(self, which: tuple[int, bool], resolution: Resolution, fault: tuple[str | None, int]) -> None:
        """A person decides a review, or asks in vain."""
        job = self._job(which, lambda job: job.is_in_review)
        if job is not None:
            verdict = Verdict(
                tenant_id=job.tenant_id,
                job_id=job.job_id,
                resolution=resolution,
                epoch=job.epoch,
                by="operator",
                why="asked the provider",
                result={"text": "by hand"} if resolution is Resolution.ACCEPT else None,
                may_pay_twice=True,
            )
            self._run("resolve", resolve_job(self.world.intake(fault), verdict))

    @rule(which=WHICH, fault=FAULTS)
    def erase(self, which: tuple[int, bool], fault: tuple[str | None, int]) -> None:
        """Its content goes; its row and its entries stay."""
        job = self._job(which, lambda job: job.state.is_terminal)
        if job is not None:
            store: Any = Fragile(self.store, *fault)
            ports = Eraser(store=store, blob=self.world.blob, clock=self.clock, ids=self.world.ids)
            self._run("erase", erase_job(ports, tenant_id=job.tenant_id, job_id=job.job_id))

    @rule(seconds=st.sampled_from([1, 70, 70, 700, 700, 700, 90_000, 40 * 86_400]))
    def wait(self, seconds: int) -> None:
        """Time passes: leases end, deadlines and reviews run out."""
        self.clock.move(timedelta(seconds=seconds))

    @invariant()
    def books_agree(self) -> None:
        """Invariant 7, and the audit."""
        for tenant, done in self.calm.run(self._audits()).items():
            assert done.findings == (), "\n".join(map(str, done.findings))
            account = self.store.accounts.get(tenant)
            if account is not None:
                parts = (account.available, account.reserved, account.captured)
                assert sum(parts) == account.granted
                assert min(*parts, account.in_flight) >= 0

    async def _audits(self) -> dict[TenantId, Audit]:
        """Of both accounts."""
        return {tenant: await verify_account(self.store, self.clock, tenant) for tenant in TENANTS}

    @invariant()
    def charges_are_held_first_and_only_for_results(self) -> None:
        """A failed job never charges; a charge is at most what was held, and never more than the tariff's maximum."""
        for job in self.store.rows.values():
            assert (job.charge_micro_usd is not None) == (job.state is JobState.SUCCEEDED)
            if job.charge_micro_usd is not None:
                assert 0 <= job.charge_micro_usd <= (MOST if job.reserved_micro_usd is None else job.reserved_micro_usd)

    def _grant(self, tenant: TenantId, micro_usd: int) -> None:
        """One more grant."""
        self.made += 1
        entry = grant_entry(tenant, f"grant-{self.made}", micro_usd, self.clock.now())
        self.calm.run(self.store.grant(tenant, micro_usd, entry))

    def _job(self, which: tuple[int, bool], fits: Callable[[Job], bool]) -> Job | None:
        """One of the jobs that are there, or of those that the step can move."""
        number, is_of_fitting = which
        jobs = [job for job in self.store.rows.values() if fits(job) or not is_of_fitting]
        return jobs[number % len(jobs)] if jobs else None

    def _delivery(self, job: Job | None) -> Delivery:
        """A message of the job, as the worker is handed it."""
        assert job is not None
        self.queue.put("{}")
        return Delivery(
            tenant_id=job.tenant_id,
            job_id=job.job_id,
            receipt=self.queue.receive()[-1].receipt,
            receive_count=1,
            invocation_ends=self.clock.monotonic() + 900,
        )

    def _run(self, step: str, story: Any) -> None:
        """A process of its own: it ends well, is refused, or dies; what it came to is counted."""
        before = replace(self.store, rows=dict(self.store.rows), entries=dict(self.store.entries))
        end: object = None
        try:
            end = asyncio.run(story)
        except (OncewardError, Crash) as error:
            end = error
        self.reached.update(f"{step} {what}" for what in came_to(before, self.store, end))


def is_open(job: Job) -> bool:
    """Whether a step may still move it."""
    return not job.state.is_terminal


def come_to(examples: int, number: int | None = None) -> set[str]:
    """Try so many interleavings of fifty steps each; what they came to, all together. The same ones for a number."""
    LedgerMachine.reached = Counter()
    tried = settings(
        max_examples=examples,
        stateful_step_count=50,
        database=None,
        deadline=None,
        suppress_health_check=list(HealthCheck),
    )
    run_state_machine_as_test(LedgerMachine if number is None else seed(number)(LedgerMachine), settings=tried)
    return set(LedgerMachine.reached)


@pytest.mark.invariant(7)
def test_any_interleaving_keeps_the_books() -> None:
    """Sixty at least; together they have created, claimed, died, settled, redriven, resolved and erased.

    What is drawn depends on the constants of all modules that are loaded, so that rare steps may need some more.
    """
    missing = set(REACHES)
    for number in range(6):
        missing -= come_to(60, number)
        if not missing:
            break
    assert sorted(missing) == []


@pytest.mark.thorough
@pytest.mark.timeout(3_600)
def test_any_of_a_thousand_interleavings_keeps_the_books() -> None:
    """Others each time, with a death in every step."""
    assert sorted((REACHES | RARELY) - come_to(1_000)) == []
