"""More of ``onceward account``: one's own account, the limit of jobs in flight, the statement, and the audit."""

from __future__ import annotations

import json
from datetime import UTC, datetime
from typing import Annotated, Any

import typer

from onceward.cli.account import Stage, Table, Tenant, app, most_told
from onceward.cli.exits import ExitCode
from onceward.cli.operator import Where, operator
from onceward.cli.options import AsJson
from onceward.cli.session import session
from onceward.cli.show import listed, one_line, say, usd
from onceward.client import AccountView, Misconfigured
from onceward.domain.ledger import Entry, Verb
from onceward.domain.names import TenantId
from onceward.usecases.verify_account import verify_account

MOST = 1_000_000  # jobs in flight; more is a slip of the keyboard
ALL = ""  # the prefix of every line
HEAD = f"{'at':19}  verb    {'amount':>16}  {'available':>16}  job"

__all__ = ["app"]

JobsTable = Annotated[str | None, typer.Option(metavar="NAME", help="The jobs table; else --stage or --stack says it.")]
Count = Annotated[int | None, typer.Argument(metavar="N", min=0, max=MOST, help="Jobs that may be in flight.")]


@app.command()
def mine(context: typer.Context, *, as_json: AsJson = False) -> None:
    """Print your own tenant's account. By the API, with your token."""
    with session(context) as talk:
        account = talk.client.account()
        print(one_line(account) if as_json else "\n".join(_own_lines(account)))


@app.command()
def limit(
    context: typer.Context,
    *,
    tenant: Tenant,
    most: Count = None,
    none: Annotated[bool, typer.Option("--none", help="Take the limit away.")] = False,
    table: Table = None,
    stage: Stage = None,
) -> None:
    """Limit how many jobs may be in flight. One more is answered 429; it needs an account."""
    if none == (most is not None):
        raise typer.BadParameter("say a number, or --none", param_hint="N")
    with operator(context, Where(table=table, stage=stage)) as accounts:
        account = accounts.ask(accounts.store.limit_account(TenantId(tenant), most))
        if account is None:
            raise Misconfigured(f"{tenant} has no account: open one with onceward account grant")
        print(f"in flight  {account.in_flight} of {most_told(most)}")


@app.command()
def statement(
    context: typer.Context, *, tenant: Tenant, table: Table = None, stage: Stage = None, as_json: AsJson = False
) -> None:
    """Print every line of a tenant's book. The oldest comes first, each with what was available after it."""
    with operator(context, Where(table=table, stage=stage)) as accounts:
        entries = accounts.ask(accounts.store.list_entries(TenantId(tenant), ALL))
        lines = [json.dumps(line) if as_json else line_of(line) for line in statement_of(entries)]
        listed(HEAD, lines, as_json=as_json)


@app.command()
def verify(
    context: typer.Context,
    *,
    tenant: Tenant,
    table: Table = None,
    jobs_table: JobsTable = None,
    stage: Stage = None,
    as_json: AsJson = False,
) -> None:
    """Recompute a tenant's books from its jobs alone. Compared to the micro-dollar; exit code 7 if they differ."""
    where = Where(table=table, stage=stage, jobs_table=jobs_table, has_jobs=True)
    with operator(context, where) as accounts:
        done = accounts.ask(verify_account(accounts.store, accounts.clock, TenantId(tenant)))
    if as_json:
        counts = {"jobs": done.jobs, "entries": done.entries, "past_retention": done.past_retention}
        print(json.dumps({**counts, "findings": [str(one) for one in done.findings]}))
    else:
        for one in done.findings:
            print(one)
        say(f"{done.jobs} jobs and {done.entries} entries compared; {done.past_retention} jobs by their entries alone")
    if done.findings:
        raise typer.Exit(ExitCode.BOOKS_DIFFER)
    if not as_json:
        print("the books agree with the jobs")


def statement_of(entries: tuple[Entry, ...]) -> list[dict[str, Any]]:
    """The lines in the order of their writing; entries of one instant in that of their names.

    What is available is summed up from the lines: a capture frees what its job held beyond the charge. Before the first
    grant there was no account, and the tenant unlimited: nothing is told then.
    """
    available, held, is_limited = 0, dict[str, int](), False
    told = []
    for entry in sorted(entries, key=lambda one: (one.at, one.name)):
        match entry.verb:
            case Verb.GRANT:
                available, is_limited = available + entry.micro_usd, True
            case Verb.RESERVE:
                available -= entry.micro_usd
                held[entry.job_id] = entry.micro_usd
            case Verb.CAPTURE:
                available += held.pop(entry.job_id, entry.micro_usd) - entry.micro_usd
            case Verb.RELEASE:
                available += held.pop(entry.job_id, entry.micro_usd)
            case Verb.CARRY:
                pass  # what was held stays held
        told.append(
            {
                "at": entry.at.astimezone(UTC).isoformat(),
                "verb": str(entry.verb),
                "micro_usd": entry.micro_usd,
                "available_micro_usd": available if is_limited else None,
                "job_id": entry.job_id,
                "epoch": entry.epoch,
            }
        )
    return told


def line_of(told: dict[str, Any]) -> str:
    """A line for a person."""
    at = datetime.fromisoformat(told["at"]).strftime("%Y-%m-%d %H:%M:%S")
    amounts = f"{usd(told['micro_usd']):>16}  {_signed(told['available_micro_usd']):>16}"
    return f"{at}  {told['verb']:<8}{amounts}  {told['job_id']} #{told['epoch']}"


def _signed(amount: int | None) -> str:
    """Micro-USD that may be below zero: jobs of a tenant that had no account when they were created."""
    if amount is None:
        return "unlimited"
    return usd(amount) if amount >= 0 else f"-{usd(-amount)}"


def _own_lines(account: AccountView) -> list[str]:
    """One's account for a person."""
    if not account.is_limited:
        return ["unlimited: no account was opened"]
    return [
        f"granted    {usd(account.granted_micro_usd or 0)}",
        f"available  {usd(account.available_micro_usd or 0)}",
        f"reserved   {usd(account.reserved_micro_usd or 0)}",
        f"captured   {usd(account.captured_micro_usd or 0)}",
        f"in flight  {account.in_flight or 0} of {most_told(account.most_in_flight)}",
    ]
