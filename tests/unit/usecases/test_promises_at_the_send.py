"""What a target promises counts for the calls that it got while it promised it, and for no other's."""

from __future__ import annotations

from datetime import timedelta

import pytest

from onceward.domain.money import Cost
from onceward.domain.policy import Capability, KindPolicy, OnUnknown, RetryPolicy
from onceward.domain.recovery import LookupReply
from onceward.domain.states import JobState, WaitingFor
from tests.support.action_world import ActionWorld
from tests.support.actions import lost
from tests.support.builders import a_policy, seconds
from tests.support.fakes import a_reply
from tests.support.later_world import LOST
from tests.support.worker_world import WorkerWorld

pytestmark = pytest.mark.anyio

NOTHING, DEDUPES = Capability(), Capability(dedup_window=timedelta(hours=24))
LOOKUP = Capability(lookup_lag=seconds(1))


async def a_maybe(capability: Capability, policy: KindPolicy | None = None) -> WorkerWorld:
    """A job whose one call was sent while that was promised, and its answer lost."""
    world = WorkerWorld(policy=policy)
    world.provider.capability = capability
    world.provider.script = [LOST]
    await world.create()
    await world.deliver()
    return world


async def test_lookup_declared_after_the_send_finds_nothing_out() -> None:
    """The call was not stored: that no list of today tells of it is no proof."""
    world = await a_maybe(NOTHING)
    assert world.row.state is JobState.NEEDS_REVIEW
    world.provider.capability = LOOKUP
    world.provider.found = {"*": LookupReply.NOT_FOUND}
    world.clock.jump(timedelta(hours=1))
    await world.deliver()

    assert (world.row.state, len(world.provider.keys), len(world.provider.lookups)) == (JobState.NEEDS_REVIEW, 1, 1)
    assert world.row.possible_spent == Cost.maybe(1_000)


async def test_repeat_of_a_call_whose_key_nobody_kept_is_a_second_purchase() -> None:
    """It is sent again, as policy allows; the books hold both."""
    world = await a_maybe(NOTHING, a_policy(retry=RetryPolicy(on_unknown=OnUnknown.RETRY)))
    world.provider.capability = DEDUPES
    world.clock.jump(timedelta(hours=1))
    await world.deliver()

    assert (world.row.state, len(world.provider.keys)) == (JobState.SUCCEEDED, 2)
    assert world.row.spent == Cost(low=10, high=1_010)


async def test_another_target_is_not_asked_for_what_it_never_got() -> None:
    """A stage's model is moved to another address while a call of the old one is still to be looked up there."""
    world = await a_maybe(LOOKUP)
    assert world.row.waiting_for is WaitingFor.LOOKUP
    world.provider.route = "fake elsewhere fake-1"
    world.provider.found = {"*": LookupReply.NOT_FOUND}
    world.clock.jump(timedelta(hours=1))
    await world.deliver()

    assert (world.row.state, len(world.provider.keys), len(world.provider.lookups)) == (JobState.NEEDS_REVIEW, 1, 1)


async def test_answer_that_is_found_all_the_same_is_evidence() -> None:
    """Whatever was promised: it is the answer to this key, and ends the review."""
    world = await a_maybe(NOTHING)
    world.provider.capability = LOOKUP
    world.provider.found = {"*": a_reply()}
    world.clock.jump(timedelta(hours=1))
    await world.deliver()

    assert (world.row.state, len(world.provider.keys)) == (JobState.SUCCEEDED, 1)


async def test_another_model_at_the_same_target_is() -> None:
    """Its list holds what any of its models was asked."""
    world = await a_maybe(LOOKUP)
    world.provider.model, world.provider.route = "fake-2", "fake fake-2"
    world.provider.found = {"*": a_reply()}
    world.clock.jump(timedelta(hours=1))
    for _ in range(2):
        await world.deliver()

    assert (world.row.state, len(world.provider.keys)) == (JobState.SUCCEEDED, 1)


@pytest.mark.parametrize(
    ("then", "now", "state"),
    [
        ("natural", "header", JobState.NEEDS_REVIEW),  # the first request carried no such header
        ("header", "natural", JobState.NEEDS_REVIEW),  # what it made has perhaps no such name
        ("lookup", "header", JobState.NEEDS_REVIEW),
        ("lookup", "natural", JobState.NEEDS_REVIEW),
        ("header", "lookup", JobState.SUCCEEDED),  # what is found all the same is evidence
        ("header", "header", JobState.SUCCEEDED),
    ],
)
def test_an_action_is_not_repeated_by_a_promise_of_another_sort(then: str, now: str, state: JobState) -> None:
    """A deploy declares it between two attempts; to the target the second request would be a new one."""
    world = ActionWorld(then)
    world.target.after = [lost()]
    world.post()
    world.work()
    world.target.promise = now

    assert (world.rest(rounds=12).state, world.effects) == (state, 1)
