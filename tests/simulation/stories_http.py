"""The stories whose clients come through the API's own handler, and whose worker and sweeper are Lambda's.

Every route is used in one of them, and so meets every single fault.
"""

from __future__ import annotations

from dataclasses import replace
from datetime import timedelta
from typing import Any

from pydantic import BaseModel

from onceward.domain.endpoint import Endpoint, IdempotencyHeader
from onceward.domain.policy import RetryPolicy
from onceward.usecases.actions import Action
from onceward.usecases.context import Context
from onceward.usecases.registry import Registry
from tests.simulation.acting import approve, reset
from tests.simulation.checks.promised import MOST_ATTEMPTS
from tests.simulation.http_door import HttpDoor
from tests.simulation.http_line import TARGET
from tests.simulation.kinds import ONE_CALL, Given, Made
from tests.simulation.model import DEDUPES, Script
from tests.simulation.reading import (
    be_refused,
    bring_document,
    erase,
    intrude,
    read_all,
    read_operation,
    read_review,
)
from tests.simulation.scenario import Scenario
from tests.simulation.stories_actions import witness

HTTP = HttpDoor()
SOON = 5.0  # seconds after the rest until a person decides
LOST = (Script.RESET,)
ABOUT = "sim.about"


class Asked(BaseModel):
    """A question about a document."""

    text: str
    document: str


def about_a_document(registry: Registry) -> None:
    """A kind that reads a document, has it parsed apart, counts its words as a step, and asks about it."""
    policy = replace(registry.find(ONE_CALL).policy, name=ABOUT)

    async def about(context: Context, given: Asked) -> Made:
        document = await context.documents.read(given.document)
        parsed = await context.children.run(
            "sim.parser", document.content, timeout=timedelta(seconds=9), memory_bytes=2**20
        )
        words = await context.step("count", lambda: len(parsed.stdout.split()), given=given.document)
        reply = await context.model.generate("ask", [("user", f"{given.text} {words}")])
        return Made(answers=[reply.text, str(words)])

    registry.kind(policy=policy, input_model=Asked, output_model=Made, documents_of=lambda given: [given.document])(
        about
    )


def an_action(*, requires_approval: bool) -> Action[Given]:
    """An action as a deployment declares one."""
    return Action(
        name=TARGET,
        description="Do it.",
        arguments=Given,
        endpoint=Endpoint(
            name=TARGET,
            method="POST",
            url="https://target.example/things",
            allowed_hosts=("target.example",),
            dedupe=IdempotencyHeader(),
        ),
        identified_by=("text",),
        requires_approval=requires_approval,
        retry=RetryPolicy(max_attempts=MOST_ATTEMPTS),
    )


def declared(registry: Registry) -> None:
    """An action that an agent may do."""
    registry.action(an_action(requires_approval=False))


def declared_with_approval(registry: Registry) -> None:
    """An action that a person approves first."""
    registry.action(an_action(requires_approval=True))


def _story(name: str, **more: Any) -> Scenario:
    return Scenario(name=f"http-{name}", door=HTTP, by_handlers=True, **more)


def _action(name: str, **more: Any) -> Scenario:
    given = {"kind": f"action.{TARGET}", "kinds": declared, "judge": witness, "capability": DEDUPES}
    return _story(f"action-{name}", **{**given, **more})


STORIES = (
    _story("read", also=read_all),
    _story("same-key", requests=("key-1", "key-1", "key-1/another body")),
    _story("cancel", cancel_at=2.0),
    _story("erase", also=erase),
    _story("review", script=LOST, verdicts=((("accept", SOON),),)),
    _story("review-read", script=LOST, also=read_review),
    _story("foreign", also=intrude),
    _story("refused", requests=(), also=be_refused),
    _story("document", kind=ABOUT, kinds=about_a_document, requests=(), also=bring_document),
    _action("read", also=read_operation),
    _action("reused", requests=("key-1", "key-1/other arguments")),
    _action("approval", kinds=declared_with_approval, also=approve),
    _action("reset", script=(Script.REJECTED,), also=reset),
)
