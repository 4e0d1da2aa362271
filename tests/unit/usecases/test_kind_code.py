"""What a kind's code and its answers may be like: deep, odd, many, buggy; none of it costs a job its end."""

from __future__ import annotations

import asyncio
from datetime import timedelta
from typing import Any

import pytest
from pydantic import BaseModel

from onceward.domain.job import ResultRef
from onceward.domain.money import Cost
from onceward.domain.policy import MAX_ACCEPTED_STEPS, OnUnknown, RetryPolicy
from onceward.domain.states import JobState
from onceward.errors import CallFailure, JobFailure
from onceward.usecases.context import Context
from onceward.usecases.read_job import read_job
from onceward.usecases.registry import Registry
from tests.support.builders import JOB_ID, STEP, TENANT, a_policy
from tests.support.fakes import a_reply
from tests.support.worker_world import Ask, Said, WorkerWorld

pytestmark = pytest.mark.anyio

UNKNOWN = CallFailure("", code="connection_lost", error_class="outcome_unknown", was_sent=True)
RETRIES = a_policy(retry=RetryPolicy(on_unknown=OnUnknown.RETRY))


async def echo(context: Context, given: Ask) -> Said:
    """A kind whose output quotes its answer."""
    return Said(text=(await context.model.generate("generate", [("user", "x")])).text)


@pytest.mark.parametrize("text", ["[" * 60_000, '{"a":' * 20_000], ids=["brackets", "objects"])
async def test_answer_nested_beyond_any_parser_is_text_like_any_other(text: str) -> None:
    """Whether the output is the answer itself is asked of JSON that may have no end: then it is not."""
    world = WorkerWorld(echo)
    world.provider.script = [a_reply(text)]
    await world.create()
    await world.deliver()

    assert (world.row.state, world.row.attempts) == (JobState.SUCCEEDED, 1)
    assert world.row.result == ResultRef(epoch=1, attempt=1)


class Flag(BaseModel):
    """An output whose JSON Python takes for another's."""

    ok: bool


@pytest.mark.parametrize(
    ("text", "result"),
    [('{"ok":1}', ResultRef(epoch=1, attempt=1)), ('{"ok": true}', ResultRef(epoch=1, attempt=1, step=STEP))],
    ids=["one", "true"],
)
async def test_answer_is_the_result_only_if_it_says_the_same_in_json(text: str, result: ResultRef) -> None:
    """To Python, 1 and true are equal; a client that reads the result must find what the kind returned."""

    async def run(context: Context, given: Ask) -> Flag:
        return Flag.model_validate_json((await context.model.generate("generate", [("user", "x")])).text)

    world = WorkerWorld()
    world.registry = Registry()
    world.registry.kind(policy=world.policy, input_model=Ask, output_model=Flag)(run)
    world.provider.script = [a_reply(text)]
    await world.create()
    await world.deliver()
    reading = await read_job(world.store, world.blob, world.clock, tenant_id=TENANT, job_id=JOB_ID)

    assert (world.row.result, reading.result) == (result, {"ok": True})
    assert isinstance(reading.result, dict)
    assert reading.result["ok"] is True


async def test_last_step_that_a_job_may_have_can_be_sent_again() -> None:
    """A step that is open already is not one more: twenty steps, the twentieth a maybe, and it is repeated."""
    world = WorkerWorld(policy=RETRIES)
    world.provider.script = [*(a_reply() for _ in range(MAX_ACCEPTED_STEPS - 1)), UNKNOWN]
    await world.create(steps=[f"s{number}" for number in range(MAX_ACCEPTED_STEPS)])
    await world.deliver()
    world.clock.move(timedelta(minutes=1))
    await world.deliver()

    assert (world.row.state, world.row.error_code) == (JobState.SUCCEEDED, None)
    assert (len(world.row.accepted), len(world.provider.keys)) == (MAX_ACCEPTED_STEPS, MAX_ACCEPTED_STEPS + 1)


async def test_step_beyond_the_most_is_refused() -> None:
    """The row stays small: the twenty-first step ends the job, unsent."""
    world = WorkerWorld()
    await world.create(steps=[f"s{number}" for number in range(MAX_ACCEPTED_STEPS + 1)])
    await world.deliver()

    assert (world.row.state, world.row.error_code) == (JobState.FAILED, "too_many_steps")
    assert len(world.provider.keys) == MAX_ACCEPTED_STEPS


@pytest.mark.parametrize("code", ["the document says: Alice owes 5 EUR", "", "Upper", "x" * 65, "trailing\n"])
async def test_code_that_could_be_content_is_not_told(code: str) -> None:
    """A kind chooses its codes, and they go to rows, letters and logs: what is no code is replaced."""

    async def run(context: Context, given: Ask) -> Said:
        raise JobFailure("", code=code)

    world = WorkerWorld(run)
    await world.create()
    report = await world.deliver()

    assert (world.row.state, world.row.error_code) == (JobState.FAILED, JobFailure.code)
    assert not code.strip() or code not in repr(report.job)


async def test_bug_in_a_kind_s_code_is_told_by_class_and_line_and_by_nothing_else() -> None:
    """An operator must find it; its text may quote a document."""

    async def run(context: Context, given: Ask) -> Said:
        known: dict[str, Any] = {}
        return Said(text=known["Alice owes 5 EUR"])

    world = WorkerWorld(run)
    await world.create()
    report = await world.deliver()
    (note,) = report.notes

    assert note.startswith("kind_error: KeyError at test_kind_code.py:")
    assert "Alice" not in repr(report)


@pytest.mark.parametrize(
    ("error_class", "code", "state", "told"),
    [
        ("no such class", "fine", JobState.WAITING, "kind_error"),
        ("permanent", "No code: CANARY", JobState.FAILED, "call_failed"),
        ("permanent", "my_code", JobState.FAILED, "my_code"),
    ],
)
async def test_call_failure_that_a_kind_makes_up_ends_its_attempt_and_quotes_nothing(
    error_class: str, code: str, state: JobState, told: str
) -> None:
    """A class that there is not is a bug of that code, tried again; what is no code could be content."""

    async def run(context: Context, given: Ask) -> Said:
        raise CallFailure("CANARY", code=code, error_class=error_class, was_sent=False)

    world = WorkerWorld(run)
    await world.create()
    report = await world.deliver()
    attempt = world.row.attempt

    assert report.bug is None
    assert attempt is not None
    assert (world.row.state, attempt.error_code) == (state, told)
    assert "CANARY" not in repr((world.row, world.items))


async def test_calls_of_a_job_never_pass_its_spend_cap() -> None:
    """Also within one attempt, and with what an unanswered call may have cost."""
    world = WorkerWorld(policy=a_policy(max_provider_cost=2_015))
    await world.create(steps=["one", "two", "three"])
    world.provider.script = [a_reply(), CallFailure("", code="x", error_class="transient", was_sent=False)]
    await world.deliver()
    world.overwrite(spent=Cost(low=10, high=1_016))
    world.clock.move(timedelta(minutes=1))
    await world.deliver()

    assert (world.row.state, world.row.error_code) == (JobState.FAILED, "spend_cap_reached")
    assert len(world.provider.keys) == 2


async def test_calls_at_once_cannot_share_what_is_left_of_the_spend_cap() -> None:
    """Two legs, room for one: the second is refused before it leaves, and the job fails with nothing unknown."""

    async def run(context: Context, given: Ask) -> Said:
        legs = (context.model.generate(step, [("user", step)]) for step in ("left", "right"))
        return Said(text="".join(reply.text for reply in await asyncio.gather(*legs)))

    world = WorkerWorld(run, policy=a_policy(max_provider_cost=1_500))
    await world.create()
    await world.deliver()

    assert len(world.provider.keys) == 1
    assert (world.row.state, world.row.error_code) == (JobState.FAILED, "spend_cap_reached")


@pytest.mark.failure_mode("F28")
async def test_retry_after_is_never_slept_in_the_worker() -> None:
    """It becomes the row's ``wake_at``: an invocation that waits is the bill."""
    world = WorkerWorld()
    wish = timedelta(seconds=40)
    world.provider.script = [CallFailure("", code="busy", error_class="rate_limited", was_sent=True, retry_after=wish)]
    await world.create()
    before = world.clock.now()
    await world.deliver()

    assert world.clock.now() == before
    assert world.row.wake_at is not None
    assert world.row.wake_at > before + wish
