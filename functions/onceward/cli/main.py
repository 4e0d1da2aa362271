"""The command ``onceward``: its options, and its commands by name.

No colours and no spinner, so there is nothing to switch off: what is printed is the same on a terminal and in a pipe.
"""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from onceward import __version__
from onceward.cli import actions, books, dlq, jobs, mcp, review, switch
from onceward.cli.access import Flags
from onceward.cli.exits import MEANINGS
from onceward.cli.new_kind import new_kind

EPILOG = "Exit codes: " + "; ".join(f"{code.value} {meaning}" for code, meaning in MEANINGS.items()) + "."

app = typer.Typer(
    name="onceward",
    epilog=EPILOG,
    no_args_is_help=True,
    rich_markup_mode=None,  # plain text
    pretty_exceptions_enable=False,  # a traceback's local variables hold tokens
)


def _print_version(is_asked: bool) -> None:  # noqa: FBT001 - typer's signature
    """Print it and be done."""
    if is_asked:
        print(__version__)
        raise typer.Exit


@app.callback()
def onceward(
    context: typer.Context,
    *,
    url: Annotated[str | None, typer.Option(help="Where the API is; else ONCEWARD_URL.")] = None,
    token: Annotated[
        str | None, typer.Option(help="The access token; better in ONCEWARD_TOKEN, arguments are seen by others.")
    ] = None,
    stack: Annotated[Path | None, typer.Option(help="A local stack's file, as .local/stack.json.")] = None,
    name: Annotated[str | None, typer.Option("--as", help="Which of that stack's tenants to be, as acme.")] = None,
    _version: Annotated[
        bool, typer.Option("--version", is_eager=True, callback=_print_version, help="Print the version.")
    ] = False,
) -> None:
    """Durable AI jobs: submit once, wait, be told honestly how it ended."""
    context.obj = Flags(url=url, token=token, stack=stack, name=name)


for command in (jobs.submit, jobs.get, jobs.wait, jobs.cancel, jobs.erase, jobs.upload):
    app.command()(command)
app.command("new-kind")(new_kind)
app.command()(actions.act)
app.command()(mcp.mcp)
app.add_typer(actions.app)
app.add_typer(books.app)
app.add_typer(dlq.app)
app.add_typer(review.app)
app.add_typer(switch.app)
