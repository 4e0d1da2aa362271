"""A person's verdict on a review: what it writes, and that it can be asked twice."""

from __future__ import annotations

from datetime import timedelta

import pytest
from pydantic import JsonValue

from onceward.domain.job import AnswerRef
from onceward.domain.ledger import Verb
from onceward.domain.policy import Capability
from onceward.domain.records import ReviewRecord
from onceward.domain.states import CallState, JobState, Resolution
from onceward.errors import (
    CallFailure,
    NotInReview,
)
from onceward.usecases.read_job import read_job
from onceward.usecases.resolve_job import resolve_job
from tests.support.builders import JOB_ID, STEP, TENANT, an_answer
from tests.support.fakes import a_reply
from tests.support.reviews import (
    ANSWER_BODY,
    RESULT,
    TARIFF,
    UNKNOWN,
    a_verdict,
    intake,
    money,
    resolved,
    verbs,
)
from tests.support.worker_world import WorkerWorld

pytestmark = pytest.mark.anyio


async def test_accepted_result_is_the_job_s_and_is_charged_once() -> None:
    """What a person found at the provider counts like any result: tariff, entry, and its own item."""
    world = WorkerWorld()
    done = await resolved(world, Resolution.ACCEPT)
    reading = await read_job(world.store, world.blob, world.clock, tenant_id=TENANT, job_id=JOB_ID)

    assert (world.row.state, world.row.charge_micro_usd, world.row.open) == (JobState.SUCCEEDED, TARIFF, ())
    assert (reading.result, done.is_replay) == (RESULT, False)
    assert money(world) == (0, 0, TARIFF)
    assert verbs(world) == [(1, Verb.CAPTURE)]
    assert (world.row.spent.low, world.row.spent.high) == (0, 1_000)


async def test_large_result_is_an_object_that_the_item_names() -> None:
    """As with any result above what an item holds."""
    world = WorkerWorld()
    large: JsonValue = {"text": "x" * 300_000}
    await resolved(world, Resolution.ACCEPT, result=large)
    reading = await read_job(world.store, world.blob, world.clock, tenant_id=TENANT, job_id=JOB_ID)

    assert reading.result == large


async def test_failed_review_releases_what_was_held() -> None:
    """No result, no charge; what the call may have cost stays in the books."""
    world = WorkerWorld()
    await resolved(world, Resolution.FAIL)

    assert (world.row.state, world.row.error_code) == (JobState.FAILED, "review_failed")
    assert (money(world), verbs(world)) == ((TARIFF, 0, 0), [(1, Verb.RELEASE)])
    assert world.row.spent.high == 1_000


async def test_retry_opens_a_new_epoch_with_the_same_reservation_and_the_same_downstream_key() -> None:
    """A target that dedupes computes nothing again; one that does not is paid a second time, knowingly."""
    world = WorkerWorld()
    await resolved(world, Resolution.RETRY)

    assert (world.row.state, world.row.epoch, world.row.attempts) == (JobState.QUEUED, 2, 0)
    assert (money(world), verbs(world)) == ((0, TARIFF, 0), [(2, Verb.CARRY)])
    await world.deliver()
    assert (world.row.state, len(world.provider.keys), len(set(world.provider.keys))) == (JobState.SUCCEEDED, 2, 1)
    assert verbs(world) == [(2, Verb.CAPTURE), (2, Verb.CARRY)]
    assert (money(world), world.row.spent.low, world.row.spent.high) == ((0, 0, TARIFF), 10, 1_010)


async def test_retry_that_ends_unknown_again_is_a_review_of_its_own_epoch() -> None:
    """A person allowed one repeat, not any number of them."""
    world = WorkerWorld()
    await resolved(world, Resolution.RETRY)
    world.provider.script = [UNKNOWN]
    await world.deliver()

    assert (world.row.state, world.row.epoch) == (JobState.NEEDS_REVIEW, 2)
    assert world.row.spent.high + sum(call.max_cost for call in world.row.open) == 2_000
    with pytest.raises(NotInReview):
        await resolve_job(intake(world), a_verdict(Resolution.FAIL, epoch=3))
    await resolve_job(intake(world), a_verdict(Resolution.FAIL, epoch=2))
    assert verbs(world) == [(2, Verb.CARRY), (2, Verb.RELEASE)]


async def test_retry_whose_provider_is_busy_is_tried_again_by_the_policy() -> None:
    """A failure before the repeated call left does not ask the person again."""
    world = WorkerWorld()
    await resolved(world, Resolution.RETRY)
    refused = CallFailure("", code="connect_failed", error_class="transient", was_sent=False)
    world.provider.script = [refused]
    await world.deliver()
    assert (world.row.state, world.row.attempts) == (JobState.WAITING, 1)
    world.clock.move(timedelta(minutes=1))
    await world.deliver()

    assert (world.row.state, world.row.epoch) == (JobState.SUCCEEDED, 2)


async def test_late_answer_is_found_before_the_repeat_is_sent() -> None:
    """Also after a person allowed the repeat: evidence goes first, and saves the money."""
    world = WorkerWorld()
    await resolved(world, Resolution.RETRY)
    await world.store.put_cold(an_answer(body=ANSWER_BODY), world.row.expires_at)
    await world.deliver()

    assert (world.row.state, len(world.provider.keys)) == (JobState.SUCCEEDED, 1)


async def test_lookup_is_asked_before_the_repeat_is_sent() -> None:
    """The same, where the target knows."""
    world = WorkerWorld()
    await resolved(world, Resolution.RETRY)
    world.provider.capability = Capability(lookup_lag=timedelta(seconds=1))
    world.provider.found = {"*": a_reply()}
    await world.deliver()

    assert (world.row.state, len(world.provider.keys)) == (JobState.SUCCEEDED, 1)


@pytest.mark.parametrize("resolution", Resolution)
async def test_repeated_verdict_is_answered_the_same(resolution: Resolution) -> None:
    """A lost answer costs nothing: one record, one set of entries, one epoch."""
    world = WorkerWorld()
    first = await resolved(world, resolution)
    row, entries = world.row, verbs(world)
    again = await resolve_job(intake(world), a_verdict(resolution, by="op-2", why="again"))

    assert (again.is_replay, again.record, again.job) == (True, first.record, first.job)
    assert (world.row, verbs(world)) == (row, entries)


@pytest.mark.parametrize("resolution", Resolution)
async def test_record_tells_who_when_why_and_what_changed(resolution: Resolution) -> None:
    """Append-only, beside the job, for whoever has to account for it."""
    world = WorkerWorld()
    done = await resolved(world, resolution)
    (record,) = [item for item in world.items.values() if isinstance(item, ReviewRecord)]
    after = {"accept": ("succeeded", 1), "fail": ("failed", 1), "retry": ("queued", 2)}[resolution]

    assert record == done.record
    assert (record.resolution, record.by, record.at, record.why) == (
        resolution,
        "op-1",
        world.clock.now(),
        "asked the provider",
    )
    assert (record.before.state, record.before.epoch, record.before.reserved_micro_usd) == ("needs_review", 1, TARIFF)
    assert [call.state for call in record.before.open] == [CallState.UNKNOWN]
    assert (str(record.after.state), record.after.epoch) == after
    assert (record.digest is not None) == (resolution is Resolution.ACCEPT)


async def test_review_of_an_unread_answer_is_retried_over_what_was_paid() -> None:
    """Three lost runs and a recorded answer: the new epoch reads it and buys nothing."""
    world = WorkerWorld()
    await world.create(reserved_micro_usd=TARIFF)
    await world.store.put_cold(an_answer(body=ANSWER_BODY), world.row.expires_at)
    await world.lose_a_run(accepted={STEP: AnswerRef(epoch=1, attempt=1)}, lost=2)
    await world.deliver()
    assert (world.row.state, world.row.open) == (JobState.NEEDS_REVIEW, ())
    await resolve_job(intake(world), a_verdict(Resolution.RETRY))
    await world.deliver()

    assert (world.row.state, world.row.epoch, world.provider.keys) == (JobState.SUCCEEDED, 2, [])
