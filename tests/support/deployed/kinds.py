"""Kinds for tests on the deployed stack, beside those that ship."""

from __future__ import annotations

import os
import signal
import time
from dataclasses import replace
from datetime import timedelta

from pydantic import BaseModel

from onceward.domain.coalescing import AccessScope, CoalesceBy
from onceward.domain.policy import MOST_ATTEMPTS, KindPolicy, OnUnknown
from onceward.kinds.registered import KINDS
from onceward.usecases.context import Context
from tests.support.deployed.actions import declare_for_tests
from tests.support.deployed.metered import add_metered_kinds
from tests.support.deployed.models import add_kinds_of_other_models
from tests.support.deployed.release import RELEASE
from tests.support.deployed.short import RETRY, Prompt, Text, short_policy
from tests.support.deployed.terms import CALL, LONG_CALL, PROMISES, kind_of

LOWERED = int(os.environ.get("ONCEWARD_TEST_MAX_ATTEMPTS", "3"))  # what a deploy changes under waiting jobs


class Burn(BaseModel):
    """For how many seconds to burn the CPU."""

    burn_seconds: float


class OfDocument(Prompt):
    """What to ask of which document."""

    document_id: str


@KINDS.kind(
    policy=KindPolicy(name="test.burn", timeout=timedelta(minutes=2), call_timeout=CALL, retry=RETRY),
    input_model=Burn,
    output_model=Text,
)
async def burn(context: Context, given: Burn) -> Text:
    """Keep the event loop busy without a pause, which is what starves a heartbeat that lives on it."""
    until = time.monotonic() + given.burn_seconds
    turns = 0
    while time.monotonic() < until:
        turns += sum(range(1000)) % 2
    return Text(text="burnt")


def _shared(name: str) -> KindPolicy:
    """Equal questions that are open at the same time are asked once."""
    return replace(
        short_policy(name, call_timeout=LONG_CALL), coalesce=CoalesceBy(instructions="", scope=AccessScope.TENANT)
    )


def _ask(policy: KindPolicy) -> None:
    """Register a kind that asks the model once."""

    @KINDS.kind(policy=policy, input_model=Prompt, output_model=Text)
    async def ask(context: Context, given: Prompt) -> Text:
        """Ask once, and say which release of the code did."""
        reply = await context.model.generate("ask", [("user", given.prompt)])
        return Text(text=f"{RELEASE}: {reply.text}")


for _promise in PROMISES:
    _ask(short_policy(kind_of("test.ask", _promise)))
    _ask(short_policy(kind_of("test.patient", _promise), call_timeout=LONG_CALL))
_ask(short_policy("test.ask_again", on_unknown=OnUnknown.RETRY))
_ask(short_policy("test.stubborn", on_unknown=OnUnknown.RETRY, call_timeout=LONG_CALL, max_attempts=MOST_ATTEMPTS))
_ask(short_policy("test.lowered", max_attempts=LOWERED))
_ask(_shared("test.shared"))


@KINDS.kind(policy=short_policy("test.long"), input_model=Prompt, output_model=Text)
async def ask_at_length(context: Context, given: Prompt) -> Text:
    """Ask for more than an item can hold, and give a result that is no answer's twin."""
    reply = await context.model.generate("ask", [("user", given.prompt)], max_output_tokens=100_000)
    return Text(text=f"{reply.text}.")


@KINDS.kind(policy=short_policy("test.lethal"), input_model=Prompt, output_model=Text)
async def lethal(context: Context, given: Prompt) -> Text:
    """Kill the process over the answer, each time: what a fault in a native library does."""
    await context.model.generate("ask", [("user", given.prompt)])
    os.kill(os.getpid(), signal.SIGKILL)
    raise AssertionError("unreachable")


declare_for_tests(KINDS)
add_metered_kinds(KINDS)
add_kinds_of_other_models(KINDS)

__all__ = ["KINDS"]


@KINDS.kind(
    policy=_shared("test.shared_document"),
    input_model=OfDocument,
    output_model=Text,
    documents_of=lambda given: (given.document_id,),
)
async def ask_of_document(context: Context, given: OfDocument) -> Text:
    """Ask once, about a document that is read first."""
    document = await context.documents.read(given.document_id)
    reply = await context.model.generate("ask", [("user", f"{given.prompt} {len(document.content)}")])
    return Text(text=reply.text)
