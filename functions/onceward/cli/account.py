"""The operator's commands for a tenant's account: they work on the accounts table, with the operator's AWS rights.

There is no route for this: who may grant budgets is decided by AWS permissions, never by a tenant's token.
"""

from __future__ import annotations

import json
import secrets
from decimal import Decimal, InvalidOperation
from typing import Annotated, Any

import typer

from onceward.cli.operator import Where, operator
from onceward.cli.options import AsJson, tenant_name
from onceward.cli.show import say, usd
from onceward.domain.granting import MOST_MICRO_USD, is_grant_key, key_of
from onceward.domain.ledger import Account
from onceward.domain.names import TenantId
from onceward.usecases.grant_budget import Statement, grant_budget, show_account

KEY_BYTES = 18  # 144 random bits: 24 characters
MICRO = 1_000_000

app = typer.Typer(name="account", help="What a tenant may spend (for the operator).", no_args_is_help=True)


def _key(text: str | None) -> str | None:
    """Refuse what cannot name a grant."""
    if text is not None and not is_grant_key(text):
        raise typer.BadParameter("a grant's key is 1 to 64 of A-Z, a-z, 0-9, _, . and -")
    return text


def micro_usd(text: str) -> int:
    """Dollars as they are typed, exactly; raises ``typer.BadParameter``."""
    try:
        amount = Decimal(text)
    except InvalidOperation:
        raise typer.BadParameter("say dollars, as 25 or 0.005", param_hint="USD") from None
    # Compared before it is multiplied: 1e999999999 is a number too.
    if not amount.is_finite() or not 0 <= amount <= MOST_MICRO_USD // MICRO or amount * MICRO % 1:
        raise typer.BadParameter("0 to a billion dollars, with at most six decimals", param_hint="USD")
    return int(amount * MICRO)


Tenant = Annotated[str, typer.Argument(metavar="TENANT", callback=tenant_name, help="The tenant's name.")]
Table = Annotated[str | None, typer.Option(metavar="NAME", help="The accounts table; else --stage or --stack says it.")]
Stage = Annotated[str | None, typer.Option(metavar="NAME", help="A deployed stage, whose stack names the table.")]


@app.command()
def show(
    context: typer.Context, *, tenant: Tenant, table: Table = None, stage: Stage = None, as_json: AsJson = False
) -> None:
    """Print how a tenant's account stands.

    What was granted, is left, is held for open jobs and was charged.
    """
    with operator(context, Where(table=table, stage=stage)) as accounts:
        statement = accounts.ask(show_account(accounts.store, TenantId(tenant)))
        print(json.dumps(_plain(tenant, statement)) if as_json else "\n".join(_lines(tenant, statement)))


@app.command()
def grant(
    context: typer.Context,
    *,
    tenant: Tenant,
    dollars: Annotated[str, typer.Argument(metavar="USD", help="Dollars to add, as 25 or 0.005.")],
    key: Annotated[
        str | None, typer.Option(callback=_key, help="The same for each retry of one grant; made if absent.")
    ] = None,
    table: Table = None,
    stage: Stage = None,
    as_json: AsJson = False,
) -> None:
    """Add to what a tenant may spend. The first grant opens its account; from then on the tenant is limited."""
    amount = micro_usd(dollars)
    used = secrets.token_urlsafe(KEY_BYTES) if key is None else key
    with operator(context, Where(table=table, stage=stage)) as accounts:
        say(f"granting {usd(amount)} to {tenant} with --key {used}; the same command with that key grants it once")
        granted = grant_budget(accounts.store, accounts.clock, tenant_id=TenantId(tenant), key=used, micro_usd=amount)
        account = accounts.ask(granted)
        statement = Statement(account, ())
        print(json.dumps(_amounts(tenant, account)) if as_json else "\n".join(_lines(tenant, statement)))


def most_told(most: int | None) -> str:
    """A limit of jobs in flight for a person."""
    return "any number" if most is None else str(most)


def _amounts(tenant: str, account: Account | None) -> dict[str, Any]:
    """An account for a program; without one, no amount is known."""
    parts = ("granted", "available", "reserved", "captured")
    known = {f"{part}_micro_usd": None if account is None else getattr(account, part) for part in parts}
    counts = {part: None if account is None else getattr(account, part) for part in ("in_flight", "most_in_flight")}
    return {"tenant_id": tenant, "is_limited": account is not None, **known, **counts}


def _plain(tenant: str, statement: Statement) -> dict[str, Any]:
    """A statement for a program."""
    grants = [
        {"key": key_of(entry), "micro_usd": entry.micro_usd, "at": entry.at.isoformat()} for entry in statement.grants
    ]
    return {**_amounts(tenant, statement.account), "grants": grants}


def _lines(tenant: str, statement: Statement) -> list[str]:
    """A statement for a person."""
    account = statement.account
    if account is None:
        return [f"tenant     {tenant}", "unlimited: no account was opened for it"]
    return [
        f"tenant     {tenant}",
        f"granted    {usd(account.granted)}",
        f"available  {usd(account.available)}",
        f"reserved   {usd(account.reserved)}",
        f"captured   {usd(account.captured)}",
        f"in flight  {account.in_flight} of {most_told(account.most_in_flight)}",
        *(f"grant      {usd(one.micro_usd)}  {one.at.isoformat()}  {key_of(one)}" for one in statement.grants),
    ]
