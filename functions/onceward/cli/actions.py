"""The commands of agent actions: act once, look at operations, approve and reset them."""

from __future__ import annotations

from typing import Annotated

import typer

from onceward.cli.given import read_input
from onceward.cli.options import AsJson
from onceward.cli.session import session
from onceward.cli.show import listed, one_line, readable
from onceward.client import ActionAnswer

app = typer.Typer(name="action", help="Look at agents' operations, approve and reset them.", no_args_is_help=True)

HEAD = "operation  action  status  epoch"
OperationId = Annotated[str, typer.Argument(metavar="OPERATION_ID", help="The operation's id.")]
Why = Annotated[str, typer.Option(help="For the record.")]


def act(
    context: typer.Context,
    *,
    action: Annotated[str, typer.Argument(metavar="ACTION", help="The action's name, as create_task.")],
    operation_id: Annotated[str, typer.Option(help="The same for each retry of one intention.")],
    given: Annotated[str, typer.Option("--arguments", metavar="JSON|@FILE|-", help="A JSON object.")],
    run_id: Annotated[str | None, typer.Option(help="The agent's run, to list its operations by.")] = None,
    timeout: Annotated[float | None, typer.Option(min=0, metavar="SECONDS", help="Wait no longer; it goes on.")] = None,
    as_json: AsJson = False,
) -> None:
    """Let an action be done once. Print its answer; repeating the command changes nothing more."""
    arguments = read_input(given, has_document=False, option="--arguments")
    with session(context) as talk:
        talk.operation_id = operation_id
        told = talk.client.act(action, arguments, operation_id=operation_id, run_id=run_id, timeout=timeout)
        print(one_line(told) if as_json else readable(told.response.body if told.response else None))


@app.command()
def get(context: typer.Context, *, operation_id: OperationId, as_json: AsJson = False) -> None:
    """Print how an operation stands, and each request for it."""
    with session(context) as talk:
        told = talk.client.actions.get(operation_id)
        print(one_line(told) if as_json else readable(told.model_dump(mode="json", warnings=False)))


@app.command("list")
def list_run(
    context: typer.Context, *, run_id: Annotated[str, typer.Argument(metavar="RUN_ID")], as_json: AsJson = False
) -> None:
    """Print a run's operations, the newest first."""
    with session(context) as talk:
        page = talk.client.actions.list(run_id)
        found = list(page.operations)
        while page.next_cursor is not None:
            page = talk.client.actions.list(run_id, cursor=page.next_cursor)
            found += page.operations
        listed(HEAD, [one_line(told) if as_json else _line(told) for told in found], as_json=as_json)


@app.command()
def approve(
    context: typer.Context,
    *,
    operation_id: OperationId,
    fingerprint: Annotated[str, typer.Option(help="The operation's fingerprint, as you looked at it.")],
    why: Why,
    epoch: Annotated[int | None, typer.Option(help="The epoch that you looked at: no later one is approved.")] = None,
    as_json: AsJson = False,
) -> None:
    """Let an operation that waits for it be sent."""
    with session(context) as talk:
        told = talk.client.actions.approve(operation_id, fingerprint, why, epoch=epoch)
        print(one_line(told) if as_json else _line(told))


@app.command()
def reset(
    context: typer.Context,
    *,
    operation_id: OperationId,
    epoch: Annotated[int, typer.Option(help="The epoch in which it failed.")],
    why: Why,
    as_json: AsJson = False,
) -> None:
    """Run an operation that failed again, in a new epoch."""
    with session(context) as talk:
        told = talk.client.actions.reset(operation_id, epoch, why)
        print(one_line(told) if as_json else _line(told))


def _line(told: ActionAnswer) -> str:
    """An operation in a line."""
    waiting = f" for {told.waiting_for}" if told.waiting_for else ""
    return f"{told.operation_id or '(erased)'}  {told.action}  {told.status}{waiting}  epoch {told.epoch}"
