"""What a refused repeat leaves in the provider's books: the first send's bound, once, however the second ended."""

from __future__ import annotations

from collections.abc import Awaitable, Callable
from datetime import timedelta

import pytest

from onceward.domain.history import cost_of_job
from onceward.domain.money import Cost
from onceward.domain.policy import Capability, OnUnknown, RetryPolicy
from onceward.domain.records import Usage
from onceward.domain.states import CallState, JobState, Resolution
from onceward.errors import CallFailure
from onceward.usecases.cancel_job import cancel_job
from onceward.usecases.resolve_job import resolve_job
from tests.support.builders import a_policy, an_answer
from tests.support.dead_worker import dying_of_a_refusal
from tests.support.reviews import ANSWER_BODY, UNKNOWN, a_verdict, intake, resolved, verbs
from tests.support.worker_world import WorkerWorld

pytestmark = pytest.mark.anyio

BOUND = Cost.maybe(1_000)
AWAY = CallFailure("", code="provider_overloaded", error_class="transient", was_sent=True)
BUSY = CallFailure("", code="rate_limited", error_class="rate_limited", was_sent=True)
AUTH = CallFailure("", code="provider_auth", error_class="permanent", was_sent=True)
NO_MONEY = CallFailure("", code="provider_quota_exhausted", error_class="quota_exhausted", was_sent=True)
TRUNCATED = CallFailure(
    "",
    code="truncated_output",
    error_class="invalid_output",
    was_sent=True,
    model="fake-1",
    usage=Usage(input=7, output=3),
)

type Stand = Callable[[], Awaitable[WorkerWorld]]


async def by_policy() -> WorkerWorld:
    """The kind accepts a second purchase."""
    return await lost(WorkerWorld(policy=a_policy(retry=RetryPolicy(on_unknown=OnUnknown.RETRY))))


async def deduped() -> WorkerWorld:
    """The provider says that a repeat is none."""
    world = WorkerWorld()
    world.provider.capability = Capability(dedup_window=timedelta(hours=24))
    return await lost(world)


async def by_a_person() -> WorkerWorld:
    """A verdict on the review, which took the call along into the next epoch."""
    world = WorkerWorld()
    await resolved(world, Resolution.RETRY)
    return world


async def by_two_persons() -> WorkerWorld:
    """The first one's repeat has been refused to its last attempt."""
    world = await by_a_person()
    world.provider.script = [AWAY] * 3
    while world.row.state is not JobState.NEEDS_REVIEW:
        await again(world)
    await resolve_job(intake(world), a_verdict(Resolution.RETRY, epoch=2))
    return world


async def lost(world: WorkerWorld) -> WorkerWorld:
    """One call, whose answer nobody heard."""
    world.provider.script = [UNKNOWN]
    await world.create(reserved_micro_usd=5_000)
    await world.deliver()
    return world


STANDS = (by_policy, deduped, by_a_person, by_two_persons)
of_every_stand = pytest.mark.parametrize("stand", STANDS, ids=lambda stand: stand.__name__)
however_it_ends = pytest.mark.parametrize("dies", [False, True], ids=["heard", "found"])


async def refuse(stand: Stand, refusal: CallFailure, *, dies: bool) -> WorkerWorld:
    """A repeat, refused; ``dies``: its worker has told nobody, and the next one finds the item."""
    world = await stand()
    world.provider.script = [refusal]
    world.clock.move(timedelta(minutes=1))
    await world.deliver(store=dying_of_a_refusal(world.store) if dies else None)
    assert (world.row.state is JobState.RUNNING) == dies
    return world


async def again(world: WorkerWorld) -> None:
    """A minute and a half later: leases and waits are over."""
    world.clock.move(timedelta(seconds=90))
    await world.deliver()


@of_every_stand
@pytest.mark.parametrize("refusal", [AWAY, BUSY], ids=lambda refusal: str(refusal.code))
async def test_refusal_for_now_leaves_the_bound_where_it_was(stand: Stand, refusal: CallFailure) -> None:
    """On the open call, not in what was spent: its answer may still say what it cost."""
    world = await refuse(stand, refusal, dies=False)

    assert (world.row.possible_spent, world.row.spent) == (BOUND, Cost.nothing())
    assert [call.max_cost for call in world.row.open] == [1_000]


@of_every_stand
@however_it_ends
async def test_repeat_that_is_answered_after_all_costs_what_it_costs(stand: Stand, *, dies: bool) -> None:
    """Beside the first send's bound, or, where both are one purchase, instead of it; the user is charged once."""
    world = await refuse(stand, AWAY, dies=dies)
    await again(world)

    assert (world.row.state, len(set(world.provider.keys))) == (JobState.SUCCEEDED, 1)
    assert world.row.spent == (Cost.exact(10) if stand is deduped else Cost(low=10, high=1_010))
    assert (world.account.captured, [verb for _, verb in verbs(world)].count("capture")) == (5_000, 1)


@of_every_stand
@however_it_ends
async def test_late_answer_of_the_first_send_takes_its_bound_s_place(stand: Stand, *, dies: bool) -> None:
    """It says what was bought; the refused repeat bought nothing."""
    world = await refuse(stand, AWAY, dies=dies)
    await world.store.put_cold(an_answer(body=ANSWER_BODY), world.row.expires_at)
    sent = len(world.provider.keys)
    await again(world)

    assert (world.row.state, len(world.provider.keys), world.row.spent) == (JobState.SUCCEEDED, sent, Cost.exact(250))


@of_every_stand
@however_it_ends
@pytest.mark.parametrize("refusal", [AUTH, NO_MONEY], ids=lambda refusal: str(refusal.code))
async def test_refusal_for_good_books_what_the_first_send_may_have_cost(
    stand: Stand, refusal: CallFailure, *, dies: bool
) -> None:
    """A key that is no more valid, or an empty purse, was not so then: the job ends, and the bound stays."""
    world = await refuse(stand, refusal, dies=dies)
    if dies:  # found, it is not the next attempt's failure, which is refused as well
        world.provider.script = [refusal]
        await again(world)

    assert (world.row.state, world.row.error_code) == (JobState.FAILED, refusal.code)
    assert (world.row.spent, world.account.available) == (BOUND, 5_000)


@pytest.mark.parametrize(("stand", "spent"), [(deduped, Cost.exact(10)), (by_policy, Cost(low=10, high=1_010))])
async def test_answer_that_is_no_use_is_charged_all_the_same(stand: Stand, spent: Cost) -> None:
    """Of a provider that dedupes it is the answer to both sends: one purchase, and no bound besides."""
    world = await refuse(stand, TRUNCATED, dies=False)

    assert (world.row.state, world.row.spent) == (JobState.FAILED, spent)


@pytest.mark.parametrize("stand", [by_policy, by_a_person], ids=lambda stand: stand.__name__)
async def test_attempts_that_are_all_refused_leave_the_first_send_to_a_person(stand: Stand) -> None:
    """Exhausted with an open maybe is a review, whichever attempt the maybe is of."""
    world = await refuse(stand, AWAY, dies=False)
    world.provider.script = [AWAY] * 9
    while world.row.state is JobState.WAITING:
        await again(world)

    assert (world.row.state, world.row.possible_spent, world.account.reserved) == (JobState.NEEDS_REVIEW, BOUND, 5_000)


async def test_bound_of_three_sends_outlives_the_late_refusal_of_the_second() -> None:
    """The first was lost, the third refused for now; a worker that lost its lease hears a no to the second."""
    world = await deduped()
    for act in (UNKNOWN, AWAY):
        world.provider.script = [act]
        await again(world)
    (second,) = world.row.open
    assert (second.attempt, second.repeats, world.row.state) == (2, None, JobState.NEEDS_REVIEW)
    late = {"state": CallState.FAILED, "body": None, "cost": Cost.nothing(), "error_class": "permanent"}
    await world.store.put_cold(an_answer(attempt=2, **late), world.row.expires_at)
    world.clock.move(timedelta(days=1))
    await world.deliver()

    assert (world.row.state, world.row.spent) == (JobState.FAILED, BOUND)


async def test_late_refusal_of_a_repeat_tells_nothing_of_what_the_first_send_cost() -> None:
    """The job has ended, and its bound was of both; what is read of it is the whole bound still."""
    world = await refuse(deduped, UNKNOWN, dies=False)
    at, job = world.deps(), world.row
    await cancel_job(at.store, at.queue, at.clock, at.ids, tenant_id=job.tenant_id, job_id=job.job_id)
    await again(world)
    assert (world.row.state, world.row.spent) == (JobState.CANCELLED, BOUND)
    late = {"state": CallState.FAILED, "body": None, "cost": Cost.nothing(), "error_class": "transient"}
    answer = an_answer(attempt=2, **late)

    assert cost_of_job(world.row, job.open, [answer]) == BOUND
