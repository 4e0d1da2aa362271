"""After a maybe: review, lookup, re-send, second purchase."""

from __future__ import annotations

from datetime import timedelta

import pytest

from onceward.domain.claim import Claim
from onceward.domain.deliveries import Acknowledge, PutBack
from onceward.domain.money import Cost
from onceward.domain.policy import Capability, OnUnknown, RetryPolicy
from onceward.domain.recovery import LookupReply
from onceward.domain.states import AttemptOutcome, CallState, JobState, WaitingFor
from onceward.errors import CallFailure
from tests.support.builders import a_policy, an_answer, an_open_call, seconds
from tests.support.fakes import a_reply
from tests.support.worker_world import WorkerWorld

pytestmark = pytest.mark.anyio

DEDUPES = Capability(dedup_window=timedelta(hours=24))
LOOKUP = Capability(lookup_lag=seconds(1))
UNKNOWN = CallFailure("", code="connection_lost", error_class="outcome_unknown", was_sent=True)
UNREACHABLE = CallFailure("", code="provider_unreachable", error_class="transient", was_sent=False)
REJECTED = CallFailure("", code="content_filter", error_class="policy_rejected", was_sent=True)
ANSWER_BODY = '{"text":"{\\"text\\":\\"yes\\"}","finish":"stop","model":"fake-1","usage":null,"request_id":null}'


@pytest.mark.failure_mode("F23")
async def test_maybe_that_policy_forbids_to_repeat_waits_for_a_person() -> None:
    """Invariant 6: the reservation is held, the attempt is unknown, the dead letter is sent, and looks follow."""
    world = WorkerWorld()
    world.provider.script = [UNKNOWN]
    await world.create(reserved_micro_usd=5_000)
    report = await world.deliver()

    assert report.disposition == Acknowledge()
    assert (world.row.state, world.account.reserved) == (JobState.NEEDS_REVIEW, 5_000)
    assert world.row.attempt is not None
    assert (world.row.attempt.outcome, world.row.attempt_cost) == (AttemptOutcome.UNKNOWN, Cost.maybe(1_000))
    assert len(world.queue.dead_letters) == 1
    assert world.row.wake_at == world.clock.now() + timedelta(minutes=1)


async def test_late_answer_ends_a_review() -> None:
    """The frozen worker's answer arrives as its item; the next look adopts it: one attempt, one call, captured."""
    world = WorkerWorld()
    world.provider.script = [UNKNOWN]
    await world.create(reserved_micro_usd=5_000)
    await world.deliver()
    await world.store.put_cold(an_answer(body=ANSWER_BODY), world.row.expires_at)
    world.clock.move(timedelta(minutes=1))
    report = await world.deliver()

    assert (report.found, world.row.state, world.row.attempts) == (Claim.LOOK, JobState.SUCCEEDED, 1)
    assert (world.account.captured, len(world.provider.keys)) == (5_000, 1)
    assert world.row.review_until is None


async def test_look_that_finds_nothing_goes_back_to_review() -> None:
    """Looks become rarer; nothing is sent, and no second letter either."""
    world = WorkerWorld()
    world.provider.script = [UNKNOWN]
    await world.create()
    await world.deliver()
    world.clock.move(timedelta(minutes=1))
    await world.deliver()

    assert (world.row.state, len(world.provider.keys)) == (JobState.NEEDS_REVIEW, 1)
    assert world.row.wake_at == world.clock.now() + timedelta(minutes=10)
    assert len(world.queue.dead_letters) == 1


async def test_review_past_its_limit_fails_and_releases() -> None:
    """Thirty days without a person: failed, released, and the maybe stays in the books."""
    world = WorkerWorld()
    world.provider.script = [UNKNOWN]
    await world.create(reserved_micro_usd=5_000)
    await world.deliver()
    world.clock.move(timedelta(days=30))
    await world.deliver()

    assert (world.row.state, world.row.error_code) == (JobState.FAILED, "review_expired")
    assert (world.account.available, world.row.spent) == (5_000, Cost.maybe(1_000))


@pytest.mark.failure_mode("F22")
async def test_not_found_is_not_believed_too_early() -> None:
    """With a lookup, the job waits without an attempt until "not found" is conclusive, then calls once more."""
    world = WorkerWorld()
    world.provider.capability = LOOKUP
    world.provider.script = [UNKNOWN]
    await world.create()
    first = await world.deliver()

    assert (world.row.state, world.row.waiting_for) == (JobState.WAITING, WaitingFor.LOOKUP)
    assert world.row.wake_at == world.clock.now() + seconds(10 + 30 + 1 + 4)
    assert isinstance(first.disposition, PutBack)
    world.clock.move(seconds(45))
    await world.deliver()

    assert (world.row.state, world.row.attempts, len(world.provider.keys)) == (JobState.SUCCEEDED, 2, 2)
    assert world.past_outcomes == [AttemptOutcome.INTERRUPTED]


async def test_found_answer_is_used_and_paid_once() -> None:
    """A lookup that finds the call ends the maybe: nothing is sent again."""
    world = WorkerWorld()
    world.provider.capability = LOOKUP
    world.provider.found = {"*": a_reply()}
    await world.create()
    await world.lose_a_run(open=(an_open_call(),))
    await world.deliver()

    assert (world.row.state, world.provider.keys, len(world.provider.lookups)) == (JobState.SUCCEEDED, [], 1)
    assert world.row.spent == Cost.exact(10)


async def test_unreachable_lookup_is_asked_again() -> None:
    """No answer to the question is no answer."""
    world = WorkerWorld()
    world.provider.capability = LOOKUP
    world.provider.found = {"*": LookupReply.UNREACHABLE}
    await world.create()
    await world.lose_a_run(open=(an_open_call(),))
    await world.deliver()

    assert (world.row.state, world.row.waiting_for, world.provider.keys) == (
        JobState.WAITING,
        WaitingFor.LOOKUP,
        [],
    )


async def test_lookup_that_finds_a_failure_ends_the_maybe() -> None:
    """A call that is known to have failed may be made again."""
    world = WorkerWorld()
    world.provider.capability = LOOKUP
    world.provider.found = {"*": REJECTED}
    await world.create()
    await world.lose_a_run(open=(an_open_call(),))
    await world.deliver()

    assert (world.row.state, world.row.attempts) == (JobState.SUCCEEDED, 2)
    assert world.items["call#0001#generate/1#0001"].state is CallState.FAILED


async def test_second_purchase_is_in_the_books() -> None:
    """Policy ``retry`` may pay twice; the first payment stays as a bound beside the second's exact cost."""
    policy = a_policy(retry=RetryPolicy(on_unknown=OnUnknown.RETRY))
    world = WorkerWorld(policy=policy)
    world.provider.script = [UNKNOWN]
    await world.create()
    await world.deliver()
    world.clock.move(seconds(5))
    await world.deliver()

    assert (world.row.state, len(world.provider.keys)) == (JobState.SUCCEEDED, 2)
    assert world.row.spent == Cost(low=10, high=1_010)
    assert world.past_outcomes == [AttemptOutcome.UNKNOWN]


async def test_resend_that_dedupes_uses_the_same_key_and_costs_once() -> None:
    """The target sees one key; the books hold one cost."""
    world = WorkerWorld()
    world.provider.capability = DEDUPES
    world.provider.script = [UNKNOWN]
    await world.create()
    await world.deliver()
    world.clock.move(seconds(5))
    await world.deliver()

    assert (len(world.provider.keys), len(set(world.provider.keys))) == (2, 1)
    assert (world.row.state, world.row.spent) == (JobState.SUCCEEDED, Cost.exact(10))


async def test_repeat_that_a_deduping_provider_was_too_busy_for_leaves_the_maybe() -> None:
    """A 429 to the repeat says nothing of the first send: it stays in the books, and the key is kept."""
    world = WorkerWorld()
    world.provider.capability = Capability(dedup_window=timedelta(hours=1))
    busy = CallFailure("", code="http_429", error_class="rate_limited", was_sent=True)
    world.provider.script = [UNKNOWN, busy]
    await world.create()
    await world.deliver()
    world.clock.move(timedelta(minutes=1))
    await world.deliver()

    assert [call.state for call in world.row.open] == [CallState.UNKNOWN]
    assert world.row.possible_spent.high == 1_000
    world.clock.move(timedelta(minutes=1))
    await world.deliver()
    assert (world.row.state, len(world.provider.keys), len(set(world.provider.keys))) == (JobState.SUCCEEDED, 3, 1)
