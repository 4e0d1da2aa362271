"""Charges and books when prices move: never more than was held, each cost once (invariants 7 and 10)."""

from __future__ import annotations

from datetime import timedelta

import pytest

from onceward.domain.ledger import Account
from onceward.domain.money import Cost
from onceward.domain.policy import OnUnknown, RetryPolicy
from onceward.domain.states import JobState
from onceward.errors import CallFailure
from onceward.usecases.cancel_job import cancel_job
from tests.support.builders import JOB_ID, TENANT, a_policy, an_answer
from tests.support.worker_world import WorkerWorld

pytestmark = pytest.mark.anyio

UNKNOWN = CallFailure("", code="connection_lost", error_class="outcome_unknown", was_sent=True)
ANSWER_BODY = '{"text":"{\\"text\\":\\"yes\\"}","finish":"stop","model":"fake-1","usage":null,"request_id":null}'


async def test_tariff_raised_while_a_job_runs_ends_it_at_the_old_price() -> None:
    """The first delivery settles: the account holds what create reserved, and no deploy makes the settle impossible."""
    world = WorkerWorld(policy=a_policy(tariff_micro_usd=10))
    await world.create(reserved_micro_usd=5)
    await world.deliver()

    assert (world.row.state, world.row.charge_micro_usd, len(world.provider.keys)) == (JobState.SUCCEEDED, 5, 1)
    assert (world.account.captured, world.account.reserved, world.account.available) == (5, 0, 0)


async def test_tariff_raised_is_not_taken_from_the_rest_of_the_account() -> None:
    """There is more on the account, and still the tenant pays what it agreed to."""
    world = WorkerWorld(policy=a_policy(tariff_micro_usd=10))
    await world.create(reserved_micro_usd=5)
    world.store.accounts[TENANT] = Account(tenant_id=TENANT, granted=100, available=95, reserved=5, captured=0)
    await world.deliver()

    assert (world.account.captured, world.account.available) == (5, 95)


async def test_tariff_lowered_gives_the_rest_back() -> None:
    """The new price counts, and what was held above it is free again."""
    world = WorkerWorld(policy=a_policy(tariff_micro_usd=3))
    await world.create(reserved_micro_usd=5)
    await world.deliver()

    assert (world.row.charge_micro_usd, world.account.captured, world.account.available) == (3, 3, 2)


async def test_job_created_without_an_account_is_charged_the_tariff_of_today() -> None:
    """Nothing was held, nothing is moved: the entry tells the price."""
    world = WorkerWorld(policy=a_policy(tariff_micro_usd=10))
    await world.create()
    await world.deliver()

    assert world.row.charge_micro_usd == 10
    assert [entry.micro_usd for entry in world.store.entries.values()] == [10]


async def test_late_answer_counts_its_cost_once_for_its_attempt() -> None:
    """What the unknown call may have cost goes when what it did cost comes: attempt and job tell the same."""
    world = WorkerWorld()
    world.provider.script = [UNKNOWN]
    await world.create()
    await world.deliver()
    await world.store.put_cold(an_answer(body=ANSWER_BODY), world.row.expires_at)
    world.clock.move(timedelta(minutes=1))
    await world.deliver()

    assert world.row.attempt is not None
    assert (world.row.state, world.row.spent, world.row.attempt.cost) == (
        JobState.SUCCEEDED,
        Cost.exact(250),
        Cost.exact(250),
    )


async def test_attempt_that_is_cancelled_over_a_maybe_tells_what_it_may_have_cost() -> None:
    """The books are closed with the bound of the call that nobody knows of, for the job and for its attempt."""
    world = WorkerWorld()
    world.provider.script = [UNKNOWN]
    await world.create(reserved_micro_usd=5_000)
    await world.deliver()
    await cancel_job(world.store, world.queue, world.clock, world.ids, tenant_id=TENANT, job_id=JOB_ID)
    await world.deliver()

    assert world.row.attempt is not None
    assert (world.row.state, world.row.spent, world.row.attempt.cost) == (
        JobState.CANCELLED,
        Cost.maybe(1_000),
        Cost.maybe(1_000),
    )
    assert world.account.available == 5_000


async def test_attempt_whose_call_may_be_bought_again_keeps_its_own_bound() -> None:
    """The first attempt's item holds what the first send may have cost, the second's what the second did."""
    world = WorkerWorld(policy=a_policy(retry=RetryPolicy(on_unknown=OnUnknown.RETRY)))
    world.provider.script = [UNKNOWN]
    await world.create()
    await world.deliver()
    world.clock.move(timedelta(minutes=1))
    await world.deliver()

    assert world.row.attempt is not None
    assert (world.items["attempt#0001#0001"].attempt.cost, world.row.attempt.cost) == (
        Cost.maybe(1_000),
        Cost.exact(10),
    )


@pytest.mark.failure_mode("F29")
async def test_cost_without_a_price_is_never_nothing() -> None:
    """Also where the kind declares no maximum: it shows in the job's books, and so in every sum and metric."""
    world = WorkerWorld(policy=a_policy(max_call_cost=0))
    world.provider.price = lambda model, usage: None  # type: ignore[method-assign]
    await world.create()
    await world.deliver()

    assert world.row.state is JobState.SUCCEEDED
    assert world.row.spent == Cost(low=0, high=1, unpriced=True)
