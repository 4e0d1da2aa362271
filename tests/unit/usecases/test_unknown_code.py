"""Kinds and versions that this code does not know wait for newer code, without burning anything."""

from __future__ import annotations

from datetime import timedelta
from typing import Any

import pytest

from onceward.domain.claim import Claim, Unclaimable
from onceward.domain.deliveries import Acknowledge, PutBack
from onceward.domain.job import FLIGHT_SCHEMA, AnswerRef
from onceward.domain.policy import Capability
from onceward.domain.states import JobState, WaitingFor
from onceward.usecases.registry import Registry
from onceward.usecases.sweep import Sweeper, sweep
from tests.support.builders import NOW, STEP, TOKEN, a_policy, an_open_call, seconds
from tests.support.worker_world import Ask, Said, WorkerWorld, ask_all

pytestmark = pytest.mark.anyio

NEWER: list[dict[str, Any]] = [{"kind": "image.draw"}, {"kind_version": 2}, {"schema_version": FLIGHT_SCHEMA + 1}]


@pytest.mark.failure_mode("F82")
@pytest.mark.parametrize("fields", NEWER, ids=["kind", "kind's version", "schema"])
async def test_thirty_deliveries_leave_an_unknown_job_as_it_was(fields: dict[str, Any]) -> None:
    """Queued, no attempt, no dead letter; the message comes back each time, a little later."""
    world = WorkerWorld()
    await world.create(**fields)
    before = world.row
    reports = [await world.deliver(receive_count=count) for count in range(1, 31)]

    assert {report.found for report in reports} == {Unclaimable.UNKNOWN_CODE}
    assert [report.disposition for report in reports[:4]] == [PutBack(seconds(wait)) for wait in (30, 60, 120, 240)]
    assert {report.disposition for report in reports[4:]} == {PutBack(seconds(300))}
    assert (world.row, world.queue.dead_letters, world.provider.keys) == (before, (), [])


async def test_message_that_came_too_often_ends_and_the_row_stays_due() -> None:
    """SQS would bury it soon; the sweeper sends a fresh one, whose count begins anew."""
    world = WorkerWorld()
    await world.create(kind="image.draw")
    report = await world.deliver(receive_count=47)

    assert (report.disposition, world.row.due is not None) == (Acknowledge(), True)
    swept = await sweep(Sweeper(store=world.store, queue=world.queue, clock=world.clock, timing=world.timing))
    assert (swept.counts, world.queue.dead_letters) == ({"wake": 1}, ())


@pytest.mark.failure_mode("F82")
@pytest.mark.parametrize(
    "fields",
    [
        {"state": JobState.WAITING, "waiting_for": WaitingFor.RETRY, "wake_at": NOW, "attempts": 1},
        {"state": JobState.WAITING, "waiting_for": WaitingFor.LOOKUP, "wake_at": NOW, "attempts": 1},
        {"state": JobState.RUNNING, "run_token": TOKEN, "lease_until": NOW - seconds(60), "attempts": 1},
        {
            "state": JobState.NEEDS_REVIEW,
            "wake_at": NOW,
            "review_until": NOW,
            "attempts": 1,
            "open": (an_open_call(),),
        },
    ],
    ids=["retry", "lookup", "expired lease", "review past its limit"],
)
async def test_older_code_touches_no_job_of_newer_code_in_any_state(fields: dict[str, Any]) -> None:
    """Invariant 18: two neighbouring versions side by side; each leaves the other's jobs alone."""
    world = WorkerWorld()
    await world.create(kind_version=2, **fields)
    before = world.row
    report = await world.deliver()

    assert (report.found, world.row) == (Unclaimable.UNKNOWN_CODE, before)


async def test_unknown_kind_runs_once_its_code_is_there() -> None:
    """The deploy that brings the kind finds the job as it was created: the first attempt is the first."""
    world = WorkerWorld()
    await world.create(kind_version=2)
    await world.deliver()
    world.overwrite(kind_version=1)
    await world.deliver()

    assert (world.row.state, world.row.attempts) == (JobState.SUCCEEDED, 1)


def retired(world: WorkerWorld, run: Any = ask_all) -> None:
    """A deploy that knows another kind only."""
    world.registry = Registry()
    world.registry.kind(policy=a_policy(name="other.kind"), input_model=Ask, output_model=Said)(run)


async def test_job_of_a_kind_that_is_gone_ends_after_its_deadline_and_frees_its_money() -> None:
    """Nobody else would ever end it, and what it holds of its tenant's budget would be held for ever."""
    world = WorkerWorld()
    await world.create(reserved_micro_usd=5_000)
    retired(world)
    world.clock.move(timedelta(days=1) + seconds(3_599))
    assert (await world.deliver()).found is Unclaimable.UNKNOWN_CODE
    world.clock.move(seconds(2))
    report = await world.deliver()

    assert (report.found, report.disposition) == (Claim.CLOSE, Acknowledge())
    assert (world.row.state, world.row.error_code, world.row.attempts) == (JobState.FAILED, "deadline_exceeded", 0)
    assert (world.account.reserved, world.provider.keys) == (0, [])


async def test_maybe_of_a_kind_that_is_gone_waits_for_a_person_until_its_limit() -> None:
    """Nobody is asked for it: whichever model is configured now may never have had the call."""
    world = WorkerWorld()
    world.provider.capability = Capability(lookup_lag=seconds(1))
    await world.create(reserved_micro_usd=5_000)
    await world.lose_a_run(open=(an_open_call(),))
    retired(world)
    world.clock.move(timedelta(days=1, hours=2))
    assert (await world.deliver()).found is Claim.TAKEOVER
    assert (world.row.state, world.account.reserved) == (JobState.NEEDS_REVIEW, 5_000)
    assert len(world.queue.dead_letters) == 1
    for _ in range(3):
        world.clock.move(timedelta(days=1))
        await world.deliver()
    assert (world.row.state, world.provider.lookups) == (JobState.NEEDS_REVIEW, [])
    world.clock.move(timedelta(days=31))
    await world.deliver()

    assert (world.row.state, world.row.error_code, world.account.reserved) == (JobState.FAILED, "review_expired", 0)


async def test_cancel_of_a_kind_that_is_gone_is_obeyed() -> None:
    """Without a maybe at once an hour is over; with one a person is asked, since the kind may have acted."""
    world = WorkerWorld()
    await world.create(reserved_micro_usd=5_000)
    await world.lose_a_run(cancel_requested_at=world.clock.now())
    retired(world)
    world.clock.move(timedelta(hours=1))
    await world.deliver()

    assert (world.row.state, world.account.reserved) == (JobState.CANCELLED, 0)


async def test_answer_of_a_kind_that_is_gone_is_left_to_a_person() -> None:
    """It was paid for, and the code that would read it is not there."""
    world = WorkerWorld()
    await world.create()
    await world.lose_a_run(accepted={STEP: AnswerRef(epoch=1, attempt=1)})
    retired(world)
    world.clock.move(timedelta(days=2))
    await world.deliver()

    assert world.row.state is JobState.NEEDS_REVIEW


async def test_newer_code_has_its_job_for_itself_for_an_hour_beyond_its_end() -> None:
    """Invariant 18: its closing run could still make a result of recorded answers; older code leaves it the time."""
    world = WorkerWorld()
    await world.create(kind_version=2)
    world.clock.move(timedelta(days=1, minutes=59))
    assert (await world.deliver()).found is Unclaimable.UNKNOWN_CODE
