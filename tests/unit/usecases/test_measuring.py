"""What a delivery adds to the metrics, by what it did."""

from __future__ import annotations

from dataclasses import replace

import pytest

from onceward.domain.money import Cost
from onceward.domain.policy import Capability
from onceward.errors import CallFailure
from onceward.usecases.measuring import Metric, Unit, metrics_of
from tests.support.builders import an_open_call, seconds
from tests.support.worker_world import WorkerWorld

pytestmark = pytest.mark.anyio

BUSY = CallFailure("", code="busy", error_class="rate_limited", was_sent=True)
UNKNOWN = CallFailure("", code="connection_lost", error_class="outcome_unknown", was_sent=True)
UNREACHABLE = CallFailure("", code="provider_unreachable", error_class="transient", was_sent=False)


async def measured(world: WorkerWorld, *, letter_epoch: int | None = None) -> dict[str, float]:
    """One delivery's values; run time is the clock's."""
    found = metrics_of(await world.deliver(letter_epoch=letter_epoch))
    values = {metric.name: metric.value for metric in found}
    assert len(values) == len(found)
    values.pop("run_time", None)
    return values


async def test_accepted_job_counts_its_wait_its_cost_and_that_one_attempt_was_enough() -> None:
    """A plain run: all of a job's life in one delivery."""
    world = WorkerWorld()
    await world.create()

    assert await measured(world) == {
        "queue_wait": 60,
        "provider_attempts": 1,
        "provider_spend_low": 10,
        "provider_spend_high": 10,
        "job_retry_rate": 0,
        "jobs_accepted": 1,
        "attempts_per_job": 1,
        "accepted_on_first_attempt": 1,
        "cost_per_accepted_job_low": 10,
        "cost_per_accepted_job_high": 10,
        "cost_per_accepted_job_bound": 0,
        "accepted_unpriced": 0,
    }


async def test_retry_is_a_value_of_one_in_its_rate() -> None:
    """The first attempt is a 0, the second a 1: the average is the rate; only a first claim knows the wait."""
    world = WorkerWorld()
    world.provider.script = [BUSY]
    await world.create()
    first = await measured(world)
    world.clock.move(seconds(20))
    second = await measured(world)

    assert first == {"queue_wait": 60, "provider_attempts": 1, "job_retry_rate": 0}
    assert (second["job_retry_rate"], second["accepted_on_first_attempt"], second["attempts_per_job"]) == (1, 0, 2)
    assert "queue_wait" not in second


async def test_lost_lease_and_its_next_attempt_are_counted() -> None:
    """A takeover: one lease expired, and the attempt that follows is a retry."""
    world = WorkerWorld()
    await world.create()
    await world.lose_a_run()
    found = await measured(world)

    assert (found["lease_expired_count"], found["job_retry_rate"], found["jobs_accepted"]) == (1, 1, 1)


async def test_unknown_outcome_is_counted_when_it_is_learned_and_once() -> None:
    """By the run that had it, or by the one that found it; not again by each look."""
    world = WorkerWorld()
    world.provider.script = [UNKNOWN]
    await world.create()
    first = await measured(world)
    world.clock.move(seconds(61))
    look = await measured(world)

    assert (first["provider_unknown_outcomes"], first["jobs_parked"], first["provider_attempts"]) == (1, 1, 1)
    assert look == {}


async def test_lost_worker_s_maybe_is_counted_by_whoever_finds_it() -> None:
    """Its own process could not."""
    world = WorkerWorld()
    world.provider.capability = Capability()
    await world.create()
    await world.lose_a_run(open=(an_open_call(),))
    found = await measured(world)

    assert (found["provider_unknown_outcomes"], found["lease_expired_count"], found["jobs_parked"]) == (1, 1, 1)
    assert "provider_attempts" not in found


async def test_failure_counts_its_attempts_and_no_cost_per_accepted_job() -> None:
    """What was never accepted has no price per acceptance; requests that did not connect were made all the same."""
    world = WorkerWorld()
    world.provider.script = [UNREACHABLE] * 3
    await world.create(attempts=2)
    found = await measured(world)

    assert (found["jobs_failed"], found["attempts_per_job"], found["job_retry_rate"]) == (1, 3, 1)
    assert not [name for name in found if name.startswith("cost")]


async def test_redrive_counts_as_a_re_opening() -> None:
    """And its first attempt is no retry."""
    world = WorkerWorld()
    world.provider.script = [UNREACHABLE]
    await world.create(attempts=2)
    await world.deliver()
    found = await measured(world, letter_epoch=1)

    assert (found["jobs_reopened"], found["job_retry_rate"], found["accepted_on_first_attempt"]) == (1, 0, 0)


async def test_attempt_that_was_given_back_is_not_counted() -> None:
    """Switched off, or our own store down: nothing was tried."""
    world = WorkerWorld()
    await world.create()
    await world.store.switch("all", is_on=False)

    assert await measured(world) == {"queue_wait": 60}


async def test_delivery_that_finds_nothing_to_do_counts_nothing() -> None:
    """A duplicate, a late message, a job that is not there."""
    world = WorkerWorld()

    assert await measured(world) == {}
    await world.create()
    await world.deliver()
    assert await measured(world) == {}


async def test_unpriced_cost_is_told_by_its_bounds() -> None:
    """Missing prices are never zero."""
    world = WorkerWorld()
    await world.create()
    report = await world.deliver()
    assert report.job is not None
    found = metrics_of(replace(report, job=replace(report.job, spent=Cost(low=0, high=1_000, unpriced=True))))

    assert Metric("cost_per_accepted_job_high", Unit.MICRO_USD, 1_000) in found
    assert Metric("accepted_unpriced", Unit.COUNT, 1) in found
