"""The audit: books that agree with their jobs are found to, and a planted micro-dollar is found anywhere."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass, replace
from datetime import timedelta
from typing import Any

import pytest

from onceward.adapters.dynamodb.store import DynamoStore
from onceward.adapters.memory.store import MemoryStore
from onceward.adapters.system import SystemIds, ThreadRunner
from onceward.domain.auditing import Audit
from onceward.domain.ending import Verdict, settle_ops
from onceward.domain.granting import grant_entry
from onceward.domain.job import Job
from onceward.domain.ledger import AccountChange, Entry, Verb, reserve
from onceward.domain.names import JobId, RunToken
from onceward.domain.states import JobState
from onceward.domain.timing import JOB_LIFE
from onceward.domain.transaction import AddEntry, Applied, ChangeAccount, CreateRow
from onceward.errors import StoreBusy
from onceward.local.cloud import LocalCloud
from onceward.usecases.ports import Store
from onceward.usecases.verify_account import verify_account
from tests.contract.job_store.stories import a_numbered_job, a_token, ask
from tests.support.builders import NOW, TENANT, a_running_job
from tests.support.emulators import dynamodb_at, make_tables
from tests.support.fakes import FakeClock

TOKEN = RunToken("A" * 26)
HELD, CHARGED, GRANTED = 400, 300, 10_000
ONE = AccountChange(tenant_id=TENANT)


@contextmanager
def memory(_: LocalCloud) -> Iterator[Store]:
    """The store that users' tests are given."""
    yield MemoryStore()


@contextmanager
def on_ministack(cloud: LocalCloud) -> Iterator[Store]:
    """The tables' own adapter on the emulator."""
    client = dynamodb_at(cloud.endpoint_url)
    with ThreadRunner(4) as threads:
        yield DynamoStore(client, make_tables(client), threads, FakeClock(), SystemIds())


@dataclass(frozen=True)
class Plant:
    """A mistake in the books of otherwise good writes."""

    name: str
    held_entry: int = HELD
    end_entry: int = CHARGED
    row_reserved: int = HELD
    row_charge: int = CHARGED
    moved: AccountChange = ONE


PLANTS = (
    Plant("a reservation's entry", held_entry=HELD + 1),
    Plant("a capture's entry", end_entry=CHARGED + 1),
    Plant("what a row reserved", row_reserved=HELD - 1),
    Plant("what a row charges", row_charge=CHARGED - 1),
    Plant("what the account has available", moved=replace(ONE, available=1)),
    Plant("what it holds", moved=replace(ONE, reserved=1)),
    Plant("what it captured", moved=replace(ONE, captured=1)),
    Plant("its count of jobs in flight", moved=replace(ONE, in_flight=1)),
)


def write(store: Store, *ops: Any) -> None:
    """One transaction that must hold."""
    assert ask(store.transact(ops, a_token())) == Applied()


def an_entry(job: Job, verb: Verb, amount: int) -> AddEntry:
    """A line of the job's present epoch."""
    return AddEntry(Entry(tenant_id=TENANT, job_id=job.job_id, epoch=job.epoch, verb=verb, micro_usd=amount, at=NOW))


def begin(store: Store, number: int, plant: Plant = Plant("none")) -> Job:
    """A running job that has reserved."""
    job = a_running_job(
        job_id=a_numbered_job(number).job_id, reserved_micro_usd=plant.row_reserved, in_flight=True, run_token=TOKEN
    )
    held = ChangeAccount(reserve(TENANT, HELD))
    write(store, CreateRow(job, NOW), held, an_entry(job, Verb.RESERVE, plant.held_entry))
    return job


def a_book(store: Store, plant: Plant = Plant("none")) -> None:
    """A grant; a job that goes on, one that succeeded and one that failed; then the plant's move of the account."""
    ask(store.grant(TENANT, GRANTED, grant_entry(TENANT, "first", GRANTED, NOW)))
    begin(store, 1)
    row, change, _ = settle_ops(
        begin(store, 2, plant), TOKEN, Verdict(state=JobState.SUCCEEDED, charge_micro_usd=plant.row_charge), NOW
    )
    assert isinstance(change, ChangeAccount)
    moved = AccountChange(tenant_id=TENANT, available=HELD - CHARGED, reserved=-HELD, captured=CHARGED, in_flight=-1)
    write(store, row, ChangeAccount(moved), an_entry(a_numbered_job(2), Verb.CAPTURE, plant.end_entry))
    write(store, *settle_ops(begin(store, 3), TOKEN, Verdict(state=JobState.FAILED, error_code="x"), NOW))
    if plant.moved != ONE:
        write(store, ChangeAccount(plant.moved))


def verified(store: Store) -> Audit:
    """What the audit says."""
    return ask(verify_account(store, FakeClock(), TENANT))


STORES: dict[str, Callable[[LocalCloud], Any]] = {"memory": memory, "ministack": on_ministack}


@pytest.mark.parametrize("kind", STORES)
def test_true_books_agree_to_the_micro_dollar(kind: str, ministack: LocalCloud) -> None:
    """Open, captured and released, with an account's every part."""
    with STORES[kind](ministack) as store:
        a_book(store)
        done = verified(store)

    assert done == Audit(findings=(), jobs=3, entries=6, past_retention=0)


@pytest.mark.failure_mode("F68")
@pytest.mark.parametrize("plant", PLANTS, ids=lambda plant: plant.name)
@pytest.mark.parametrize("kind", STORES)
def test_one_micro_dollar_is_found_wherever_it_was_planted(kind: str, plant: Plant, ministack: LocalCloud) -> None:
    """In an entry, in a row, in a part of the account; each finding says what was expected and what was found."""
    with STORES[kind](ministack) as store:
        a_book(store, plant)
        findings = verified(store).findings

    assert findings
    assert all(one.expected != one.found for one in findings)


def test_entry_without_a_job_is_found_until_the_job_would_have_expired() -> None:
    """A lost row is a finding; one that its retention has removed is checked by its entries alone."""
    store = MemoryStore()
    a_book(store)
    lost = a_numbered_job(2)
    del store.rows[TENANT, lost.identity]
    clock = FakeClock()

    assert any(lost.job_id in one.where for one in verified(store).findings)
    clock.move(JOB_LIFE + timedelta(days=1))
    done = ask(verify_account(store, clock, TENANT))
    assert (done.findings, done.past_retention) == ((), 1)


def test_epoch_that_gave_back_less_than_it_held_is_found() -> None:
    """A redriven job's first epoch; and an entry of an epoch that the job has not come to."""
    store = MemoryStore()
    a_book(store)
    job = store.rows[TENANT, a_numbered_job(1).identity]
    store.rows[TENANT, job.identity] = replace(job, epoch=2)
    ask(store.transact([an_entry(replace(job, epoch=1), Verb.RELEASE, HELD - 1)], "release"))
    ask(store.transact([an_entry(replace(job, epoch=2), Verb.RESERVE, HELD)], "reserve"))
    ask(store.transact([an_entry(replace(job, epoch=3), Verb.CAPTURE, 1)], "capture"))
    places = [one.where for one in verified(store).findings]

    assert places == [f"{job.job_id}#1", f"{job.job_id}#3"]


def test_books_without_an_account_are_those_of_an_unlimited_tenant() -> None:
    """Captures are entered all the same; money that is held without an account is not."""
    store = MemoryStore()
    job = a_running_job(job_id=a_numbered_job(1).job_id, run_token=TOKEN)
    write(store, CreateRow(job, NOW))
    write(store, *settle_ops(job, TOKEN, Verdict(state=JobState.SUCCEEDED, charge_micro_usd=7), NOW))

    assert verified(store).findings == ()
    store.rows[TENANT, job.identity] = replace(store.rows[TENANT, job.identity], reserved_micro_usd=7)
    assert "account" in [one.where for one in verified(store).findings]


def test_books_that_never_rest_are_no_finding() -> None:
    """What was read between two moves is not compared; the operator is told to ask again."""

    class Busy(MemoryStore):
        """Writes a line between any two readings."""

        async def list_entries(self, tenant_id: Any, prefix: str) -> tuple[Entry, ...]:
            entries = await super().list_entries(tenant_id, prefix)
            one = an_entry(a_running_job(job_id=JobId(f"{len(self.entries):026d}-ABCDEFGH")), Verb.CAPTURE, 1)
            self.entries[TENANT, one.entry.name] = one.entry
            return entries

    with pytest.raises(StoreBusy):
        verified(Busy())
