"""What a lost answer comes to, for each promise that a target can make; the target's own log is the witness."""

from __future__ import annotations

import asyncio
from collections.abc import Sequence
from datetime import timedelta
from pathlib import Path

import pytest

from onceward.domain.job import Job
from onceward.domain.policy import Backoff, Jitter, OnUnknown, RetryPolicy
from onceward.domain.retry import ErrorClass
from onceward.domain.states import AttemptOutcome, JobState, Resolution, WaitingFor
from onceward.errors import CallFailure, RegistrationError
from onceward.usecases.resolve_job import Verdict, resolve_job
from tests.support.action_world import ActionWorld
from tests.support.actions import PROMISES, an_action, lost, refused

PAGE = (Path(__file__).parents[3] / "docs" / "actions.md").read_text(encoding="utf-8")
DEDUPING = ("header", "natural")


def ended(promise: str, **faults: Sequence[CallFailure | None]) -> tuple[ActionWorld, Job]:
    """An operation whose requests meet these faults, once it has come to rest."""
    world = ActionWorld(promise)
    world.target.before, world.target.after = list(faults.get("before", [])), list(faults.get("after", []))
    world.post()
    return world, world.rest()


@pytest.mark.parametrize("promise", PROMISES)
def test_without_faults_one_request_makes_one_task(promise: str) -> None:
    """For every promise alike."""
    world, job = ended(promise)

    assert (job.state, job.attempts, world.target.requests, world.effects) == (JobState.SUCCEEDED, 1, 1, 1)


@pytest.mark.parametrize("promise", ["header", "natural", "lookup"])
@pytest.mark.parametrize("when", ["before", "after"])
def test_a_lost_answer_is_found_out_where_the_target_can_tell(promise: str, when: str) -> None:
    """One effect, whether the first request had been done or not."""
    world, job = ended(promise, **{when: [lost()]})

    assert (job.state, world.effects) == (JobState.SUCCEEDED, 1)
    assert world.get().json["response"] == {"status": 201, "body": {"id": 1}}


@pytest.mark.parametrize("when", ["before", "after"])
def test_a_target_that_promises_nothing_is_never_asked_twice(when: str) -> None:
    """It is parked for a person, with a dead letter."""
    world, job = ended("nothing", **{when: [lost()]})

    assert (job.state, world.target.requests, job.has_maybe) == (JobState.NEEDS_REVIEW, 1, True)
    assert len(world.world.queue.dead_letters) == 1


@pytest.mark.parametrize("promise", PROMISES)
def test_what_was_refused_at_the_door_is_tried_again(promise: str) -> None:
    """429 and 503 are answers: nothing was done, so every target may be asked again."""
    busy = refused("rate_limited", ErrorClass.RATE_LIMITED)
    away = refused("target_unavailable", ErrorClass.TRANSIENT)
    world, job = ended(promise, before=[busy, away])

    assert (job.state, job.attempts, world.effects) == (JobState.SUCCEEDED, 3, 1)


@pytest.mark.parametrize("promise", PROMISES)
def test_a_door_that_stays_shut_is_tried_five_times(promise: str) -> None:
    """Then the failure is stored; no outcome is unknown."""
    world, job = ended(promise, before=[refused("target_unavailable", ErrorClass.TRANSIENT)] * 9)

    assert (job.state, job.error_code, world.target.requests) == (JobState.FAILED, "attempts_exhausted", 5)


@pytest.mark.parametrize("promise", PROMISES)
def test_a_final_refusal_is_not_repeated(promise: str) -> None:
    """Invalid arguments, authentication, permission, conflict."""
    world, job = ended(promise, before=[refused("target_conflict")])

    assert (job.state, job.error_code, world.target.requests) == (JobState.FAILED, "target_conflict", 1)


@pytest.mark.parametrize("promise", DEDUPING)
@pytest.mark.parametrize("refusal", [refused("target_conflict"), refused("rate_limited", ErrorClass.RATE_LIMITED)])
def test_a_refused_repeat_says_nothing_of_the_first_request(promise: str, refusal: CallFailure) -> None:
    """The first one may have been done: the operation is not failed by what the second one met."""
    world, job = ended(promise, after=[lost()], before=[None, refusal])

    assert (job.state, world.target.requests, world.effects) == (JobState.SUCCEEDED, 3, 1)


@pytest.mark.failure_mode("F24")
@pytest.mark.parametrize("promise", DEDUPING)
def test_a_maybe_that_no_repeat_clears_up_goes_to_a_person(promise: str) -> None:
    """Five attempts, all without an answer: never failed, since it may have been done."""
    world, job = ended(promise, after=[lost()] * 9)

    assert (job.state, job.attempts, world.effects) == (JobState.NEEDS_REVIEW, 5, 1)


def test_a_lookup_that_comes_too_early_waits_until_its_answer_means_something() -> None:
    """Right after the send "not found" is no proof; the job waits without an attempt."""
    world = ActionWorld("lookup")
    world.target.before = [lost()]
    world.post()
    world.work()
    early = (world.row.waiting_for, world.target.requests)
    job = world.rest()

    assert early == (WaitingFor.LOOKUP, 1)
    assert (job.state, world.target.requests, world.effects) == (JobState.SUCCEEDED, 2, 1)


def test_a_header_is_trusted_for_its_window_only() -> None:
    """After it a repeat would be a second effect: a person decides."""
    world = ActionWorld()
    world.target.after = [lost()]
    world.post()
    world.work()
    world.world.clock.move(timedelta(minutes=59))
    assert world.row.waiting_for is WaitingFor.RETRY
    world.world.clock.move(timedelta(days=2))
    world.deliver(world.row.job_id)
    world.work()

    assert (world.row.state, world.effects, world.target.requests) == (JobState.NEEDS_REVIEW, 1, 1)


def test_a_cancel_of_a_maybe_leaves_it_to_a_person() -> None:
    """An action changes the world outside: a cancel does not undo what may have been done."""
    world, job = ended("nothing", after=[lost()])

    assert world.world.registry.find(job.kind).policy.has_outside_effect
    assert job.attempt is not None
    assert job.attempt.outcome is AttemptOutcome.UNKNOWN


def expired(promise: str, **fields: bool) -> ActionWorld:
    """A maybe whose review ended without an answer, and its reset; ``fields`` are the action's."""
    world = ActionWorld(promise, **fields)
    world.target.after = [lost()] * 5
    world.post()
    if world.row.waiting_for is WaitingFor.APPROVAL:
        assert world.say("approve", fingerprint=world.row.fingerprint, why="looked at").status == 202
    job = world.rest()
    assert job.state is JobState.NEEDS_REVIEW
    world.world.clock.move(timedelta(days=31))
    world.deliver(job.job_id)
    world.work()
    assert (world.row.state, world.row.error_code) == (JobState.FAILED, "review_expired")
    world.target.after.clear()
    assert world.say("reset", epoch=1, why="the customer still waits").status == 202
    return world


@pytest.mark.parametrize("promise", DEDUPING)
def test_a_reset_after_a_maybe_keeps_the_key_so_that_the_target_can_tell(promise: str) -> None:
    """Nobody knows whether it was done: under a new key a target that dedupes would do it a second time."""
    world = expired(promise)
    job = world.rest()

    assert (job.state, job.epoch, world.effects) == (JobState.SUCCEEDED, 2, 1)


@pytest.mark.parametrize("promise", DEDUPING)
@pytest.mark.parametrize("is_waited_out", [True, False], ids=["review expired", "failed by a person"])
def test_an_epoch_that_nobody_approved_takes_the_maybe_along_to_the_next(promise: str, *, is_waited_out: bool) -> None:
    """It began no attempt that could keep the call: the key must be found where the last attempt has left it."""
    world = expired(promise, requires_approval=True)
    (carried,) = world.row.open
    world.world.clock.move(timedelta(days=7, hours=2))
    world.deliver(world.row.job_id)
    world.work()
    assert (world.row.state, world.row.attempts) == (JobState.NEEDS_REVIEW, 0)
    if is_waited_out:
        world.world.clock.move(timedelta(days=31))
        world.deliver(world.row.job_id)
        world.work()
    else:
        failed_by_a_person(world)
    assert world.row.state is JobState.FAILED
    assert world.say("reset", epoch=2, why="the customer waits still").status == 202
    again = world.row.open
    assert world.say("approve", fingerprint=world.row.fingerprint, why="looked at").status == 202
    job = world.rest()

    assert [(call.step, call.epoch, call.key) for call in again] == [(carried.step, carried.epoch, carried.key)]
    assert (job.state, job.epoch, world.effects) == (JobState.SUCCEEDED, 3, 1)


def failed_by_a_person(world: ActionWorld) -> None:
    """A verdict on the present epoch's review."""
    job = world.row
    verdict = Verdict(
        tenant_id=job.tenant_id,
        job_id=job.job_id,
        resolution=Resolution.FAIL,
        epoch=job.epoch,
        by="olga",
        why="nobody knows",
    )
    asyncio.run(resolve_job(world.world.intake, verdict))


def test_a_reset_of_what_no_target_can_tell_is_a_persons_word() -> None:
    """The one way to ask it twice: an operator's, recorded."""
    world = expired("nothing")
    job = world.rest()

    assert (job.state, world.target.requests) == (JobState.SUCCEEDED, 2)
    assert [(one["word"], one["why"]) for one in world.get().json["words"]] == [("reset", "the customer still waits")]


def test_the_default_policy_is_the_one_that_is_documented() -> None:
    """Five attempts of twenty seconds; backoff from half a second to fifteen, with full jitter; never a guess."""
    policy = an_action().policy
    retry = policy.retry

    assert (policy.call_timeout, retry.max_attempts) == (timedelta(seconds=20), 5)
    assert (retry.initial_delay, retry.max_delay) == (timedelta(seconds=0.5), timedelta(seconds=15))
    assert (retry.backoff, retry.jitter, retry.on_unknown) == (Backoff.EXPONENTIAL, Jitter.FULL, OnUnknown.REVIEW)
    assert "Five attempts of 20 seconds, exponential backoff from 0.5 to 15 seconds with full jitter" in PAGE


def test_irreversible_is_said_of_targets_that_promise_nothing_and_of_no_other() -> None:
    """Both mistakes stop a deploy."""
    for promise, said in (("nothing", False), ("header", True)):
        with pytest.raises(RegistrationError):
            an_action(promise, irreversible=said)


@pytest.mark.parametrize("promise", PROMISES)
def test_no_action_is_repeated_on_a_guess(promise: str) -> None:
    """A kind may rather pay twice; an action that did would be done twice, whatever it says of its target."""
    with pytest.raises(RegistrationError):
        an_action(promise, retry=RetryPolicy(on_unknown=OnUnknown.RETRY))
