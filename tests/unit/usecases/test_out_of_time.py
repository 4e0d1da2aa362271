"""Attempts that run out of time: their own time fails them, also with nothing sent; an invocation's end does not."""

from __future__ import annotations

from collections.abc import Callable, Coroutine
from datetime import timedelta
from typing import Any

import pytest

from onceward.domain.policy import KindPolicy
from onceward.domain.states import AttemptOutcome, JobState
from onceward.errors import RegistrationError
from onceward.usecases.context import Context
from onceward.usecases.registry import PREPARATION, Registry
from tests.support.builders import a_policy, seconds
from tests.support.worker_world import Ask, Said, WorkerWorld, ask_all

pytestmark = pytest.mark.anyio

FIVE_MINUTES = a_policy(timeout=timedelta(minutes=5))


def preparing(worlds: list[WorkerWorld], for_so_long: timedelta) -> Callable[[Context, Ask], Coroutine[Any, Any, Said]]:
    """A kind that works for a while before its one call."""

    async def run(context: Context, given: Ask) -> Said:
        worlds[0].clock.move(for_so_long)
        return Said.model_validate_json((await context.model.generate("first", [("user", "x")], answer=Said)).text)

    return run


async def test_preparation_that_leaves_no_time_for_a_call_costs_the_attempt() -> None:
    """Given back, it would prepare for ever: three attempts, then exhausted, and nothing was ever sent."""
    worlds: list[WorkerWorld] = []
    worlds.append(WorkerWorld(preparing(worlds, seconds(280)), policy=FIVE_MINUTES))
    (world,) = worlds
    await world.create()
    for _ in range(FIVE_MINUTES.retry.max_attempts):
        await world.deliver()
        world.clock.move(timedelta(minutes=6))

    assert (world.row.state, world.row.error_code, world.row.attempts) == (JobState.FAILED, "attempts_exhausted", 3)
    assert world.row.attempt is not None
    assert (world.row.attempt.outcome, world.row.attempt.error_code) == (AttemptOutcome.FAILED, "attempt_timeout")
    assert world.provider.keys == []


@pytest.mark.failure_mode("F37")
async def test_invocation_too_short_for_a_call_gives_the_attempt_back() -> None:
    """The next invocation may have all the time that this one had not: no attempt is counted."""
    worlds: list[WorkerWorld] = []
    worlds.append(WorkerWorld(preparing(worlds, seconds(20)), policy=FIVE_MINUTES))
    (world,) = worlds
    await world.create()
    report = await world.deliver(seconds_left=45)

    assert (world.row.state, world.row.attempts, report.stopped_by) == (JobState.QUEUED, 0, "stop_invocation")
    world.clock.move(timedelta(minutes=1))
    await world.deliver()
    assert (world.row.state, world.row.attempts) == (JobState.SUCCEEDED, 1)


async def test_deadline_too_near_for_a_call_ends_the_job() -> None:
    """A retry could not end before it either: failed, and said so."""
    world = WorkerWorld()
    await world.create(deadline_at=world.clock.now() + seconds(29))
    await world.deliver()

    assert (world.row.state, world.row.error_code) == (JobState.FAILED, "deadline_exceeded")
    assert world.provider.keys == []


async def test_retry_that_could_not_end_before_the_deadline_is_none() -> None:
    """No attempt is started that the guard would then stop."""
    worlds: list[WorkerWorld] = []
    worlds.append(WorkerWorld(preparing(worlds, seconds(280)), policy=FIVE_MINUTES))
    (world,) = worlds
    await world.create(deadline_at=world.clock.now() + seconds(300))
    await world.deliver()

    assert (world.row.state, world.row.waiting_for) == (JobState.FAILED, None)
    assert (world.row.error_code, world.row.attempts) == ("deadline_exceeded", 1)


@pytest.mark.parametrize("short_by", [PREPARATION, timedelta(milliseconds=1)])
async def test_kind_whose_attempts_have_no_time_beside_their_call_is_refused(short_by: timedelta) -> None:
    """What comes before a call takes time: with less than a second for it, no call would ever fit."""
    policy = a_policy(timeout=seconds(30) + PREPARATION - short_by, call_timeout=seconds(30))

    with pytest.raises(RegistrationError):
        _register(policy)


async def test_kind_with_just_that_second_runs() -> None:
    """The limit itself is enough, although the store takes its milliseconds."""
    policy = a_policy(timeout=seconds(30) + PREPARATION, call_timeout=seconds(30))
    worlds: list[WorkerWorld] = []
    worlds.append(WorkerWorld(preparing(worlds, timedelta(milliseconds=900)), policy=policy))
    (world,) = worlds
    await world.create()
    await world.deliver()

    assert (world.row.state, world.row.waiting_for) == (JobState.SUCCEEDED, None)


def _register(policy: KindPolicy) -> None:
    """Register a kind under that policy."""
    Registry().kind(policy=policy, input_model=Ask, output_model=Said)(ask_all)
