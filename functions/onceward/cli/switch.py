"""The operator's kill switches: no send of a kind, to a provider, or at all, while its name is off.

They are one item of the accounts table. A worker reads it before a send unless it has read it within five seconds.
"""

from __future__ import annotations

from typing import Annotated

import typer

from onceward.cli.operator import Where, operator
from onceward.cli.options import AsJson
from onceward.cli.show import say, told_facts
from onceward.domain.breaking import Breaker
from onceward.domain.switching import is_switch

app = typer.Typer(name="switch", help="Stop sends, of a kind or all (for the operator).", no_args_is_help=True)


def _name(text: str | None) -> str | None:
    """Refuse what names no switch."""
    if text is not None and not is_switch(text):
        raise typer.BadParameter("a switch is all, provider:<name> or kind:<name>, as kind:document.analyze")
    return text


Name = Annotated[str, typer.Argument(metavar="NAME", callback=_name, help="all, provider:<name> or kind:<name>.")]
MaybeName = Annotated[str | None, typer.Argument(metavar="NAME", callback=_name, help="One switch; else all of them.")]
Table = Annotated[str | None, typer.Option(metavar="NAME", help="The accounts table; else --stage or --stack says it.")]
Stage = Annotated[str | None, typer.Option(metavar="NAME", help="A deployed stage, whose stack names the table.")]


@app.command()
def off(
    context: typer.Context, *, name: Name, table: Table = None, stage: Stage = None, as_json: AsJson = False
) -> None:
    """Stop sends. Calls that are under way end as they end; jobs wait, and no attempt of theirs is used up."""
    with operator(context, Where(table=table, stage=stage)) as accounts:
        _print(accounts.ask(accounts.store.switch(name, is_on=False)), as_json=as_json)
        say("known to every worker in five seconds; a send that was journaled before may still leave for ten more")
        if not _is_known_here(name):
            say(f"this checkout has no {name}: is it spelt as the code that is deployed spells it?")


@app.command()
def on(
    context: typer.Context, *, name: Name, table: Table = None, stage: Stage = None, as_json: AsJson = False
) -> None:
    """Let sends go on. Jobs that wait come back by themselves, within minutes."""
    with operator(context, Where(table=table, stage=stage)) as accounts:
        _print(accounts.ask(accounts.store.switch(name, is_on=True)), as_json=as_json)


@app.command()
def show(
    context: typer.Context, *, name: MaybeName = None, table: Table = None, stage: Stage = None, as_json: AsJson = False
) -> None:
    """Print what is off, and, beside it, which circuit breakers are open."""
    with operator(context, Where(table=table, stage=stage)) as accounts:
        known = accounts.ask(accounts.store.switched_off())
        if name is not None:
            _print(known & {name}, as_json=as_json)
            return
        opened = [one for one in accounts.ask(accounts.store.list_breakers()) if one.opened_at is not None]
        if as_json:
            told_facts({"off": sorted(known), "open_breakers": [_told(one) for one in opened]}, as_json=True)
            return
        _print(known, as_json=False)
        for one in map(_told, opened):
            say(f"breaker open: {one['name']} since {one['opened_at']}, next probe {one['probe_at']}")


def _told(breaker: Breaker) -> dict[str, str | None]:
    """An open circuit breaker: its name, since when, and when the next probe may leave (ISO 8601)."""
    opened_at, probe_at = (at.isoformat() if at else None for at in (breaker.opened_at, breaker.probe_at))
    return {"name": breaker.name, "opened_at": opened_at, "probe_at": probe_at}


def _is_known_here(name: str) -> bool:
    """Whether there is such a kind. What is deployed may be newer, so this is told and refuses nothing."""
    from onceward.kinds.registered import KINDS  # noqa: PLC0415 - with the client alone it is not needed

    group, _, kind = name.partition(":")
    return group != "kind" or KINDS.policy_of(kind) is not None


def _print(names: frozenset[str], *, as_json: bool) -> None:
    """What is off."""
    told_facts({"off": sorted(names)}, as_json=as_json)
