"""What a kind may ask of a model: no number and no letter of it makes a job that never ends, or books that lie."""

from __future__ import annotations

from datetime import timedelta
from typing import Any

import pytest

from onceward.adapters.dynamodb.parts_codec import OPEN_CALL
from onceward.domain.policy import OnUnknown, RetryPolicy
from onceward.domain.states import JobState
from onceward.errors import CallFailure, JobFailure
from onceward.usecases.context import Context
from onceward.usecases.ports import ModelReply
from onceward.usecases.question import question_to_http
from tests.support.builders import a_policy, an_open_call
from tests.support.fakes import FakeProvider
from tests.support.worker_world import Ask, Said, WorkerWorld

pytestmark = pytest.mark.anyio
HALF = "half \ud83d"
UNKNOWN = CallFailure("", code="connection_lost", error_class="outcome_unknown", was_sent=True)
UNREACHED = CallFailure("", code="provider_unreachable", error_class="transient", was_sent=False)


def asking(messages: Any = (("user", "x"),), **options: Any) -> WorkerWorld:
    """A world whose kind asks that once."""

    async def run(context: Context, given: Ask) -> Said:
        return Said(text=(await context.model.generate("generate", list(messages), **options)).text)

    return WorkerWorld(run)


@pytest.mark.parametrize("limit", [-1_000_000, 0, 1_000_001, 1.5, True, None], ids=str)
async def test_output_limit_that_is_none_is_refused_before_anything_is_sent(limit: Any) -> None:
    """A negative one would journal a negative bound, and no run could ever add up the row's books again."""
    world = asking(max_output_tokens=limit)
    await world.create(reserved_micro_usd=5_000)
    await world.deliver()

    assert (world.row.state, world.row.error_code) == (JobState.FAILED, "bad_output_limit")
    assert (world.provider.keys, world.row.open, world.account.reserved) == ([], (), 0)


async def test_bound_below_nothing_is_never_journaled() -> None:
    """Whoever computes it: the call is refused where its entry is made, as a fault, and nothing is open."""
    world = asking()
    world.provider.bound = -5
    await world.create()
    await world.deliver()

    assert (world.row.state, world.row.open, world.provider.keys) == (JobState.WAITING, (), [])


def test_bound_below_nothing_in_a_stored_row_reads_as_nothing() -> None:
    """A row that older code left so must still come to its end."""
    stored = {**OPEN_CALL.to_plain(an_open_call()), "m": -5}

    assert OPEN_CALL.from_plain(stored).max_cost == 0


@pytest.mark.parametrize(
    "messages",
    [[("user", HALF)], [(HALF, "x")], [("user", float("nan"))], [("user", object())]],
    ids=["half a character", "half a role", "no number", "no text"],
)
async def test_request_that_cannot_be_written_is_refused_before_it_is_a_maybe(messages: Any) -> None:
    """Found out at the socket it would look sent, and wait for a person; it is final, and nothing is open."""
    world = asking(messages)
    await world.create()
    await world.deliver()

    assert (world.row.state, world.row.error_code) == (JobState.FAILED, "request_not_writable")
    assert (world.provider.keys, world.row.open) == ([], ())


@pytest.mark.parametrize("arguments", [{"name": HALF}, {"amount": float("inf")}], ids=repr)
def test_arguments_that_cannot_be_written_are_no_question(arguments: Any) -> None:
    """The same of a declared HTTP target."""

    class Target(FakeProvider):
        """Enough of one."""

        async def send(self, *_: object) -> ModelReply:
            """Never reached."""
            raise AssertionError

    with pytest.raises(JobFailure) as refused:
        question_to_http(Target(), arguments)
    assert refused.value.code == "request_not_writable"


async def test_resend_that_never_left_adds_nothing_to_the_books() -> None:
    """The earlier maybe is booked when its entry is replaced, and taken back when its entry is."""
    policy = a_policy(retry=RetryPolicy(max_attempts=5, on_unknown=OnUnknown.RETRY), max_call_cost=1_000)
    world = WorkerWorld(policy=policy)
    world.provider.script = [UNKNOWN, UNREACHED, UNREACHED]
    await world.create()
    for _ in range(3):
        await world.deliver()
        world.clock.move(timedelta(minutes=2))

    assert len(world.provider.keys) == 3
    assert world.row.possible_spent.high == 1_000


async def test_reply_without_usage_is_bounded_no_lower_than_its_request() -> None:
    """An unpriced answer may have cost what the request could cost, also where the kind's word is less."""
    world = WorkerWorld(policy=a_policy(max_call_cost=1_000))
    world.provider.bound = 9_000
    world.provider.script = [
        ModelReply(text='{"text":"yes"}', finish="stop", model="fake-1", usage=None, request_id=None)
    ]
    await world.create()
    await world.deliver()

    assert (world.row.state, world.row.spent.high, world.row.spent.unpriced) == (JobState.SUCCEEDED, 9_000, True)


async def test_bound_by_bytes_refuses_no_call_that_its_kind_has_room_for() -> None:
    """A large document's bound is several times its cost: booked in full as a maybe, it is not what the cap refuses."""
    world = WorkerWorld(policy=a_policy(max_call_cost=1_000, max_provider_cost=1_500))
    world.provider.bound = 9_000
    await world.create()
    await world.deliver()

    assert (world.row.state, world.row.spent.high) == (JobState.SUCCEEDED, 10)
