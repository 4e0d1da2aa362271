"""Metered tariffs in a run: the maximum is held, what was accepted is charged, the rest is free again."""

from __future__ import annotations

from datetime import timedelta

import pytest
from pydantic import BaseModel

from onceward.domain.policy import OnUnknown, RetryPolicy
from onceward.domain.states import JobState
from onceward.domain.tariff import PerPage, PerToken
from onceward.errors import CallFailure, RegistrationError
from onceward.usecases.context import Context
from onceward.usecases.registry import Registry
from tests.support.builders import a_policy
from tests.support.fakes import a_reply
from tests.support.worker_world import Ask, Said, WorkerWorld

pytestmark = pytest.mark.anyio

BY_TOKEN = PerToken(input=1_000_000, output=10_000_000)
RESET = CallFailure("", code="connection_lost", error_class="outcome_unknown", was_sent=True)


class Counted(BaseModel):
    """An output that has pages."""

    pages: int


async def count_pages(context: Context, given: Ask) -> Counted:
    """A kind whose result says how many pages it read."""
    await context.model.generate("read", [("user", "?")])
    return Counted(pages=len(given.steps))


def by_page(world: WorkerWorld, price: int) -> None:
    """Register the world's kind anew, with a tariff by pages."""
    world.policy = a_policy(tariff_micro_usd=1_000, metered=PerPage(price))
    world.registry = Registry()
    world.registry.kind(
        policy=world.policy, input_model=Ask, output_model=Counted, pages_of=lambda output: output.pages
    )(count_pages)


async def test_tokens_of_the_accepted_answers_are_charged() -> None:
    """Two steps, each once: the fake's usage times the tariff, and the rest of the maximum is free again."""
    world = WorkerWorld(policy=a_policy(tariff_micro_usd=5_000, metered=BY_TOKEN))
    await world.create(steps=["a", "b"], reserved_micro_usd=5_000)
    await world.deliver()
    usage = world.items["call#0001#a/1#0001"].usage
    expected = 2 * (usage.input + 10 * usage.output)

    assert 0 < expected < 5_000
    assert (world.row.state, world.row.charge_micro_usd) == (JobState.SUCCEEDED, expected)
    assert (world.account.captured, world.account.available, world.account.reserved) == (expected, 5_000 - expected, 0)


async def test_two_paid_attempts_are_charged_once() -> None:
    """The first purchase may have happened: the operator's cost knows it, the user's charge does not."""
    world = WorkerWorld(
        policy=a_policy(tariff_micro_usd=5_000, metered=BY_TOKEN, retry=RetryPolicy(on_unknown=OnUnknown.RETRY))
    )
    world.provider.script = [RESET]
    await world.create(reserved_micro_usd=5_000)
    await world.deliver()
    world.clock.move(timedelta(minutes=1))
    await world.deliver()
    usage = world.items["call#0001#generate/1#0002"].usage

    assert len(world.provider.keys) == 2
    assert world.row.charge_micro_usd == usage.input + 10 * usage.output
    assert world.row.spent.high > world.row.spent.low


async def test_pages_are_charged_up_to_the_maximum() -> None:
    """Three pages at 70; and three at 400 are the 1,000 that were held."""
    for price, expected in ((70, 210), (400, 1_000)):
        world = WorkerWorld()
        by_page(world, price)
        await world.create(steps=["1", "2", "3"], reserved_micro_usd=1_000)
        await world.deliver()

        assert (world.row.charge_micro_usd, world.account.captured) == (expected, expected)


async def test_failed_job_is_never_charged() -> None:
    """Its answer was paid for, and broke the kind's model."""
    world = WorkerWorld(policy=a_policy(tariff_micro_usd=5_000, metered=BY_TOKEN))
    world.provider.script = [a_reply('{"other": 1}')]
    await world.create(reserved_micro_usd=5_000)
    await world.deliver()

    assert (world.row.state, world.row.charge_micro_usd) == (JobState.FAILED, None)
    assert world.row.spent.high > 0
    assert (world.account.captured, world.account.available) == (0, 5_000)


async def test_tariff_that_cannot_be_computed_stops_a_deploy() -> None:
    """By pages without a count of pages, or below nothing."""
    for metered in (PerPage(10), PerToken(input=-1, output=0)):
        with pytest.raises(RegistrationError):
            Registry().kind(policy=a_policy(metered=metered), input_model=Ask, output_model=Said)(count_pages)  # type: ignore[arg-type]
