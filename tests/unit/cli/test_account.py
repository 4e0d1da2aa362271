"""The operator's commands, over an emulated AWS account: what is granted, and what is told of it."""

from __future__ import annotations

import json
from dataclasses import replace
from datetime import timedelta
from pathlib import Path

import boto3
import pytest

from onceward.cli.books import line_of, statement_of
from onceward.domain.granting import grant_entry
from onceward.domain.ledger import Entry, Verb
from onceward.domain.names import JobId, TenantId
from onceward.local.cloud import LocalCloud
from onceward.local.environment import cloud_access
from tests.support.builders import NOW
from tests.support.emulators import dynamodb_at, make_tables
from tests.unit.cli.command import Ended, command


@pytest.fixture
def table(moto_aws: None) -> str:
    """An accounts table of its own."""
    return make_tables(dynamodb_at()).accounts


def account(*arguments: str) -> Ended:
    """Run one of the commands."""
    return command("account", *arguments)


def test_grant_opens_an_account_and_adds_to_it(table: str) -> None:
    """Each grant of its own key adds; the account and its grants are told to a person and to a program."""
    first = account("grant", "acme", "25", "--table", table, "--key", "march")
    account("grant", "acme", "0.000005", "--table", table)
    shown = account("show", "acme", "--table", table)
    told = json.loads(account("show", "acme", "--table", table, "--json").out)

    assert (first.code, first.out.splitlines()[1]) == (0, "granted    $25.000000")
    assert "available  $25.000005\n" in shown.out
    assert shown.out.count("\ngrant      $") == 2
    assert (told["is_limited"], told["granted_micro_usd"], told["available_micro_usd"]) == (
        True,
        25_000_005,
        25_000_005,
    )
    assert (told["grants"][0]["key"], told["grants"][0]["micro_usd"]) == ("march", 25_000_000)


def test_repeated_grant_counts_once_and_is_told_as_done(table: str) -> None:
    """The key makes the command safe to repeat; the key that was made is told before anything is sent."""
    first = account("grant", "acme", "25", "--table", table)
    key = first.err.split("--key ")[1].split(";")[0]
    again = account("grant", "acme", "25", "--table", table, "--key", key)

    assert (again.code, again.out) == (0, first.out)
    assert "available  $25.000000" in again.out


def test_key_of_another_amount_grants_nothing_and_says_so(table: str) -> None:
    """A slip must not look like a grant."""
    account("grant", "acme", "25", "--table", table, "--key", "march")
    ended = account("grant", "acme", "50", "--table", table, "--key", "march")

    assert (ended.code, ended.out) == (6, "")
    assert "granted another amount" in ended.err
    assert "granted    $25.000000" in account("show", "acme", "--table", table).out


def test_tenant_without_an_account_is_told_as_unlimited(table: str) -> None:
    """And a grant of nothing opens one that holds nothing."""
    assert "unlimited" in account("show", "acme", "--table", table).out
    assert json.loads(account("show", "acme", "--table", table, "--json").out)["is_limited"] is False

    assert "available  $0.000000" in account("grant", "acme", "0", "--table", table).out
    assert "unlimited" not in account("show", "acme", "--table", table).out
    assert "unlimited" in account("show", "globex", "--table", table).out


@pytest.mark.parametrize(
    "arguments",
    [
        pytest.param(("grant", "acme", "much"), id="no amount"),
        pytest.param(("grant", "acme", "0.0000001"), id="below a micro"),
        pytest.param(("grant", "acme", "1000000001"), id="beyond reason"),
        pytest.param(("grant", "acme", "NaN"), id="no number"),
        pytest.param(("grant", "acme", "1e999999999"), id="no sum"),
        pytest.param(("grant", "acme", "--", "-1"), id="negative"),
        pytest.param(("grant", "a#b", "1"), id="no tenant"),
        pytest.param(("grant", "acme", "1", "--key", "a#b"), id="no key"),
        pytest.param(("show", "a b"), id="no tenant's name"),
        pytest.param(("show", "acme"), id="no table"),
    ],
)
def test_command_that_cannot_be_meant_is_refused_and_writes_nothing(table: str, arguments: tuple[str, ...]) -> None:
    """Exit code 2 and one reason, before anything is asked of a table."""
    ended = account(*arguments)

    assert (ended.code, ended.out) == (2, "")
    assert ended.err
    assert dynamodb_at().scan(TableName=table)["Items"] == []


def test_table_that_is_not_there_is_an_error_of_one_line(table: str) -> None:
    """What AWS said, in a code."""
    ended = account("show", "acme", "--table", "no-such-table")

    assert (ended.code, ended.out) == (6, "")
    assert ended.err == "onceward: dynamodb GetItem: ResourceNotFoundException\n"


@pytest.fixture
def cloud(ministack: LocalCloud, monkeypatch: pytest.MonkeyPatch) -> LocalCloud:
    """An account that the environment leads to, as an operator's shell has it; moto knows no stacks here."""
    for name, value in cloud_access(ministack.endpoint_url).items():
        monkeypatch.setenv(name, value)
    return ministack


def test_stage_names_its_table_itself(cloud: LocalCloud) -> None:
    """By the outputs of its state stack; a stage that is not there is told."""
    table = make_tables(dynamodb_at(cloud.endpoint_url)).accounts
    template = {"Resources": {"Queue": {"Type": "AWS::SQS::Queue"}}, "Outputs": {"AccountsTable": {"Value": table}}}
    stacks = boto3.client("cloudformation", **cloud.access)
    stacks.create_stack(StackName="OncewardState-granted", TemplateBody=json.dumps(template))
    stacks.get_waiter("stack_create_complete").wait(StackName="OncewardState-granted", WaiterConfig={"Delay": 1})

    assert account("grant", "acme", "1", "--stage", "granted").code == 0
    assert "granted    $1.000000" in account("show", "acme", "--table", table).out
    nowhere = account("show", "acme", "--stage", "nowhere")
    assert (nowhere.code, nowhere.out) == (2, "")
    assert "cannot find the stage nowhere" in nowhere.err


def test_local_stack_s_file_is_enough(ministack: LocalCloud, tmp_path: Path) -> None:
    """Address, region and table are in it; no credentials and no tenant's token are asked for."""
    table = make_tables(dynamodb_at(ministack.endpoint_url)).accounts
    path = tmp_path / "stack.json"
    known = {"aws_endpoint_url": ministack.endpoint_url, "region": "us-east-1", "tables": {"accounts": table}}
    path.write_text(json.dumps(known))

    assert command("--stack", str(path), "account", "grant", "acme", "2.5").code == 0
    assert "available  $2.500000" in command("--stack", str(path), "account", "show", "acme").out


def test_file_that_describes_no_stack_is_not_quoted(tmp_path: Path) -> None:
    """Tokens are in it."""
    path = tmp_path / "stack.json"
    path.write_text('{"region": "us-east-1", "tokens": {"acme": "SECRET"}}')
    ended = command("--stack", str(path), "account", "show", "acme")

    assert (ended.code, "SECRET" in ended.err) == (2, False)


def test_grant_is_never_taken_for_a_job() -> None:
    """Its line's name begins as no job id can."""
    assert grant_entry(TenantId("acme"), "march", 1, NOW).name == "grant-march#1#grant"


def test_limit_is_set_told_and_taken_away(table: str) -> None:
    """It needs an account; a number and --none exclude each other."""
    early = account("limit", "acme", "3", "--table", table)
    account("grant", "acme", "25", "--table", table)
    set_ = account("limit", "acme", "3", "--table", table)
    told = json.loads(account("show", "acme", "--table", table, "--json").out)
    gone = account("limit", "acme", "--none", "--table", table)

    assert (early.code, "has no account" in early.err) == (2, True)
    assert (set_.out, told["most_in_flight"], told["in_flight"]) == ("in flight  0 of 3\n", 3, 0)
    assert gone.out == "in flight  0 of any number\n"
    assert account("limit", "acme", "--table", table).code == 2
    assert account("limit", "acme", "3", "--none", "--table", table).code == 2


def test_statement_tells_each_line_with_what_was_left_after_it(moto_aws: None) -> None:
    """Two grants; amounts exactly, for a person and for a program."""
    table = make_tables(dynamodb_at()).accounts
    account("grant", "acme", "25", "--table", table, "--key", "march")
    account("grant", "acme", "0.5", "--table", table, "--key", "april")
    lines = account("statement", "acme", "--table", table).out.splitlines()
    told = [json.loads(line) for line in account("statement", "acme", "--table", table, "--json").out.splitlines()]

    assert account("statement", "globex", "--table", table).err == "none\n"
    assert [one["available_micro_usd"] for one in told] == [25_000_000, 25_500_000]
    assert (told[0]["verb"], told[0]["job_id"]) == ("grant", "grant-march")
    assert "$25.500000  grant-april #1" in lines[1]


def test_statement_before_the_first_grant_tells_of_no_limit() -> None:
    """Without an account nothing is limited, and zero would say the contrary."""
    free = Entry(tenant_id=TenantId("acme"), job_id=JobId("j"), epoch=1, verb=Verb.RESERVE, micro_usd=5_000, at=NOW)
    given = replace(free, job_id=JobId("g"), verb=Verb.GRANT, micro_usd=1_000_000, at=NOW + timedelta(seconds=1))
    lines = [line_of(told) for told in statement_of((given, free))]

    assert [line.split()[4] for line in lines] == ["unlimited", "$0.995000"]


def test_verify_needs_both_tables_and_tells_what_differs(moto_aws: None) -> None:
    """Books that agree end with 0; one planted micro-dollar with 7 and a line that says where."""
    client = dynamodb_at()
    tables = make_tables(client)
    where = ("--table", tables.accounts, "--jobs-table", tables.jobs)
    account("grant", "acme", "25", "--table", tables.accounts)
    good = account("verify", "acme", *where)
    client.update_item(
        TableName=tables.accounts,
        Key={"pk": {"S": "account#acme"}, "sk": {"S": "account"}},
        UpdateExpression="ADD available :one",
        ExpressionAttributeValues={":one": {"N": "1"}},
    )
    bad = account("verify", "acme", *where)
    told = json.loads(account("verify", "acme", *where, "--json").out)

    assert (good.code, good.out) == (0, "the books agree with the jobs\n")
    assert (bad.code, bad.out) == (7, "account available: expected 25000000, found 25000001\n")
    assert (told["entries"], len(told["findings"])) == (1, 1)
    assert "--jobs-table" in account("verify", "acme", "--table", tables.accounts).err
