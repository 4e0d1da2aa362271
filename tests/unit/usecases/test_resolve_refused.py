"""What decides a review before a person does: an answer, a look, a cancel, another person, or the rules."""

from __future__ import annotations

from collections.abc import Callable
from datetime import timedelta
from typing import Any

import pytest
from pydantic import BaseModel, field_serializer

from onceward.adapters.memory.blob import MemoryBlob
from onceward.domain.ledger import Verb
from onceward.domain.states import JobState, Resolution
from onceward.errors import (
    AnswerArrived,
    BlobUnavailable,
    CancelRecorded,
    InvalidInput,
    JobNotFound,
    NotInReview,
    OncewardError,
    PaymentUnconfirmed,
    ReviewLooking,
    ReviewResolved,
    UnknownKind,
)
from onceward.usecases.cancel_job import cancel_job
from onceward.usecases.context import Context
from onceward.usecases.registry import Registry
from onceward.usecases.resolve_job import resolve_job
from tests.support.builders import JOB_ID, TENANT, a_policy, an_answer
from tests.support.hooked_store import HookedStore
from tests.support.reviews import (
    ANSWER_BODY,
    TARIFF,
    a_verdict,
    in_review,
    intake,
    money,
    resolved,
    verbs,
)
from tests.support.worker_world import Ask, WorkerWorld

pytestmark = pytest.mark.anyio


@pytest.mark.parametrize("resolution", Resolution)
async def test_another_verdict_on_the_same_review_is_refused(resolution: Resolution) -> None:
    """The first person decided."""
    world = WorkerWorld()
    await resolved(world, resolution)
    other = Resolution.ACCEPT if resolution is not Resolution.ACCEPT else Resolution.FAIL

    with pytest.raises(ReviewResolved):
        await resolve_job(intake(world), a_verdict(other))
    if resolution is Resolution.ACCEPT:
        with pytest.raises(ReviewResolved):
            await resolve_job(intake(world), a_verdict(resolution, result={"text": "another"}))


@pytest.mark.parametrize("resolution", Resolution)
async def test_answer_that_has_come_decides_first(resolution: Resolution) -> None:
    """The command says so, the look comes at once, and the job succeeds by what was paid for already."""
    world = WorkerWorld()
    await in_review(world)
    await world.store.put_cold(an_answer(body=ANSWER_BODY), world.row.expires_at)

    with pytest.raises(AnswerArrived):
        await resolve_job(intake(world), a_verdict(resolution))
    await world.deliver()
    assert (world.row.state, world.row.epoch, len(world.provider.keys)) == (JobState.SUCCEEDED, 1, 1)


async def test_running_look_is_not_overruled() -> None:
    """Its run holds the job; whoever asks in between is told to ask again."""
    world = WorkerWorld()
    await in_review(world)
    world.overwrite(state=JobState.RUNNING)

    with pytest.raises(ReviewLooking):
        await resolve_job(intake(world), a_verdict())


@pytest.mark.parametrize("resolution", [Resolution.ACCEPT, Resolution.RETRY])
async def test_recorded_cancel_goes_before_a_result_and_another_epoch(resolution: Resolution) -> None:
    """An action's review stays, marked; a person can end it, and it ends cancelled and released."""
    world = WorkerWorld(policy=a_policy(has_outside_effect=True))
    await in_review(world)
    await cancel_job(world.store, world.queue, world.clock, world.ids, tenant_id=TENANT, job_id=JOB_ID)
    await world.deliver()
    assert world.row.state is JobState.NEEDS_REVIEW

    with pytest.raises(CancelRecorded):
        await resolve_job(intake(world), a_verdict(resolution))
    await resolve_job(intake(world), a_verdict(Resolution.FAIL))
    assert (world.row.state, world.row.error_code) == (JobState.CANCELLED, "cancelled")
    assert (world.row.cancelled_at, money(world)) == (world.clock.now(), (TARIFF, 0, 0))


async def test_result_that_breaks_the_kind_s_model_is_refused_with_its_place() -> None:
    """Nobody downstream may be given what the kind would never have made."""
    world = WorkerWorld()
    with pytest.raises(InvalidInput) as refused:
        await resolved(world, Resolution.ACCEPT, result={"wrong": 1})

    assert [fault.pointer for fault in refused.value.faults] == ["/result/text"]
    assert world.row.state is JobState.NEEDS_REVIEW


class Rated(BaseModel):
    """An output with a number, and one validator that expects what the kind's own code makes."""

    rate: float
    labels: list[str] = []

    @field_serializer("labels")
    def _first(self, labels: list[str]) -> str:
        return labels[0]


@pytest.mark.parametrize("rate", ["NaN", "Infinity", "-inf"])
async def test_result_that_is_no_json_is_refused(rate: str) -> None:
    """A float's field reads these strings, and no JSON holds what it reads: a worker's output is refused for it too."""
    world = WorkerWorld()
    replace_output(world, lambda _: 0)
    with pytest.raises(InvalidInput):
        await resolved(world, Resolution.ACCEPT, result={"rate": rate, "labels": ["a"]})

    assert world.row.state is JobState.NEEDS_REVIEW


@pytest.mark.parametrize("labels", [[], ["a"]], ids=["serializer", "pages"])
async def test_result_that_the_kind_s_own_code_stumbles_over_is_refused(labels: list[str]) -> None:
    """It is what a person gave, and no fault of the server: 422, not 500."""
    world = WorkerWorld()
    replace_output(world, lambda output: len(output.labels[1]))
    with pytest.raises(InvalidInput):
        await resolved(world, Resolution.ACCEPT, result={"rate": 1, "labels": labels})

    assert (world.row.state, money(world)) == (JobState.NEEDS_REVIEW, (0, TARIFF, 0))


def replace_output(world: WorkerWorld, pages_of: Callable[[Rated], int]) -> None:
    """Let the world's one kind have rated outputs."""
    world.registry = Registry()
    policy = world.policy
    world.registry.kind(policy=policy, input_model=Ask, output_model=Rated, pages_of=pages_of)(rated)


async def rated(context: Context, given: Ask) -> Rated:
    """A kind that asks one step."""
    await context.model.generate(given.steps[0], [("user", "rate")])
    return Rated(rate=1.0, labels=["a"])


async def test_retry_must_say_that_it_may_pay_twice() -> None:
    """Money is risked on purpose or not at all."""
    world = WorkerWorld()
    with pytest.raises(PaymentUnconfirmed):
        await resolved(world, Resolution.RETRY, may_pay_twice=False)

    assert world.row.state is JobState.NEEDS_REVIEW


@pytest.mark.parametrize(
    ("fields", "error"),
    [({"tenant_id": "globex"}, JobNotFound), ({"epoch": 2}, NotInReview)],
    ids=["another tenant's", "another epoch's"],
)
async def test_verdict_on_what_is_not_there_changes_nothing(fields: Any, error: type[OncewardError]) -> None:
    """A foreign job is an absent one; a verdict is about the epoch that was looked at."""
    world = WorkerWorld()
    await in_review(world)
    row = world.row

    with pytest.raises(error):
        await resolve_job(intake(world), a_verdict(**fields))
    assert world.row == row


@pytest.mark.parametrize("resolution", Resolution)
async def test_review_of_newer_code_is_left_to_newer_code(resolution: Resolution) -> None:
    """Invariant 18: what its kind makes of a result or of another epoch is not known here."""
    world = WorkerWorld()
    await in_review(world)
    world.overwrite(kind_version=2)
    before = world.row

    with pytest.raises(UnknownKind):
        await resolve_job(intake(world), a_verdict(resolution))
    assert world.row == before


async def test_job_that_was_never_in_review_is_not_resolved() -> None:
    """A running or ended job has nothing to decide."""
    world = WorkerWorld()
    await world.create()

    with pytest.raises(NotInReview):
        await resolve_job(intake(world), a_verdict())


async def test_write_whose_answer_was_lost_is_found_by_its_record() -> None:
    """The own-token rule: the SDK's repeat is refused by its own effect, and the verdict is answered as done."""
    world = WorkerWorld()
    await in_review(world)

    async def applied_twice(method: Any, ops: Any, token: str) -> Any:
        await method(ops, token)
        return await method(ops, token + "x")  # as the service sees a repeat after ten minutes

    done = await resolve_job(intake(world, HookedStore(world.store, transact=applied_twice)), a_verdict())

    assert (done.record.by, world.row.state, verbs(world)) == ("op-1", JobState.FAILED, [(1, Verb.RELEASE)])


async def test_of_a_look_and_a_verdict_at_once_one_wins() -> None:
    """The look claims between the verdict's read and its write: the verdict is refused, and says why."""
    world = WorkerWorld()
    await in_review(world)
    world.clock.move(timedelta(minutes=2))

    async def overtaken(method: Any, *arguments: Any) -> Any:
        world.overwrite(state=JobState.RUNNING, seq=world.row.seq + 1)
        return await method(*arguments)

    with pytest.raises(ReviewLooking):
        await resolve_job(intake(world, HookedStore(world.store, transact=overtaken)), a_verdict(Resolution.ACCEPT))
    assert verbs(world) == []


async def test_a_refused_result_that_cannot_be_erased_changes_no_answer() -> None:
    """Nobody can name the object; its bucket's lifecycle takes it, and the person is told what came first."""
    world = WorkerWorld()
    await in_review(world)
    world.clock.move(timedelta(minutes=2))
    tried: list[str] = []

    class Stuck(MemoryBlob):
        """Erases nothing."""

        async def erase(self, key: str) -> None:
            tried.append(key)
            raise BlobUnavailable("planned")

    async def overtaken(method: Any, *arguments: Any) -> Any:
        world.overwrite(state=JobState.RUNNING, seq=world.row.seq + 1)
        return await method(*arguments)

    world.blob = Stuck(world.clock)
    large = a_verdict(Resolution.ACCEPT, result={"text": "x" * 300_000})
    with pytest.raises(ReviewLooking):
        await resolve_job(intake(world, HookedStore(world.store, transact=overtaken)), large)
    assert len(tried) == 1
