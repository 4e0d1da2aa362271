"""A repeat that is refused, however and whenever, lets nobody forget the request before it: one key, one effect."""

from __future__ import annotations

import asyncio
from collections.abc import Callable
from dataclasses import replace
from datetime import timedelta

import pytest

from onceward.domain.breaking import Breaker, BreakerRule
from onceward.domain.job import Job
from onceward.domain.names import CallFingerprint
from onceward.domain.records import Answer
from onceward.domain.retry import ErrorClass
from onceward.domain.states import CallState, JobState, Resolution, WaitingFor
from onceward.errors import CallFailure
from onceward.usecases.breakers import Breakers
from onceward.usecases.cancel_job import cancel_job
from onceward.usecases.deps import Deps
from onceward.usecases.resolve_job import Verdict, resolve_job
from tests.support.action_world import ActionWorld
from tests.support.actions import lost, refused
from tests.support.dead_worker import dying_of_a_refusal

MONTH = timedelta(days=31)  # longer than a review, and than the target's window
MOST_ATTEMPTS = 5  # of an action, in each epoch
AWAY = refused("target_unavailable", ErrorClass.TRANSIENT)
BUSY = refused("rate_limited", ErrorClass.RATE_LIMITED)
UNREACHABLE = CallFailure("", code="target_unreachable", error_class=ErrorClass.TRANSIENT, was_sent=False)
AUTH = refused("target_auth")
REFUSALS = (AWAY, BUSY, AUTH, UNREACHABLE)

type Stand = Callable[[ActionWorld], None]


class RefusingWorld(ActionWorld):
    """An action's world whose worker may die between a refusal's item and the row; ``breaks``: it has a breaker."""

    dies = False
    breaks = False

    def deps(self) -> Deps:
        """The ports, some of them broken."""
        deps = super().deps()
        if self.breaks:
            deps = replace(deps, breakers=Breakers(deps.store, deps.clock, deps.ids, BreakerRule()))
        if not self.dies:
            return deps
        return replace(deps, store=dying_of_a_refusal(self.world.store))


def in_the_epoch(world: ActionWorld) -> None:
    """The attempt after the lost answer repeats it, inside the target's window."""
    world.target.after = [lost()]
    world.post()
    world.work()
    wake(world)


def failed_by_a_person(world: ActionWorld) -> None:
    """The review ended at once, and the operation was reset: the window is still open."""
    lose(world)
    resolve(world, Resolution.FAIL)
    reset(world)


def waited_out(world: ActionWorld) -> None:
    """The review ended by its limit, and the window with it."""
    lose(world)
    end_review(world)
    reset(world)


def allowed_by_a_person(world: ActionWorld) -> None:
    """A person took the risk, when the window was over."""
    lose(world)
    world.world.clock.move(timedelta(days=29))
    resolve(world, Resolution.RETRY)


def waited_out_twice(world: ActionWorld) -> None:
    """A second epoch has not found it out either."""
    waited_out(world)
    world.target.before = [AWAY] * 5
    assert world.rest().state is JobState.NEEDS_REVIEW
    end_review(world)
    reset(world)


STANDS = (in_the_epoch, failed_by_a_person, waited_out, allowed_by_a_person, waited_out_twice)
CARRIED = STANDS[1:]
of_every_stand = pytest.mark.parametrize("stand", STANDS, ids=lambda stand: stand.__name__)


def lose(world: ActionWorld) -> None:
    """Done once, and no answer ever heard: in review."""
    world.target.after = [lost()] * 5
    world.post()
    assert world.rest().state is JobState.NEEDS_REVIEW
    world.target.after = []


def end_review(world: ActionWorld) -> None:
    """Thirty days without a person."""
    world.world.clock.move(MONTH)
    wake(world)
    world.work()
    assert (world.row.state, world.row.error_code) == (JobState.FAILED, "review_expired")


def reset(world: ActionWorld) -> None:
    """An operator's word."""
    assert world.say("reset", epoch=world.row.epoch, why="the customer still waits").status == 202


def resolve(world: ActionWorld, resolution: Resolution) -> None:
    """A person's verdict on the present review."""
    job = world.row
    verdict = Verdict(
        tenant_id=job.tenant_id,
        job_id=job.job_id,
        resolution=resolution,
        epoch=job.epoch,
        by="olga",
        why="nobody knows",
        may_pay_twice=True,
    )
    asyncio.run(resolve_job(world.world.intake, verdict))


def wake(world: ActionWorld) -> None:
    """A minute later, as the sweeper does it."""
    world.world.clock.move(timedelta(minutes=1))
    world.deliver(world.row.job_id)


def refuse(stand: Stand, *refusals: CallFailure, dies: bool = False) -> RefusingWorld:
    """A repeat of what had been done, as it is refused."""
    world = RefusingWorld("header")
    stand(world)
    assert world.effects == 1
    world.target.before = list(refusals)
    world.dies = dies
    return world


def told(job: Job) -> tuple[JobState, int]:
    """The state, and how many calls are open."""
    return job.state, len(job.open)


@of_every_stand
@pytest.mark.parametrize("refusal", REFUSALS, ids=lambda refusal: str(refusal.code))
def test_the_next_repeat_uses_the_first_key(stand: Stand, refusal: CallFailure) -> None:
    """Under another one the target would do it a second time."""
    world = refuse(stand, refusal)
    first = world.row.open[0]
    world.work()
    (after,) = world.row.open

    assert (after.key, after.first_sent_at, after.epoch) == (first.key, first.first_sent_at, first.epoch)
    assert (world.rest().state, world.effects) == (JobState.SUCCEEDED, 1)


@of_every_stand
@pytest.mark.parametrize("refusal", REFUSALS[:-1], ids=lambda refusal: str(refusal.code))
def test_a_worker_that_dies_with_the_refusal_in_hand_changes_nothing(stand: Stand, refusal: CallFailure) -> None:
    """Its item is there and the row does not know it: the next run reads it as the dead one would have."""
    world = refuse(stand, refusal, dies=True)
    first = world.row.open[0]
    world.work()
    assert (world.row.state, world.row.open[0].state) == (JobState.RUNNING, CallState.SENT)
    world.dies = False

    assert (world.rest(rounds=12).state, world.effects) == (JobState.SUCCEEDED, 1)
    assert {answer.key for answer in answers(world)} == {first.key}


def answers(world: ActionWorld) -> list[Answer]:
    """Every recorded answer."""
    job = world.row
    items = world.world.store.items[job.tenant_id, job.job_id].values()
    return [item for item in items if isinstance(item, Answer)]


@of_every_stand
@pytest.mark.parametrize("refusal", [AWAY, AUTH], ids=lambda refusal: str(refusal.code))
def test_attempts_that_are_all_refused_leave_it_to_a_person(stand: Stand, refusal: CallFailure) -> None:
    """Never failed: it was done. Whatever the person then decides, it is done once."""
    world = refuse(stand, *[refusal] * 9)

    assert told(world.rest()) == (JobState.NEEDS_REVIEW, 1)
    world.target.before = []
    resolve(world, Resolution.RETRY)
    assert (world.rest().state, world.effects) == (JobState.SUCCEEDED, 1)


@of_every_stand
def test_a_worker_that_dies_in_the_last_attempt_leaves_it_to_a_person(stand: Stand) -> None:
    """The one in whose hand the last refusal was: no attempt is left in which the key could be kept."""
    world = refuse(stand, *[AWAY] * 9)
    while world.row.attempts < MOST_ATTEMPTS - 1 or world.row.state is not JobState.WAITING:
        world.work()
        wake(world)
    world.dies = True
    world.work()
    assert (world.row.state, world.row.attempts) == (JobState.RUNNING, MOST_ATTEMPTS)
    world.dies = False

    assert told(world.rest()) == (JobState.NEEDS_REVIEW, 1)


@pytest.mark.parametrize("stand", CARRIED, ids=lambda stand: stand.__name__)
def test_the_deadline_leaves_it_to_a_person(stand: Stand) -> None:
    """An epoch that ends between two refusals knows what it does not know."""
    world = refuse(stand, *[BUSY] * 9)
    world.work()
    world.world.clock.move(timedelta(days=2))
    wake(world)
    world.work()

    assert told(world.row) == (JobState.NEEDS_REVIEW, 1)


@of_every_stand
def test_a_cancel_leaves_it_to_a_person(stand: Stand) -> None:
    """What may have changed the world is not closed by a wish."""
    world = refuse(stand, BUSY)
    world.work()
    assert world.row.waiting_for is WaitingFor.RETRY
    job, at = world.row, world.deps()
    asyncio.run(cancel_job(at.store, at.queue, at.clock, at.ids, tenant_id=job.tenant_id, job_id=job.job_id))
    wake(world)
    world.work()

    assert told(world.row) == (JobState.NEEDS_REVIEW, 1)
    assert (world.row.cancel_requested_at is not None, world.effects) == (True, 1)


@of_every_stand
@pytest.mark.parametrize("what", ["switched off", "breaker open"])
def test_what_is_stopped_before_it_is_journaled_leaves_it_as_it_was(stand: Stand, what: str) -> None:
    """Nothing left; the maybe is the very one that was there."""
    world = refuse(stand)
    first, requests = world.row.open[0], world.target.requests
    if what == "switched off":
        asyncio.run(world.world.store.switch("all", is_on=False))
    else:
        now = world.world.clock.now()
        world.breaks = True
        world.world.store.breakers["http:create_task"] = Breaker(
            name="http:create_task", token="theirs", opened_at=now, openings=1, probe_at=now + timedelta(minutes=5)
        )
    world.work()

    assert (world.row.open, world.target.requests) == ((replace(first, state=CallState.UNKNOWN),), requests)
    asyncio.run(world.world.store.switch("all", is_on=True))
    assert (world.rest(rounds=12).state, world.effects) == (JobState.SUCCEEDED, 1)


@of_every_stand
def test_a_changed_request_is_not_sent_for_one_that_may_have_been_done(stand: Stand) -> None:
    """A deploy asks something else under the step: failed, it could be reset, and be done under a new key."""
    world = refuse(stand)
    row, requests = world.row, world.target.requests
    changed = tuple(replace(call, asked=CallFingerprint("0" * 16)) for call in row.open)
    world.world.store.rows[row.tenant_id, row.identity] = replace(row, open=changed)

    assert told(world.rest()) == (JobState.NEEDS_REVIEW, 1)
    assert (world.row.attempt and world.row.attempt.error_code, world.target.requests) == ("call_changed", requests)


def test_a_first_request_that_is_refused_is_over() -> None:
    """The control: nothing went before it, so the failure is an answer, and a reset asks under a new key."""
    world = RefusingWorld("header")
    world.target.before = [refused("target_conflict")]
    world.post()

    assert told(world.rest()) == (JobState.FAILED, 0)
    reset(world)
    assert (world.rest().state, world.effects) == (JobState.SUCCEEDED, 1)
    assert len({key for key, _ in world.target.effects} | {one.key for one in answers(world)}) == 2


def test_what_is_not_found_says_nothing_of_a_send_before_the_promise() -> None:
    """A deploy has declared lookups since: they find no trace of the repeat, and would have found none of the first."""
    world = RefusingWorld("nothing")
    lose(world)
    world.target.promise = "lookup"
    world.target.effects.clear()  # done where no lookup looks
    resolve(world, Resolution.RETRY)
    world.target.before = [lost(), *[AUTH] * 9]

    assert (told(world.rest(rounds=12)), world.target.lookups > 0) == ((JobState.NEEDS_REVIEW, 1), True)
    assert len({world.row.open[0].key} | {one.key for one in answers(world)}) == 1
