"""The stories of money: metered tariffs, a limit of jobs in flight, a circuit breaker, and all of it at once."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING

from onceward.domain.breaking import BreakerRule
from onceward.domain.policy import OnUnknown
from onceward.domain.tariff import PerToken
from onceward.usecases.context import Context
from onceward.usecases.registry import Registry
from tests.simulation.kinds import ONE_CALL, TARIFF, Given, Made, policy_of
from tests.simulation.model import USAGE, Script
from tests.simulation.scenario import Scenario

if TYPE_CHECKING:
    from tests.simulation.invariants import Checker

METERED = "sim.metered"
BY_TOKEN = PerToken(input=1_000_000, output=2_000_000)  # 100 + 2 x 50 for an answer
CHARGE = 2 * (USAGE.input + 2 * USAGE.output)  # of the two answers that are accepted, whatever was paid besides
TOUCHY = BreakerRule(failures=1, successes=1)


def metered(registry: Registry) -> None:
    """A kind of two calls that is charged by token."""
    version = registry.find(ONE_CALL).policy.version  # that of the code which a process runs
    policy = replace(policy_of(METERED, OnUnknown.RETRY, TARIFF, version), metered=BY_TOKEN)

    async def run(context: Context, given: Given) -> Made:
        first = await context.model.generate("draft", [("user", given.text)])
        second = await context.model.generate("check", [("user", first.text)])
        return Made(answers=[first.text, second.text])

    registry.kind(policy=policy, input_model=Given, output_model=Made)(run)


def charged_once(checker: Checker) -> None:
    """Two accepted answers are two answers' charge, however many were bought; without a result there is no charge."""
    for row in checker.world.store.rows.values():
        expected = CHARGE if row.state == "succeeded" else None
        checker.expect(7, row.charge_micro_usd == expected, f"{row.state}, charged {row.charge_micro_usd}")


STORIES = (
    Scenario(name="metered", kind=METERED, kinds=metered, on_unknown=OnUnknown.RETRY, judge=charged_once),
    Scenario(
        name="metered-bought-twice",
        kind=METERED,
        kinds=metered,
        on_unknown=OnUnknown.RETRY,
        script=(Script.RESET,),
        judge=charged_once,
    ),
    Scenario(name="one-in-flight", requests=("key-1", "key-2"), most_in_flight=1),
    Scenario(name="one-in-flight-redriven", script=(Script.BUSY,), most_attempts=1, most_in_flight=1, redrives=1),
    Scenario(name="brown-out", script=(Script.DOWN,), breaker=TOUCHY),
    Scenario(
        name="money",
        kind=METERED,
        kinds=metered,
        on_unknown=OnUnknown.RETRY,
        script=(Script.DOWN,),
        grant=TARIFF * 3 // 2,
        most_in_flight=1,
        breaker=TOUCHY,
        judge=charged_once,
    ),
)
