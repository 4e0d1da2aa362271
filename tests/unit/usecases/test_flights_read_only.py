"""Only what reads is done once for several: no action, no request that could change something, no stream."""

from __future__ import annotations

import inspect
from dataclasses import fields

import pytest

from onceward.domain.coalescing import CoalesceBy
from onceward.domain.policy import KindPolicy
from onceward.domain.states import JobState
from onceward.errors import RegistrationError
from onceward.kinds.registered import KINDS
from onceward.usecases.actions import Action
from onceward.usecases.context import Children, Context, Documents, Http, Model
from onceward.usecases.registry import Kind, Registry
from tests.support.actions import FakeTarget
from tests.support.builders import a_policy
from tests.support.flight_world import FlightWorld
from tests.support.worker_world import Ask, Said, ask_all

BY = CoalesceBy(instructions="")
PORTS = {"model": Model, "http": Http, "documents": Documents, "children": Children}
FACTS = {"tenant_id", "job_id", "attempt"}
OWN = {"step": Context.step}  # code of the kind's own


def test_what_changes_something_outside_refuses_to_register() -> None:
    """A kind that says so is refused with ``coalesce``; without, and with ``coalesce`` alone, it is not."""

    def register(policy: KindPolicy) -> None:
        Registry().kind(policy=policy, input_model=Ask, output_model=Said)(ask_all)

    register(a_policy(coalesce=BY))
    register(a_policy(has_outside_effect=True))
    with pytest.raises(RegistrationError):
        register(a_policy(coalesce=BY, has_outside_effect=True))


def test_an_action_cannot_even_ask_for_it() -> None:
    """Its kind's rules are made by the engine: they have an effect, and share nothing."""
    assert "coalesce" not in {field.name for field in fields(Action)}
    assert {(one.policy.has_outside_effect, one.policy.coalesce) for one in KINDS.actions} == {(True, None)}


@pytest.mark.anyio
@pytest.mark.parametrize(("by", "end"), [(BY, (JobState.FAILED, "not_read_only")), (None, (JobState.SUCCEEDED, None))])
async def test_a_kind_that_coalesces_asks_no_http_target(
    by: CoalesceBy | None, end: tuple[JobState, str | None]
) -> None:
    """What a registration cannot see is refused when it is tried: nothing is sent, and nobody is charged."""

    async def request(context: Context, given: Ask) -> Said:
        answer = await context.http.request("change", "create_task", {"source_ticket": given.steps[0]})
        return Said(text=str(answer.status))

    world, target = FlightWorld(request, by=by), FakeTarget("header", "create_task")
    world.http = {target.name: target}
    job = await world.ask(1)
    await world.give(job)

    assert (world.of(job).state, world.of(job).error_code) == end
    assert target.requests == (0 if by else 1)


def test_no_kind_streams() -> None:
    """An answer leaves a kind when it is whole, so there is no streaming kind to refuse.

    Whoever adds a port, or one that yields, meets this test, and has to keep it from kinds that coalesce.
    """
    offered = {name for name in vars(Context) if not name.startswith("_")}
    methods = [
        one for port in PORTS.values() for name, one in vars(port).items() if name.isidentifier() and name[0] != "_"
    ]

    assert offered == PORTS.keys() | FACTS | OWN.keys()
    assert methods
    assert all(map(inspect.iscoroutinefunction, (*methods, *OWN.values())))
    assert not any("stream" in field.name for field in (*fields(KindPolicy), *fields(Kind)))
