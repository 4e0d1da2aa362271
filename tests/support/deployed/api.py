"""The API's own handler, in an environment that also knows the tests' kinds, and one that no worker knows yet."""

from __future__ import annotations

from onceward.domain.policy import KindPolicy
from onceward.handlers.api import handler
from onceward.usecases.context import Context
from tests.support.deployed.kinds import KINDS
from tests.support.deployed.short import Prompt, Text

__all__ = ["KINDS", "handler"]


@KINDS.kind(policy=KindPolicy(name="test.newer"), input_model=Prompt, output_model=Text)
async def newer(context: Context, given: Prompt) -> Text:
    """A kind of the next release: the API has been deployed, the worker has not."""
    return Text(text=given.prompt)
