"""One command's talk with the API: whatever goes wrong becomes one line on stderr and an exit code of the table."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass

import typer

from onceward.cli.access import Flags, find_access
from onceward.cli.exits import ExitCode, exit_code
from onceward.cli.show import say
from onceward.client import ApiError, ConnectionFailed, Onceward
from onceward.errors import OncewardError

SERVER_ERROR = 500  # and above


@dataclass(slots=True)
class Session:
    """The client, and what an interrupted person has to know: the key of what is being sent, what goes on."""

    client: Onceward
    key: str | None = None
    job_id: str | None = None
    operation_id: str | None = None


@contextmanager
def session(context: typer.Context) -> Iterator[Session]:
    """Talk to the API; leave by ``typer.Exit`` with the right code if that ends badly."""
    flags: Flags = context.obj
    begun: Session | None = None
    try:
        with find_access(flags).connect() as client:
            begun = Session(client)
            yield begun
    except OncewardError as error:
        say(f"onceward: {error}")
        if begun is not None and _leaves_open(error):
            _say_how_to_go_on(begun)
        raise typer.Exit(exit_code(error)) from None
    except KeyboardInterrupt:
        say("")
        if begun is not None:
            _say_how_to_go_on(begun)
        raise typer.Exit(ExitCode.INTERRUPTED) from None


def _leaves_open(error: OncewardError) -> bool:
    """Whether the job may be there and going on: nothing came back, or nothing that speaks of the job."""
    match error:
        case ApiError():
            return error.status >= SERVER_ERROR or error.status in {401, 408, 429}
        case _:
            return isinstance(error, ConnectionFailed)


def _say_how_to_go_on(begun: Session) -> None:
    """Where the job is stored it goes on; where only its key is known, the same key finds or makes it."""
    if begun.job_id is not None:
        say(f"job continues: onceward wait {begun.job_id}")
    elif begun.operation_id is not None:
        say(f"it may be going on; the same command with --operation-id {begun.operation_id} tells, or does it once")
    elif begun.key is not None:
        say(f"the job may be stored already; the same command with --key {begun.key} finds or makes that one job")
