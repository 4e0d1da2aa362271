"""Run the command in this process, as its console script would."""

from __future__ import annotations

import functools
import io
from contextlib import redirect_stderr, redirect_stdout
from dataclasses import dataclass

import pytest
import typer

from onceward.cli.main import app
from tests.unit.client.live_api import TOKEN, LiveApi

program = functools.cache(lambda: typer.main.get_command(app))  # what `app()` makes anew for each command


@dataclass(frozen=True)
class Ended:
    """What a command left behind."""

    code: int
    out: str
    err: str


def run(live: LiveApi, *arguments: str) -> Ended:
    """Ask the running API; a later option holds over the address and token given first."""
    return command("--url", live.url, "--token", TOKEN, *arguments)


def command(*arguments: str) -> Ended:
    """Run to the end."""
    out, err = io.StringIO(), io.StringIO()
    with redirect_stdout(out), redirect_stderr(err), pytest.raises(SystemExit) as end:
        program()(list(arguments), prog_name="onceward")
    assert isinstance(end.value.code, int)
    return Ended(end.value.code, out.getvalue(), err.getvalue())
