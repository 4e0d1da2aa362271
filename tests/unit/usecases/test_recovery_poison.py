"""Lookups whose answer nobody expects: the call stays a maybe, and the job still comes to its end."""

from __future__ import annotations

from datetime import timedelta
from typing import Any

import pytest

from onceward.domain.policy import Capability
from onceward.domain.states import CallState, JobState, WaitingFor
from onceward.domain.timing import MAX_LOST
from onceward.errors import CallFailure
from onceward.usecases.ports import ModelReply
from tests.support.builders import an_open_call, seconds
from tests.support.fakes import a_reply
from tests.support.worker_world import WorkerWorld

pytestmark = pytest.mark.anyio

LOOKUP = Capability(lookup_lag=seconds(1))
UNKNOWN = CallFailure("", code="connection_lost", error_class="outcome_unknown", was_sent=True)
HALF_A_PAIR = ModelReply(
    text='{"text":"half \ud83d"}', finish="stop", model="fake-1", usage=None, request_id=None
)  # JSON can spell it, UTF-8 cannot


def asking(found: ModelReply | Exception) -> WorkerWorld:
    """A world whose target answers every lookup like this."""
    world = WorkerWorld()
    world.provider.capability = LOOKUP
    world.provider.found = {"*": found}
    world.provider.script = [UNKNOWN]
    return world


async def live(world: WorkerWorld, steps: int, step: timedelta) -> None:
    """Deliver again and again; a delivery that raises is taken over once its lease is over."""
    for _ in range(steps):
        await world.deliver()
        world.clock.move(step)


@pytest.mark.parametrize("error", [ValueError("secret text"), RecursionError(), UnicodeError("secret text")], ids=repr)
async def test_lookup_that_raises_is_asked_again_and_leaves_the_maybe(error: Exception) -> None:
    """What a target's answer does to the code that reads it says nothing about the call; a log says where."""
    world = asking(error)
    await world.create()
    await world.deliver()
    world.clock.move(timedelta(minutes=5))
    report = await world.deliver()

    assert (world.row.state, world.row.waiting_for, world.row.lost) == (JobState.WAITING, WaitingFor.LOOKUP, 0)
    assert [call.state for call in world.row.open] == [CallState.UNKNOWN]
    assert len(world.provider.keys) == 1
    (note,) = report.notes
    assert note.startswith(f"recovery: {type(error).__name__} at fakes.py:")
    assert "secret text" not in repr(report)


async def test_lookup_that_always_raises_comes_to_a_person_after_the_deadline() -> None:
    """Patience ends: recovery does not keep the job from its closing run."""
    world = asking(ValueError())
    await world.create(reserved_micro_usd=5_000)
    await live(world, steps=30, step=timedelta(hours=1))

    assert (world.row.state, world.account.reserved) == (JobState.NEEDS_REVIEW, 5_000)
    assert len(world.queue.dead_letters) == 1


async def test_lookup_that_always_raises_in_review_ends_at_the_limit() -> None:
    """Nor does it keep the review from its end."""
    world = asking(ValueError())
    await world.create(reserved_micro_usd=5_000)
    await live(world, steps=32, step=timedelta(hours=1))
    await live(world, steps=32, step=timedelta(days=1))

    assert (world.row.state, world.row.error_code) == (JobState.FAILED, "review_expired")
    assert (world.account.available, len(world.provider.keys)) == (5_000, 1)


async def test_found_answer_with_half_a_character_is_kept_and_used() -> None:
    """What was paid for is storable: half a surrogate pair becomes U+FFFD."""
    world = asking(HALF_A_PAIR)
    await world.create()
    await live(world, steps=2, step=timedelta(minutes=5))
    body: Any = world.items["call#0001#generate/1#0001"]

    assert (world.row.state, len(world.provider.keys)) == (JobState.SUCCEEDED, 1)
    assert "half �" in body.body


async def test_answer_with_half_a_character_is_a_result() -> None:
    """The same, where it comes as the call's own answer."""
    world = WorkerWorld()
    world.provider.script = [HALF_A_PAIR]
    await world.create()
    await world.deliver()

    assert (world.row.state, world.row.attempts) == (JobState.SUCCEEDED, 1)


async def test_whole_surrogate_pair_stays_the_character_that_it_is() -> None:
    """An answer that spells an emoji as two halves has it whole in its item."""
    world = WorkerWorld()
    world.provider.script = [a_reply('{"text":"\ud83d\ude00"}')]
    await world.create()
    await world.deliver()
    body: Any = world.items["call#0001#generate/1#0001"]

    assert (world.row.state, "😀" in body.body) == (JobState.SUCCEEDED, True)


async def test_lookup_that_may_kill_its_process_is_not_asked_after_three_losses() -> None:
    """The answer to this very question may be what does it: the job is parked without it."""
    world = asking(a_reply())
    await world.create()
    await world.lose_a_run(open=(an_open_call(),), lost=MAX_LOST - 1)
    await world.deliver()

    assert (world.row.state, world.provider.lookups) == (JobState.NEEDS_REVIEW, [])


async def test_one_call_s_bad_lookup_does_not_hide_another_s_answer() -> None:
    """Each open call is looked at by itself."""
    world = WorkerWorld()
    world.provider.capability = LOOKUP
    good, bad = an_open_call(), an_open_call(step="other/1", key="other-key")
    world.provider.found = {good.key: a_reply(), bad.key: ValueError()}
    await world.create()
    await world.lose_a_run(open=(bad, good))
    await world.deliver()

    assert list(world.row.accepted) == ["generate/1"]
    assert [call.step for call in world.row.open] == ["other/1"]
