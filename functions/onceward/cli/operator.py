"""The operator's way to the tables: where they are, and the rights that the operator's AWS credentials give.

boto3 and the adapters are imported here and only when a command needs them: the client's install has neither.
"""

from __future__ import annotations

import asyncio
from collections.abc import Coroutine, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from typing import Any

import typer

from onceward.cli.access import Flags, described
from onceward.cli.aws import Aws, find_aws, told
from onceward.client import Misconfigured
from onceward.usecases.ports import Clock, Store

OUTPUTS = {"accounts": "AccountsTable", "jobs": "JobsTable"}  # of the state stack


@dataclass(frozen=True, slots=True, kw_only=True)
class Where:
    """How a command names the tables; a local stack's file is among the flags before the command.

    ``has_jobs``: the command reads the jobs table as well.
    """

    table: str | None = None
    stage: str | None = None
    jobs_table: str | None = None
    has_jobs: bool = False


@dataclass(frozen=True, slots=True)
class Accounts:
    """The accounts table of one deployment, and its jobs table for commands that ask for it."""

    store: Store
    clock: Clock

    def ask[Reply](self, story: Coroutine[Any, Any, Reply]) -> Reply:
        """Run a story to its end."""
        return asyncio.run(story)


@contextmanager
def operator(context: typer.Context, where: Where) -> Iterator[Accounts]:
    """The accounts; whatever goes wrong becomes one line on stderr and an exit code of the table."""
    with told(), _open(context.obj, where) as accounts:
        yield accounts


@contextmanager
def _open(flags: Flags, where: Where) -> Iterator[Accounts]:
    """Find the table and reach it."""
    try:
        from onceward.adapters.dynamodb.client import CONFIG  # noqa: PLC0415 - see the module's docstring
        from onceward.adapters.dynamodb.store import DynamoStore  # noqa: PLC0415
        from onceward.adapters.dynamodb.table import Tables  # noqa: PLC0415
        from onceward.adapters.system import SystemClock, SystemIds, ThreadRunner  # noqa: PLC0415
    except ModuleNotFoundError as error:
        raise Misconfigured(f"{error.name} is missing: pip install './onceward[operator]'") from None
    aws = find_aws(flags)
    accounts = _table_of(aws, flags, where, "accounts", where.table)
    jobs = _table_of(aws, flags, where, "jobs", where.jobs_table) if where.has_jobs else ""
    client = aws.session.client("dynamodb", endpoint_url=aws.endpoint, config=CONFIG)
    clock = SystemClock()
    with ThreadRunner(1) as threads:
        yield Accounts(DynamoStore(client, Tables(jobs=jobs, accounts=accounts), threads, clock, SystemIds()), clock)


def _table_of(aws: Aws, flags: Flags, where: Where, which: str, named: str | None) -> str:
    """A table's name: as it was given, or as the stack tells it."""
    if named is not None:
        return named
    if flags.stack is not None:
        with described(flags.stack) as stack:
            return str(stack["tables"][which])
    if where.stage is None:
        option = "--table" if which == "accounts" else "--jobs-table"
        raise Misconfigured(f"say which {which} table: --stage, {option}, or --stack before the command")
    outputs = aws.outputs_of("OncewardState", where.stage)
    if OUTPUTS[which] not in outputs:
        raise Misconfigured(f"the stack of the stage {where.stage} names no {which} table")
    return outputs[OUTPUTS[which]]
