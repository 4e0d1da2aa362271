"""A deploy finds jobs in every state that older code left them in, and finishes each as that code would have.

``tests/support/stored_states/`` holds what the code of its time wrote, by running: nothing of it was made by hand.
"""

from __future__ import annotations

from dataclasses import dataclass, field, replace
from datetime import timedelta

import pytest

from onceward.domain.job import Job
from onceward.domain.policy import Capability, KindPolicy, OnUnknown, RetryPolicy
from onceward.domain.recovery import PollReply
from onceward.domain.states import JobState, Resolution, WaitingFor
from onceward.usecases.ports import ModelReply
from onceward.usecases.resolve_job import resolve_job
from tests.support.builders import TENANT, a_policy, seconds
from tests.support.fakes import FakeIds, a_reply
from tests.support.flight_world import FlightWorld, numbered
from tests.support.reviews import a_verdict, intake
from tests.support.stored_items import STATES, load, stored_states
from tests.support.worker_world import WorkerWorld

pytestmark = pytest.mark.anyio

FILES = sorted(path.name for path in STATES.iterdir())
RETRY = a_policy(retry=RetryPolicy(max_attempts=3, on_unknown=OnUnknown.RETRY))
LATER, LOOKUP = Capability(kept=timedelta(days=29)), Capability(lookup_lag=seconds(60))
DONE, REVIEW = JobState.SUCCEEDED, JobState.NEEDS_REVIEW
FURTHER_ON = 500  # tokens that older processes made


@dataclass(frozen=True, slots=True)
class Finish:
    """How a job of one state ends under today's code, after how many requests of it to the provider."""

    state: JobState
    calls: int = 0
    policy: KindPolicy = field(default_factory=a_policy)
    capability: Capability = field(default_factory=Capability)


FINISHES = {
    "queued": Finish(DONE, 1),
    "waiting for a retry": Finish(DONE, 1),
    "waiting for a retry of its second step": Finish(DONE, 1),
    "waiting for a lookup": Finish(DONE, 1, capability=LOOKUP),
    "waiting for its provider": Finish(DONE, capability=LATER),
    "running, its reference kept": Finish(DONE, capability=LATER),
    "running, its answer kept": Finish(DONE),
    "running, its call sent, policy retry": Finish(DONE, 1, policy=RETRY),
    "running, its call sent, policy review": Finish(REVIEW),
    "in review": Finish(REVIEW),
    "re-opened by a verdict": Finish(DONE, 1),
    "exhausted": Finish(JobState.FAILED),
    "failed": Finish(JobState.FAILED),
    "succeeded": Finish(DONE),
    "succeeded with a result of its own": Finish(DONE),
    "succeeded by a verdict": Finish(DONE),
    "cancelled": Finish(JobState.CANCELLED),
}
ELSEWHERE = {
    "two wait for a flight under way",  # below
    *("waiting for an approval", "an action that failed", "an action that was reset"),  # test_api_upgrade_actions.py
}


def a_world(file: str, name: str) -> WorkerWorld:
    """Today's worker over the stored items, an hour later."""
    finish = FINISHES[name]
    world = WorkerWorld(policy=finish.policy)
    load(world.store, stored_states(file)[name])
    world.provider.capability = finish.capability
    world.provider.polled = {"work-1": a_reply()}
    world.ids = FakeIds(FURTHER_ON)
    world.clock.move(timedelta(hours=1))
    return world


async def rested(world: WorkerWorld) -> Job:
    """Deliver until nothing more happens by itself."""
    for _ in range(6):
        await world.deliver()
        if world.row.state.is_terminal or world.row.state is REVIEW:
            break
        world.clock.move(timedelta(minutes=15))
    return world.row


def assert_books_agree(world: WorkerWorld) -> None:
    """Captured exactly if it succeeded, held exactly while it is open or in review."""
    account, row = world.account, world.row
    held = 0 if row.state.is_terminal else row.reserved_micro_usd

    assert (account.available + account.reserved + account.captured, account.reserved) == (account.granted, held)
    assert (account.captured > 0) == (row.state is DONE)


@pytest.mark.parametrize("file", FILES)
def test_every_state_is_there(file: str) -> None:
    """Each state, each thing that a job can wait for, and each class of item that a job can have."""
    found = stored_states(file)
    items = [item for state in found.values() for item in state["jobs"]]
    rows = [item for item in items if item["sk"]["S"] == "job"]

    assert found.keys() == FINISHES.keys() | ELSEWHERE
    assert {row["s"]["S"] for row in rows} == set(JobState)
    assert {row["w"]["S"] for row in rows if "w" in row} == set(WaitingFor)
    classes = {"input", "answer", "reference", "result", "attempt", "participant", "review"}
    assert {item["item"]["S"] for item in items if "item" in item} == classes | {"seen", "word", "operation"}


@pytest.mark.invariant(18)
@pytest.mark.parametrize("file", FILES)
@pytest.mark.parametrize("name", FINISHES)
async def test_what_older_code_left_is_finished(file: str, name: str) -> None:
    """Its end, what is sent for it, and the books; what has ended stays as it is, to the last field."""
    world = a_world(file, name)
    before, finish = world.row, FINISHES[name]
    row = await rested(world)

    assert (row.state, len(world.provider.keys)) == (finish.state, finish.calls)
    assert row == before or not before.state.is_terminal
    assert_books_agree(world)


@pytest.mark.parametrize("file", FILES)
@pytest.mark.parametrize("resolution", Resolution)
async def test_older_review_is_resolved(file: str, resolution: Resolution) -> None:
    """Each verdict on it ends as one on a review of today."""
    world = a_world(file, "in review")
    await resolve_job(intake(world), a_verdict(resolution))
    row = await rested(world)

    assert row.state is (JobState.FAILED if resolution is Resolution.FAIL else DONE)
    assert_books_agree(world)


@pytest.mark.parametrize("file", FILES)
async def test_older_letter_opens_its_job(file: str) -> None:
    """Exhausted then, redriven now: a new epoch, which reserves anew and succeeds."""
    world = a_world(file, "exhausted")
    await world.deliver(letter_epoch=1)

    assert (world.row.state, world.row.epoch, len(world.provider.keys)) == (DONE, 2, 1)
    assert_books_agree(world)


@pytest.mark.parametrize("file", FILES)
async def test_older_reference_is_still_waited_for(file: str) -> None:
    """Work that its provider has not done yet is asked for again, and costs no attempt."""
    world = a_world(file, "waiting for its provider")
    world.provider.polled = {"work-1": PollReply.PENDING}
    await world.deliver()
    waits = world.row
    replies: dict[str, ModelReply | PollReply | Exception] = {"work-1": a_reply()}
    world.provider.polled = replies

    assert (waits.waiting_for, waits.attempts) == (WaitingFor.PROVIDER, 1)
    assert ((await rested(world)).state, world.provider.keys) == (DONE, [])


@pytest.mark.parametrize("file", FILES)
async def test_older_flight_takes_its_participants_along(file: str) -> None:
    """Its worker was lost while it asked, and policy forbids a repeat: one review, which one verdict ends for all."""
    world = FlightWorld()
    load(world.store, stored_states(file)["two wait for a flight under way"])
    world.ids = FakeIds(FURTHER_ON)
    world.clock.move(timedelta(hours=1))
    (flight,) = world.flights
    for job in (numbered(1), flight.job_id, numbered(2)):
        await world.give(job)
    parked = [row.state for row in world.store.rows.values()]
    await resolve_job(intake(world), replace(a_verdict(Resolution.ACCEPT), job_id=flight.job_id))
    for job in (numbered(1), numbered(2)):
        await world.give(job)

    assert parked == [REVIEW] * 3
    assert [world.of(job).state for job in (numbered(1), numbered(2))] == [DONE] * 2
    assert (world.calls, world.store.accounts[TENANT].captured) == (0, 2 * world.policy.tariff_micro_usd)
