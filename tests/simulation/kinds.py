"""The kinds that scenarios run: one call, two of which the second needs the first's answer, and two at once."""

from __future__ import annotations

import asyncio
from collections.abc import Callable
from dataclasses import replace
from datetime import timedelta
from functools import cache

from pydantic import BaseModel

from onceward.domain.coalescing import CoalesceBy
from onceward.domain.policy import KindPolicy, OnUnknown, RetryPolicy
from onceward.usecases.context import Context
from onceward.usecases.registry import Registry
from tests.simulation.checks.promised import MOST_ATTEMPTS, PRICE

TARIFF = 1_000  # micro-USD; not the price, so that charge and cost cannot be mixed up unseen
MAX_CALL_COST = 900  # above the price: a bound, not a guess
VERSION = 2  # of every kind, in the code that is deployed: there is one before and one after it
ONE_CALL = "sim.one"
TWO_CALLS = "sim.two"
AT_ONCE = "sim.at_once"
SHARED = "sim.shared"


class Given(BaseModel):
    """What is asked."""

    text: str


class Made(BaseModel):
    """What comes out: the answers, in order."""

    answers: list[str]


def policy_of(
    name: str, on_unknown: OnUnknown, tariff: int, version: int = VERSION, most_attempts: int = MOST_ATTEMPTS
) -> KindPolicy:
    """A kind whose attempts and calls are short beside the lease, and whose retries are few."""
    return KindPolicy(
        name=name,
        version=version,
        timeout=timedelta(minutes=5),
        deadline=timedelta(hours=6),
        call_timeout=timedelta(seconds=40),
        retry=RetryPolicy(max_attempts=most_attempts, on_unknown=on_unknown),
        tariff_micro_usd=tariff,
        max_call_cost=MAX_CALL_COST,
    )


@cache  # nothing changes one after it was made, and each run would make two
def registry_of(
    on_unknown: OnUnknown,
    *,
    call_seconds: float,
    most_attempts: int = MOST_ATTEMPTS,
    tariff: int = TARIFF,
    version: int = VERSION,
    more: Callable[[Registry], None] | None = None,
) -> Registry:
    """All kinds, and those that ``more`` registers; a call that computes for long has a timeout that lets it."""
    assert PRICE <= MAX_CALL_COST
    registry = Registry()

    async def one(context: Context, given: Given) -> Made:
        reply = await context.model.generate("ask", [("user", given.text)])
        return Made(answers=[reply.text])

    async def two(context: Context, given: Given) -> Made:
        first = await context.model.generate("draft", [("user", given.text)])
        second = await context.model.generate("check", [("user", first.text)])
        return Made(answers=[first.text, second.text])

    async def at_once(context: Context, given: Given) -> Made:
        legs = (context.model.generate(step, [("user", f"{given.text}/{step}")]) for step in ("left", "right"))
        return Made(answers=[reply.text for reply in await asyncio.gather(*legs)])

    for name, run in ((ONE_CALL, one), (TWO_CALLS, two), (AT_ONCE, at_once), (SHARED, one)):
        policy = policy_of(name, on_unknown, tariff, version, most_attempts)
        policy = replace(policy, call_timeout=max(policy.call_timeout, timedelta(seconds=call_seconds * 1.2)))
        if name == SHARED:
            policy = replace(policy, coalesce=CoalesceBy(instructions=""))
        registry.kind(policy=policy, input_model=Given, output_model=Made)(run)
    if more is not None:
        more(registry)
    return registry
