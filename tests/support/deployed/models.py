"""Kinds that ask other models than everybody's: two that answer later, and one of its own, which may be ill alone."""

from __future__ import annotations

from onceward.domain.policy import KindPolicy, OnUnknown
from onceward.usecases.context import Context
from onceward.usecases.registry import Registry
from tests.support.deployed.short import Prompt, Text, short_policy
from tests.support.deployed.terms import BROWN_OUT, LATER, LATER_BATCH, PATIENT_ATTEMPTS


def add_kinds_of_other_models(registry: Registry) -> None:
    """Which model each asks is the deployment's to say (``tests/scenarios/models.py``)."""
    for name in (LATER, LATER_BATCH):
        _ask(registry, short_policy(name))
    _ask(registry, short_policy(BROWN_OUT, on_unknown=OnUnknown.RETRY, max_attempts=PATIENT_ATTEMPTS))


def _ask(registry: Registry, policy: KindPolicy) -> None:
    """A kind that asks its model once."""

    @registry.kind(policy=policy, input_model=Prompt, output_model=Text)
    async def ask(context: Context, given: Prompt) -> Text:
        """Ask once."""
        reply = await context.model.generate("ask", [("user", given.prompt)])
        return Text(text=reply.text)
