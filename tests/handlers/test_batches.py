"""A batch of records: which message is a wake-up, which a redriven letter, and what comes back."""

from __future__ import annotations

import pytest

from onceward.domain.deliveries import Acknowledge, PutBack
from onceward.domain.states import JobState
from onceward.handlers.batches import Record, handle_batch
from onceward.wire.messages import dead_letter_body, wakeup_body
from tests.support.builders import JOB_ID, NOW, TENANT
from tests.support.worker_world import WorkerWorld

pytestmark = pytest.mark.anyio

WAKEUP = wakeup_body(TENANT, JOB_ID)


async def an_exhausted_world() -> WorkerWorld:
    """A job that ended exhausted in its first epoch."""
    world = WorkerWorld()
    await world.create(state=JobState.FAILED, error_code="attempts_exhausted", attempts=3, finished_at=NOW, due=None)
    return world


def a_record(world: WorkerWorld, body: str, receive_count: int = 1) -> Record:
    """A received message with this body."""
    world.queue.put(body)
    message = world.queue.receive()[-1]
    return Record(message.message_id, message.receipt, body, receive_count)


@pytest.mark.failure_mode("F58")
@pytest.mark.parametrize(
    ("body", "state", "redrive"),
    [
        (WAKEUP, JobState.FAILED, None),
        (dead_letter_body(TENANT, JOB_ID, 1, "attempts_exhausted"), JobState.SUCCEEDED, "reopened"),
        (dead_letter_body(TENANT, JOB_ID, 2, "attempts_exhausted"), JobState.FAILED, "changed_nothing"),
    ],
    ids=["wake-up", "letter", "letter of another epoch"],
)
async def test_only_a_letter_of_its_epoch_opens_the_job(body: str, state: JobState, redrive: str | None) -> None:
    """A late wake-up of an exhausted job is told from its letter by the epoch in the body."""
    world = await an_exhausted_world()
    (outcome,) = await handle_batch(world.deps(), [a_record(world, body)], 900)

    assert (world.row.state, outcome.disposition, outcome.facts["redrive"]) == (state, Acknowledge(), redrive)


async def test_wake_up_and_letter_of_one_batch_make_one_run() -> None:
    """Both at once: one re-opens, one run follows, one call."""
    world = await an_exhausted_world()
    letter = dead_letter_body(TENANT, JOB_ID, 1, "attempts_exhausted")
    records = [a_record(world, body) for body in (letter, WAKEUP, letter)]
    await handle_batch(world.deps(), records, 900)

    assert (world.row.state, world.row.epoch, len(world.provider.keys)) == (JobState.SUCCEEDED, 2, 1)


async def test_letter_is_never_dropped_for_its_receive_count() -> None:
    """A wake-up received that often ends, for its row is due; a letter that this code cannot decide comes back."""
    world = await an_exhausted_world()
    world.overwrite(kind_version=9)
    letter = dead_letter_body(TENANT, JOB_ID, 1, "attempts_exhausted")
    records = [a_record(world, letter, receive_count=49)]
    (outcome,) = await handle_batch(world.deps(), records, 900)

    assert isinstance(outcome.disposition, PutBack)
