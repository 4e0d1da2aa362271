"""Kinds whose results are charged by what they came to: by their pages, or by the tokens of their answers."""

from __future__ import annotations

from dataclasses import replace

from onceward.domain.policy import OnUnknown
from onceward.domain.tariff import PerPage
from onceward.errors import JobFailure
from onceward.usecases.context import Context
from onceward.usecases.registry import Registry
from tests.support.deployed.short import Prompt, Text, short_policy
from tests.support.deployed.terms import PAGE, TOKENS


class Pages(Text):
    """So many pages."""

    pages: int


def add_metered_kinds(registry: Registry) -> None:
    """One by pages, as many as the prompt's first word says, and one by tokens that may be bought again."""

    @registry.kind(
        policy=replace(short_policy("test.paged"), metered=PerPage(PAGE)),
        input_model=Prompt,
        output_model=Pages,
        pages_of=lambda made: made.pages,
    )
    async def paged(context: Context, given: Prompt) -> Pages:
        """Ask once; a prompt without a number has paid for its answer and fails."""
        reply = await context.model.generate("ask", [("user", given.prompt)])
        number = given.prompt.partition(" ")[0]
        if not number.isdecimal():
            raise JobFailure("nobody said how many pages", code="no_pages")
        return Pages(text=reply.text, pages=int(number))

    @registry.kind(
        policy=replace(short_policy("test.metered", on_unknown=OnUnknown.RETRY), metered=TOKENS),
        input_model=Prompt,
        output_model=Text,
    )
    async def metered(context: Context, given: Prompt) -> Text:
        """Ask once."""
        reply = await context.model.generate("ask", [("user", given.prompt)])
        return Text(text=reply.text)
