"""A provider that answers later and lists what it has: lost submissions are found, stored answers forgotten there."""

from __future__ import annotations

from datetime import timedelta
from typing import Any

import pytest

from onceward.domain.money import Cost
from onceward.domain.records import ProviderReference
from onceward.domain.recovery import LookupReply, PollReply
from onceward.domain.states import CallState, JobState, WaitingFor
from onceward.usecases.ports import Submitted
from tests.support.builders import seconds
from tests.support.fakes import a_reply
from tests.support.hooked_store import HookedStore
from tests.support.later_world import LISTED, LOST, REFUSED, a_waiting_job, a_world

pytestmark = pytest.mark.anyio


async def test_reference_that_nobody_keeps_is_not_looked_for_by_its_key() -> None:
    """A list without it is no proof: who has forgotten the work would say that it never was."""
    world = a_world()
    world.provider.capability = LISTED
    await a_waiting_job(world)
    world.provider.polled = {"work-1": PollReply.GONE}
    world.provider.found = {"*": LookupReply.NOT_FOUND}
    world.clock.jump(timedelta(hours=1))
    await world.deliver()

    assert (world.row.state, len(world.provider.keys)) == (JobState.NEEDS_REVIEW, 1)
    assert world.provider.lookups == []


async def test_lost_submission_that_is_found_is_polled() -> None:
    """Its reference is stored as if it had been heard; it is bought once, in one attempt."""
    world = a_world()
    world.provider.capability = LISTED
    world.provider.script = [LOST]
    world.provider.found = {"*": Submitted("work-7")}
    await a_waiting_job(world)
    assert (world.row.waiting_for, [call.state for call in world.row.open]) == (WaitingFor.LOOKUP, [CallState.UNKNOWN])
    world.clock.jump(timedelta(hours=1))
    await world.deliver()
    item = world.items["call#0001#generate/1#0001#ref"]
    assert isinstance(item, ProviderReference)
    assert (item.reference, world.row.waiting_for) == ("work-7", WaitingFor.PROVIDER)
    world.provider.polled = {"work-7": a_reply()}
    world.clock.jump(timedelta(hours=1))
    await world.deliver()

    assert (world.row.state, world.row.attempts, len(world.provider.keys)) == (JobState.SUCCEEDED, 1, 1)
    assert world.row.spent == Cost.exact(10)


@pytest.mark.parametrize(("told", "state"), [(a_reply(), JobState.SUCCEEDED), (REFUSED, JobState.FAILED)], ids=str)
async def test_provider_forgets_what_is_stored_here(told: Any, state: JobState) -> None:
    """An answer, or a failure: afterwards nothing of it is kept there, and nobody needs it."""
    world = a_world()
    await a_waiting_job(world)
    assert world.provider.forgotten == []
    world.provider.polled = {"work-1": told}
    world.clock.move(seconds(10))
    await world.deliver()

    assert (world.row.state, world.provider.forgotten) == (state, ["work-1"])


async def test_run_that_has_lost_its_lease_lets_the_provider_keep_the_answer() -> None:
    """Another may have looked for the stored answer already, and comes to the provider for it."""
    world = a_world()
    await a_waiting_job(world)
    world.provider.polled = {"work-1": a_reply()}
    world.clock.move(seconds(10))

    async def it_takes_long(method: Any, *args: Any) -> Any:
        put = await method(*args)
        world.clock.move(world.timing.lease + seconds(5))
        return put

    await world.deliver(store=HookedStore(world.store, put_cold=it_takes_long))

    assert world.provider.forgotten == []
