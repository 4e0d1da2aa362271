"""Cancel against claim, settle and retry, for real: two threads, one emulated DynamoDB, two hundred times each.

Both writes rest on the same row, as each side read it; one is applied, the other refused, and whoever lost then does
what the code does next: the cancel is asked for again, the worker closes as it was told. However that goes, the job's
reservation is captured or released, once. Moto is not asked: its conditions are not atomic.
"""

from __future__ import annotations

import asyncio
from collections import Counter
from collections.abc import Callable, Iterator
from dataclasses import dataclass, replace
from datetime import timedelta

import pytest

from onceward.adapters.dynamodb.store import DynamoStore
from onceward.adapters.memory.queue import MemoryQueue
from onceward.adapters.system import SystemClock, SystemIds, ThreadRunner
from onceward.domain.cancelling import decide_cancel
from onceward.domain.claim import Claim, Claimant, claim_change
from onceward.domain.ending import Verdict, settle_ops, wait_change
from onceward.domain.job import Job
from onceward.domain.ledger import Account, Verb
from onceward.domain.states import JobState, WaitingFor
from onceward.domain.timing import Timing
from onceward.domain.transaction import Applied, Op, Refused, UpdateRow, WriteReply
from onceward.local.cloud import LocalCloud
from onceward.usecases.cancel_job import cancel_job
from onceward.usecases.ports import Store
from tests.contract.job_store.stories import LIMITS, a_numbered_job, a_token, ask, fund
from tests.contract.job_store.transactions import DONE, a_create
from tests.support.builders import NOW, TENANT, TOKEN, a_running_job, seconds
from tests.support.emulators import dynamodb_at, make_tables
from tests.support.fakes import FakeClock

HELD = 400  # micro-USD: more than a success costs, so that a capture and a release cannot be mixed up
STOPPED = Verdict(state=JobState.CANCELLED)


@dataclass(frozen=True, slots=True)
class Rival:
    """A worker's write that a cancel meets: on which row, where its numbers begin, and the attempts after it."""

    row: Callable[[int], Job]
    write: Callable[[Job], tuple[Op, ...]]
    first: int
    attempts: int
    ends: JobState = JobState.CANCELLED


def _running(number: int) -> Job:
    return a_running_job(job_id=a_numbered_job(number).job_id)


def _retrying(number: int) -> Job:
    waits = {"state": JobState.WAITING, "waiting_for": WaitingFor.RETRY, "wake_at": NOW, "attempts": 1}
    return a_numbered_job(number, **waits)


def _start(job: Job) -> tuple[Op, ...]:
    who = Claimant(job_id=job.job_id, token=TOKEN, limits=LIMITS, now=NOW, timing=Timing())
    return (UpdateRow(TENANT, job.job_id, claim_change(Claim.START, who)),)


def _settle(job: Job) -> tuple[Op, ...]:
    return settle_ops(job, TOKEN, DONE, NOW)


def _try_again(job: Job) -> tuple[Op, ...]:
    later = wait_change(job, TOKEN, NOW + seconds(5), WaitingFor.RETRY, Timing())
    return (UpdateRow(TENANT, job.job_id, later),)


RIVALS = {
    "claim": Rival(a_numbered_job, _start, 1_000, attempts=1),
    "settle": Rival(_running, _settle, 2_000, attempts=1, ends=JobState.SUCCEEDED),
    "retry": Rival(_running, _try_again, 3_000, attempts=1),
    "start of the retry": Rival(_retrying, _start, 4_000, attempts=2),
}


@pytest.fixture(scope="module")
def store(ministack: LocalCloud) -> Iterator[Store]:
    """New tables with one account in them, and as many threads as there are rivals."""
    client = dynamodb_at(ministack.endpoint_url)
    with ThreadRunner(4) as threads:
        made = DynamoStore(client, make_tables(client), threads, SystemClock(), SystemIds())
        fund(made, 1_000_000)
        yield made


async def race(store: Store, rival: Rival, number: int) -> str:
    """One job, both writes at once; who won, once the job has ended and the books were looked at."""
    before = await _account(store)
    job = replace(rival.row(number), reserved_micro_usd=HELD, in_flight=True)
    assert await store.transact(a_create(job, HELD), a_token()) == Applied()
    wanted = decide_cancel(job, NOW)
    assert wanted is not None
    writes = [_write(store, (wanted.row, *wanted.ledger)), _write(store, rival.write(job))]
    replies = await asyncio.gather(*(writes if number % 2 else reversed(writes)))
    cancel, other = replies if number % 2 else reversed(replies)
    assert {type(cancel), type(other)} == {Applied, Refused}, "one winner"
    has_won = isinstance(other, Applied)
    if has_won:  # the cancel is decided anew, from the row as it is now
        clock = FakeClock()
        queue = MemoryQueue(clock, visibility=timedelta(minutes=90), max_receive_count=50)
        await cancel_job(store, queue, clock, SystemIds(), tenant_id=TENANT, job_id=job.job_id)
    await _worker_closes(store, job)
    await _looked_at(store, job, before, rival if has_won else None)
    return "rival" if has_won else "cancel"


async def _write(store: Store, ops: tuple[Op, ...]) -> WriteReply:
    """A row alone is one plain write, as in the code; more than that is a transaction."""
    match ops:
        case (UpdateRow(tenant_id, job_id, change),):
            return await store.update_job(tenant_id, job_id, change)
        case _:
            return await store.transact(ops, a_token())


async def _worker_closes(store: Store, job: Job) -> None:
    """A run that was told to stop cannot succeed any more, and ends the job as it was told."""
    row = await store.get_job(TENANT, job.identity)
    assert row is not None
    if row.state is not JobState.RUNNING:
        return
    assert row.cancel_requested_at == NOW
    assert isinstance(await store.transact(settle_ops(row, TOKEN, DONE, NOW), a_token()), Refused)
    assert await store.transact(settle_ops(row, TOKEN, STOPPED, NOW), a_token()) == Applied()


async def _looked_at(store: Store, job: Job, before: Account, winner: Rival | None) -> None:
    """The end is the winner's, and the books follow it: what was held is captured or released, and nothing is left."""
    row = await store.get_job(TENANT, job.identity)
    assert row is not None
    is_paid = winner is not None and winner.ends is JobState.SUCCEEDED
    assert row.state is (JobState.SUCCEEDED if is_paid else JobState.CANCELLED)
    assert row.attempts == (job.attempts if winner is None else winner.attempts)
    assert (row.cancel_requested_at is None) == is_paid
    entries = await store.list_entries(TENANT, f"{job.job_id}#")
    assert sorted(one.verb for one in entries) == sorted([Verb.RESERVE, Verb.CAPTURE if is_paid else Verb.RELEASE])
    paid = DONE.charge_micro_usd if is_paid else 0
    after = replace(before, available=before.available - paid, captured=before.captured + paid)
    assert await _account(store) == after


async def _account(store: Store) -> Account:
    found = await store.get_account(TENANT)
    assert found is not None
    return found


def _race(store: Store, name: str, rounds: range) -> Counter[str]:
    rival = RIVALS[name]

    async def all_of_them() -> Counter[str]:
        return Counter([await race(store, rival, rival.first + number) for number in rounds])

    return ask(all_of_them())


@pytest.mark.failure_mode("F63")
@pytest.mark.parametrize("name", RIVALS)
def test_cancel_against_a_rival_has_one_winner(store: Store, name: str) -> None:
    """A few rounds, in seconds."""
    assert _race(store, name, range(10)).total() == 10


@pytest.mark.thorough
@pytest.mark.timeout(900)  # each round is some ten requests
@pytest.mark.parametrize("name", RIVALS)
def test_cancel_against_a_rival_has_one_winner_two_hundred_times(store: Store, name: str) -> None:
    """Both sides win some of them, so the race is real."""
    winners = _race(store, name, range(100, 300))
    print(f"cancel against {name}: {dict(winners)}")

    assert winners.total() == 200
    assert set(winners) == {"cancel", "rival"}
