"""The stories of agent actions: one request to an HTTP target, for each promise that a target can make.

What the service computes is here a side effect; its own log is the witness.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from datetime import timedelta
from typing import TYPE_CHECKING, Any

from onceward.domain.policy import Capability, OnUnknown
from onceward.usecases.context import Context
from onceward.usecases.registry import Registry
from tests.simulation.acting import approve, approve_and_reset, fail_and_reset, reset
from tests.simulation.checks.promised import MOST_ATTEMPTS
from tests.simulation.faults import Boundary, Fault
from tests.simulation.http_line import TARGET
from tests.simulation.kinds import TARIFF, Given, Made, policy_of
from tests.simulation.model import DEDUPES, LOOKUP, NONE, ModelLine, ModelService, Script
from tests.simulation.scenario import Scenario

if TYPE_CHECKING:
    from tests.simulation.invariants import Checker

ACTION, APPROVED = "action.sim", "action.sim_approved"
NATURAL = Capability(dedup_window=timedelta(days=90))
REFUSED = (Script.REJECTED,)


class Modest(ModelLine):
    """A line to a target that promises less than it keeps: a window that is over before anything can be repeated."""

    def __init__(self, service: ModelService, process: str, claimed: Capability | None = None) -> None:
        """What is claimed otherwise goes first."""
        super().__init__(service, process, claimed or Capability(dedup_window=timedelta(seconds=1)))


def register(registry: Registry) -> None:
    """Kinds whose one operation is a request to the target, and which change the world outside."""

    async def act(context: Context, given: Given) -> Made:
        answer = await context.http.request("act", TARGET, {"text": given.text})
        return Made(answers=[str(answer.status)])

    for name in (ACTION, APPROVED):
        policy = replace(policy_of(name, OnUnknown.REVIEW, TARIFF, version=1), has_outside_effect=True)
        policy = replace(policy, requires_approval=name == APPROVED)
        registry.kind(policy=policy, input_model=Given, output_model=Made)(act)


def witness(checker: Checker) -> None:
    """No operation has two effects, whatever its epochs; none is lost that a target can tell; each answer is noted."""
    for row in checker.world.store.rows.values():
        _judge_effects(checker, row)
        _judge_record(checker, row)


def _judge_effects(checker: Checker, row: Any) -> None:
    """By the target's own log.

    A process that was frozen between its guard and the socket sends late, which no code can prevent. Only a target that
    is looked up does it then a second time: one that dedupes tells, and one that promises nothing was not asked again.
    """
    world = checker.world
    arrivals = [one for one in world.model.log if one.key.startswith(row.job_id) and one.done_at is not None]
    timely = [one for one in arrivals if one.number not in checker.calls.residual]
    counted = timely if world.scenario.capability.lookup_lag is not None else arrivals
    checker.expect(6, len(counted) <= 1, f"{len(counted)} effects of one operation")
    checker.expect(10, row.state != "succeeded" or bool(arrivals), "an operation succeeded without an effect")
    checker.expect(10, row.state != "failed" or not timely, "an operation failed, and its effect happened")
    can_tell = world.scenario.capability != NONE and world.scenario.line is not Modest
    must_tell = can_tell and not _is_worn_out(world.counter.struck, world.scenario.script)
    checker.expect(1, not must_tell or row.state != "needs_review", "parked, although the target can tell")


def _is_worn_out(struck: Sequence[tuple[Boundary, Fault]], script: Sequence[Script]) -> bool:
    """Whether a maybe may go to a person although the target could tell.

    Its door was shut until the last attempt, or faults and refusals, as many as there are attempts, have used them up.
    """
    return len(struck) + len(script) >= MOST_ATTEMPTS or any(fault is Fault.THROTTLE for _, fault in struck)


def _judge_record(checker: Checker, row: Any) -> None:
    """Every answer that was heard is on the record, and so is every word that has opened an epoch."""
    items = checker.world.store.items.get((row.tenant_id, row.job_id), {})
    heard = sum(1 for one in checker.world.accepted if one.job_id == row.job_id)
    seen = sum(1 for place in items if place.startswith("seen#"))
    checker.expect(10, seen >= heard, f"{heard} answers were heard, {seen} are on the record")
    for epoch in range(1, row.epoch):
        checker.expect(15, f"word#{epoch:04d}#reset" in items, f"epoch {epoch} was ended by nobody's word")


def _story(name: str, capability: Capability = NONE, **more: Any) -> Scenario:
    given = {"kind": ACTION, "kinds": register, "judge": witness, "capability": capability}
    return Scenario(name=f"action-{name}", **{**given, **more})


TARGETS = tuple(
    _story(name, capability)
    for name, capability in (("header", DEDUPES), ("natural", NATURAL), ("lookup", LOOKUP), ("nothing", NONE))
)
STORIES = (
    *TARGETS,
    _story("two-agents", DEDUPES, requests=("key-1", "key-1", "key-1/other arguments")),
    _story("reset", script=REFUSED, also=reset),
    _story("reset-dedupes", DEDUPES, script=REFUSED, also=reset),
    # Done, lost, failed by a person, reset; then refused once. Only under the first key does the target know it again.
    _story("reset-refused", NATURAL, line=Modest, script=(Script.RESET, Script.DOWN), also=fail_and_reset),
    _story("approval", kind=APPROVED, also=approve),
    _story("approval-swapped", kind=APPROVED, also=approve, requests=("key-1", "key-1/other arguments")),
    _story("approval-cancel", kind=APPROVED, also=approve, cancel_at=6.0),
    _story("approval-reset", kind=APPROVED, script=REFUSED, also=approve_and_reset),
)
