"""The operator's kill switches, over an emulated accounts table."""

from __future__ import annotations

import asyncio
import json
from datetime import UTC, datetime, timedelta

import pytest

from onceward.adapters.dynamodb.store import DynamoStore
from onceward.adapters.system import SystemClock, SystemIds, ThreadRunner
from onceward.domain.breaking import Breaker
from tests.support.emulators import dynamodb_at, make_tables
from tests.unit.cli.command import Ended, command


@pytest.fixture
def table(moto_aws: None) -> str:
    """An accounts table of its own."""
    return make_tables(dynamodb_at()).accounts


def switch(table: str, *arguments: str) -> Ended:
    """Run one of the commands on it."""
    return command("switch", *arguments, "--table", table)


def test_names_go_off_and_on(table: str) -> None:
    """Each command prints what is off after it; show prints it without a change."""
    assert json.loads(switch(table, "show", "--json").out) == {"off": [], "open_breakers": []}
    assert json.loads(switch(table, "off", "kind:document.analyze", "--json").out) == {"off": ["kind:document.analyze"]}
    ended = switch(table, "off", "all", "--json")
    assert (ended.code, json.loads(ended.out)) == (0, {"off": ["all", "kind:document.analyze"]})
    assert "five seconds" in ended.err
    assert json.loads(switch(table, "on", "all", "--json").out) == {"off": ["kind:document.analyze"]}
    assert json.loads(switch(table, "show", "kind:document.analyze", "--json").out) == {
        "off": ["kind:document.analyze"]
    }
    assert json.loads(switch(table, "show", "provider:openai", "--json").out) == {"off": []}


def test_a_kind_that_is_not_here_is_switched_and_doubted(table: str) -> None:
    """A slip in a fire would stop nothing; newer code may have it, so nothing is refused."""
    slip, known = (switch(table, "off", f"kind:document.{word}", "--json") for word in ("analyse", "analyze"))

    assert (slip.code, json.loads(slip.out)) == (0, {"off": ["kind:document.analyse"]})
    assert "this checkout has no kind:document.analyse" in slip.err
    assert "this checkout has no" not in known.err


def test_a_person_reads_what_is_off(table: str) -> None:
    """JSON is for whoever asks for it."""
    assert switch(table, "show").out == "off  none\n"
    assert switch(table, "off", "all").out == "off  all\n"


def test_open_breakers_are_shown_and_those_that_only_count_are_not(moto_aws: None) -> None:
    """To a program with the same facts as to a person."""
    tables, at = make_tables(dynamodb_at()), datetime(2026, 3, 1, 12, tzinfo=UTC)
    opened, counting = (
        Breaker(name="openai/gpt", token="t", streak=5, opened_at=at, probe_at=at + timedelta(seconds=30)),
        Breaker(name="openai/other", token="t", streak=2, failed_at=at),
    )
    with ThreadRunner(1) as threads:
        store = DynamoStore(dynamodb_at(), tables, threads, SystemClock(), SystemIds())
        assert asyncio.run(store.put_breaker(opened, None))
        assert asyncio.run(store.put_breaker(counting, None))

    told, said = switch(tables.accounts, "show", "--json"), switch(tables.accounts, "show")

    since, probe = "2026-03-01T12:00:00+00:00", "2026-03-01T12:00:30+00:00"
    assert json.loads(told.out)["open_breakers"] == [{"name": "openai/gpt", "opened_at": since, "probe_at": probe}]
    assert (said.out, said.err) == ("off  none\n", f"breaker open: openai/gpt since {since}, next probe {probe}\n")


@pytest.mark.parametrize(
    "arguments", [("off",), ("off", "openai"), ("on", "kind:"), ("show", "tenant:acme"), ("flip",)]
)
def test_slip_switches_nothing(table: str, arguments: tuple[str, ...]) -> None:
    """Exit code 2 and one reason; a name that nothing goes by is no switch."""
    ended = switch(table, *arguments)

    assert (ended.code, ended.out) == (2, "")
    assert dynamodb_at().scan(TableName=table)["Items"] == []
