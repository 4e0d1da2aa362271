"""One step, one question: changed code, prompt or input is told, and never served with another question's answer."""

from __future__ import annotations

from dataclasses import replace

import pytest
from hypothesis import given
from hypothesis import strategies as st

from onceward.domain.money import Cost
from onceward.domain.policy import OnUnknown, RetryPolicy
from onceward.domain.states import CallState, JobState
from onceward.errors import CallFailure
from onceward.usecases.call_fingerprint import model_fingerprint
from onceward.usecases.context import Context
from onceward.usecases.keep_answer import REPLY
from onceward.usecases.ports import ModelRequest
from tests.support.builders import a_policy, an_answer, seconds
from tests.support.fakes import a_reply
from tests.support.worker_world import Ask, Said, WorkerWorld

pytestmark = pytest.mark.anyio

LOST = CallFailure("", code="connection_lost", error_class="outcome_unknown", was_sent=True)
BUSY = CallFailure("", code="rate_limited", error_class="rate_limited", was_sent=True)
PLAIN = ModelRequest(messages=(("user", "hello"),), max_output_tokens=100)

words = st.text(max_size=20)  # half a surrogate pair included: a document may hold one
requests = st.builds(
    ModelRequest,
    messages=st.lists(st.tuples(words, words), max_size=3).map(tuple),
    max_output_tokens=st.integers(1, 10),
    json_schema=st.none() | words,
    schema_name=words,
    temperature=st.sampled_from([0.0, 0.5]),
)


@given(requests, requests)
def test_fingerprints_are_equal_exactly_for_equal_questions(one: ModelRequest, other: ModelRequest) -> None:
    """Every field that reaches the model counts, and nothing else: no object's address, no order of a set."""
    assert (model_fingerprint(one) == model_fingerprint(other)) is (one == other)
    assert model_fingerprint(one) == model_fingerprint(replace(one))


def test_fingerprint_is_the_same_in_every_process_and_release() -> None:
    """It is stored, and compared after a deploy: a change of its making is a change of every question."""
    assert model_fingerprint(PLAIN) == "c2a7d2d47ddeb6d73107ba84"


class Deploy:
    """A kind whose question is changed from outside, as a deploy changes it."""

    def __init__(self) -> None:
        """The first release."""
        self.prompt = "first release"

    async def run(self, context: Context, given: Ask) -> Said:
        """Ask each step with this release's words."""
        text = "{}"
        for step in given.steps:
            text = (await context.model.generate(step, [("user", self.prompt)], answer=Said)).text
        return Said.model_validate_json(text)


async def test_accepted_answer_is_not_given_to_another_question() -> None:
    """Accepted in the first attempt, asked otherwise in the second: a clear permanent error, and nothing is sent."""
    deploy = Deploy()
    world = WorkerWorld(deploy.run)
    await world.create(steps=["first", "second"])
    world.provider.script = [a_reply(), BUSY]
    await world.deliver()
    deploy.prompt = "second release"
    world.clock.move(seconds(30))
    await world.deliver()

    assert (world.row.state, world.row.error_code) == (JobState.FAILED, "call_changed")
    assert (len(world.provider.keys), world.row.spent) == (2, Cost.exact(10))


async def test_late_answer_is_not_given_to_another_question() -> None:
    """It ends the maybe and its cost is booked; the job ends by its changed code, and not with that answer."""
    deploy = Deploy()
    world = WorkerWorld(deploy.run)
    await world.create()
    world.provider.script = [LOST]
    await world.deliver()
    late = an_answer(body=REPLY.dump_json(a_reply()).decode(), asked=world.row.open[0].asked)
    await world.store.put_cold(late, world.row.expires_at)
    deploy.prompt = "second release"
    world.clock.move(seconds(90))
    await world.deliver()

    assert (world.row.state, world.row.error_code) == (JobState.FAILED, "call_changed")
    assert (len(world.provider.keys), world.row.spent) == (1, Cost.exact(250))


async def test_changed_question_after_a_maybe_is_left_to_a_person() -> None:
    """Policy ``review``: nobody knows whether the first was answered; the attempt says what kept it from asking."""
    deploy = Deploy()
    world = WorkerWorld(deploy.run, policy=a_policy(retry=RetryPolicy(on_unknown=OnUnknown.REVIEW)))
    await world.create()
    world.provider.script = [LOST]
    await world.deliver()
    deploy.prompt = "second release"
    world.clock.move(seconds(90))
    await world.deliver()

    assert (world.row.state, len(world.provider.keys)) == (JobState.NEEDS_REVIEW, 1)
    assert [call.state for call in world.row.open] == [CallState.UNKNOWN]


async def test_changed_question_after_a_maybe_that_policy_may_repeat_is_final() -> None:
    """Policy ``retry`` would have paid twice for one question, not for two: failed, and the maybe is in the books."""
    deploy = Deploy()
    world = WorkerWorld(deploy.run, policy=a_policy(retry=RetryPolicy(on_unknown=OnUnknown.RETRY)))
    await world.create()
    world.provider.script = [LOST]
    await world.deliver()
    deploy.prompt = "second release"
    world.clock.move(seconds(30))
    await world.deliver()

    assert (world.row.state, world.row.error_code) == (JobState.FAILED, "call_changed")
    assert (len(world.provider.keys), world.row.spent) == (1, Cost.maybe(1_000))


async def test_question_may_change_after_an_answered_failure() -> None:
    """Nothing was bought, so there is no answer to be mistaken: a mended prompt may be tried."""
    deploy = Deploy()
    world = WorkerWorld(deploy.run)
    await world.create()
    world.provider.script = [BUSY]
    await world.deliver()
    deploy.prompt = "second release"
    world.clock.move(seconds(30))
    await world.deliver()

    assert (world.row.state, world.row.attempts) == (JobState.SUCCEEDED, 2)


async def test_answer_of_older_code_is_taken_as_it_is() -> None:
    """Invariant 18: code that knew no fingerprints wrote none; its answers still count."""
    deploy = Deploy()
    world = WorkerWorld(deploy.run)
    await world.create(steps=["first", "second"])
    world.provider.script = [a_reply(), BUSY]
    await world.deliver()
    place = "call#0001#first/1#0001"
    items = next(iter(world.store.items.values()))
    items[place] = replace(world.items[place], asked=None)
    world.clock.move(seconds(30))
    await world.deliver()

    assert (world.row.state, len(world.provider.keys)) == (JobState.SUCCEEDED, 3)
