"""Join against completion, for real: two threads, one emulated DynamoDB, five hundred times.

A participant either is among those whom the flight serves, or is refused and starts the next one: never neither, never
given a result that was accepted before it asked. Moto is not asked: its conditions are not atomic.
"""

from __future__ import annotations

import asyncio
from collections import Counter
from collections.abc import Iterator
from dataclasses import replace

import pytest

from onceward.adapters.dynamodb.store import DynamoStore
from onceward.adapters.system import SystemClock, SystemIds, ThreadRunner
from onceward.domain.coalescing import CoalesceBy
from onceward.domain.ending import Verdict, settle_ops
from onceward.domain.job import Job, ResultRef
from onceward.domain.names import JobId, RunToken
from onceward.domain.records import Result
from onceward.domain.states import JobState
from onceward.domain.transaction import Applied, CreateRow, PointFlight, PutCold
from onceward.local.cloud import LocalCloud
from onceward.usecases.ports import Store
from onceward.usecases.serve_participants import copy_result
from tests.contract.job_store.flights import KEY, a_flight, a_runner, boarding, starting
from tests.contract.job_store.stories import a_token
from tests.support.builders import NOW, TENANT, TOKEN, a_policy
from tests.support.emulators import dynamodb_at, make_tables
from tests.support.worker_world import WorkerWorld

FLYING = RunToken("F" * 26)


@pytest.fixture(scope="module")
def store(ministack: LocalCloud) -> Iterator[Store]:
    """New tables, and as many threads as there are rivals."""
    client = dynamodb_at(ministack.endpoint_url)
    with ThreadRunner(4) as threads:
        yield DynamoStore(client, make_tables(client), threads, SystemClock(), SystemIds())


async def race(store: Store, number: int) -> str:
    """One flight that ends while one job joins; who won, once everything has been looked at."""
    job, flight = a_runner(number), a_flight(number, state=JobState.RUNNING, run_token=FLYING, attempts=1)
    flight = replace(flight, lease_until=NOW)
    pointer = PointFlight(TENANT, KEY, flight.job_id, await store.get_flight(TENANT, KEY), NOW)
    assert await store.transact([CreateRow(job, NOW), CreateRow(flight, NOW), pointer], a_token()) == Applied()
    verdict = Verdict(state=JobState.SUCCEEDED, result=ResultRef(epoch=1, attempt=1))
    result = Result(tenant_id=TENANT, job_id=flight.job_id, epoch=1, attempt=1, body=f'{{"text":"{number}"}}')
    end = [*settle_ops(flight, FLYING, verdict, NOW), PutCold(result, flight.expires_at)]
    rivals = [store.transact(boarding(job, flight), a_token()), store.transact(end, a_token())]
    joined, ended = await asyncio.gather(*(rivals if number % 2 else reversed(rivals)))
    joined, ended = (joined, ended) if number % 2 else (ended, joined)
    assert ended == Applied()
    return await _looked_at(store, job, flight, is_joined=isinstance(joined, Applied), text=result.body or "")


async def _looked_at(store: Store, job: Job, flight: Job, *, is_joined: bool, text: str) -> str:
    """The winner: the join is served by this very flight; or the end, and the next flight begins in its place."""
    landed = await store.get_job(TENANT, flight.identity)
    assert landed is not None
    assert landed.state is JobState.SUCCEEDED
    world = WorkerWorld(policy=a_policy(coalesce=CoalesceBy(instructions="")))
    world.ids = SystemIds()  # each transaction has a token of its own
    served = await copy_result(world.deps(store), landed)
    row = await store.get_job(TENANT, job.identity)
    assert row is not None
    if not is_joined:
        assert (served.jobs, row) == ((), await store.get_job(TENANT, job.identity))
        assert (row.state, row.flight, row.run_token) == (JobState.RUNNING, None, TOKEN)
        following = replace(a_flight(), job_id=_other_identity(flight))
        assert await store.transact(starting(job, following, seen=flight.job_id, most=10**6), a_token()) == Applied()
        assert await store.get_flight(TENANT, KEY) == following.job_id
        return "ended first"
    assert [one.job_id for one in served.jobs] == [job.job_id]
    assert (row.state, row.flight) == (JobState.SUCCEEDED, flight.job_id)
    copy = await store.get_cold(TENANT, job.job_id, "result#0001#0001")
    assert isinstance(copy, Result)
    assert copy.body == text
    return "joined first"


def _other_identity(flight: Job) -> JobId:
    return JobId("Z" + flight.job_id[1:])


def _race(store: Store, rounds: range) -> Counter[str]:
    async def all_of_them() -> Counter[str]:
        return Counter([await race(store, number) for number in rounds])

    return asyncio.run(all_of_them())


def test_join_against_completion_loses_nothing(store: Store) -> None:
    """A few rounds, in seconds."""
    winners = _race(store, range(1, 26))

    assert winners.total() == 25


@pytest.mark.thorough
@pytest.mark.timeout(900)  # each round is a dozen writes
def test_join_against_completion_loses_nothing_five_hundred_times(store: Store) -> None:
    """Both sides win some of them, so the race is real."""
    winners = _race(store, range(1_001, 1_501))
    print(f"join against completion: {dict(winners)}")

    assert winners.total() == 500
    assert set(winners) == {"joined first", "ended first"}
