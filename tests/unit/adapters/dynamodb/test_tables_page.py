"""The page about the tables names the keys, attributes and indexes that the code writes, and no others."""

from __future__ import annotations

import inspect
import re
from collections.abc import Mapping
from datetime import UTC, datetime, timedelta
from pathlib import Path

from onceward.adapters.dynamodb.cold_codec import SHAPES
from onceward.adapters.dynamodb.keys import (
    DUE_INDEX,
    TENANT_INDEX,
    account_key,
    breaker_key,
    client_key,
    cold_key,
    created_key,
    entry_key,
    flight_key,
    open_flights_key,
    row_key,
    switches_key,
    tally_key,
)
from onceward.adapters.dynamodb.parts_codec import OPEN_CALL
from onceward.adapters.dynamodb.row_codec import COLUMNS
from onceward.adapters.dynamodb.shapes import Column
from onceward.adapters.dynamodb.values import Item
from onceward.domain.action_records import ActionWord, RunEntry, Seen, SeenAttempt, Word, run_place
from onceward.domain.job import PresentAttempt
from onceward.domain.ledger import Entry, Verb
from onceward.domain.money import Cost
from onceward.domain.names import CoalesceKey, DownstreamKey, JobId, StepKey, TenantId, identity_of
from onceward.domain.records import (
    Answer,
    ColdItem,
    Input,
    Participant,
    PastAttempt,
    ProviderReference,
    Result,
    ReviewRecord,
    Standing,
)
from onceward.domain.states import CallState, JobState, Resolution
from onceward.domain.tally import Counted, Limit, tally_at
from onceward.handlers import tenant_token

PAGE = (Path(__file__).parents[4] / "docs" / "tables.md").read_text(encoding="utf-8")
NOW = datetime(2026, 3, 1, tzinfo=UTC)
TENANT, JOB, STEP = TenantId("acme"), JobId("A" * 26 + "-" + "B" * 8), StepKey("analyze/1")
EPOCH, ATTEMPT = 2, 3
SEEN, RUN = "T" * 26, run_place("run-1")
TALLY = tally_at(Limit(Counted.CREATES, 1, timedelta(minutes=1)), TENANT, NOW)
VALUES = {
    "tenant_id": TENANT,
    "name": "openai:m",
    "identity": identity_of(JOB),
    "job_id": JOB,
    "epoch": EPOCH,
    "attempt": ATTEMPT,
    "step": STEP,
    "verb": Verb.CAPTURE,
    "counted": TALLY.counted,
    "begins_at": TALLY.begins_at,
    "flight": JOB,
    "participant": JOB,
    "key": CoalesceKey("K" * 52),
    "at": NOW,
    "token": "TTTTTTTT",
    "word": Word.RESET,
    "run": RUN,
}


def rows_of(header: str) -> list[list[str]]:
    """The cells of a table, without their code marks."""
    _, found, rest = PAGE.partition(f"{header}\n")
    assert found, header
    lines = rest.split("\n\n")[0].splitlines()[1:]
    return [[cell.strip().strip("`") for cell in line.strip("|").split("|")] for line in lines]


def a_reference() -> ProviderReference:
    """What lies beside the answer that is still to come."""
    return ProviderReference(
        tenant_id=TENANT,
        job_id=JOB,
        step=STEP,
        epoch=EPOCH,
        attempt=ATTEMPT,
        key=DownstreamKey("k"),
        provider="p",
        reference="r",
        submitted_at=NOW,
    )


def cold_items() -> Mapping[str, ColdItem]:
    """One of each class that lies beside a row."""
    items: tuple[ColdItem, ...] = (
        Input(tenant_id=TENANT, job_id=JOB, body=None),
        Answer(
            tenant_id=TENANT,
            job_id=JOB,
            step=STEP,
            epoch=EPOCH,
            attempt=ATTEMPT,
            key=DownstreamKey("k"),
            state=CallState.SUCCEEDED,
            answered_at=NOW,
            cost=Cost.nothing(),
            provider="p",
        ),
        a_reference(),
        Result(tenant_id=TENANT, job_id=JOB, epoch=EPOCH, attempt=ATTEMPT, body=None),
        Participant(tenant_id=TENANT, job_id=JOB, participant=JOB, joined_at=NOW),
        PastAttempt(tenant_id=TENANT, job_id=JOB, epoch=EPOCH, number=ATTEMPT, attempt=PresentAttempt(started_at=NOW)),
        ReviewRecord(
            tenant_id=TENANT,
            job_id=JOB,
            epoch=EPOCH,
            resolution=Resolution.FAIL,
            by="b",
            at=NOW,
            why="w",
            before=Standing(state=JobState.NEEDS_REVIEW, epoch=EPOCH, seq=1, attempts=1, spent=Cost.nothing()),
            after=Standing(state=JobState.FAILED, epoch=EPOCH, seq=2, attempts=1, spent=Cost.nothing()),
        ),
        SeenAttempt(tenant_id=TENANT, job_id=JOB, at=NOW, token=SEEN, came_to=Seen.CREATED, by="b"),
        ActionWord(
            tenant_id=TENANT, job_id=JOB, epoch=EPOCH, word=Word.RESET, by="b", at=NOW, why="w", fingerprint="f"
        ),
        RunEntry(tenant_id=TENANT, job_id=RUN, operation=JOB, created_at=NOW),
    )
    names = {shape.whole: name for name, shape in SHAPES.items()}
    return {names[type(item)]: item for item in items}


def keys_of_the_code() -> Mapping[str, Item]:
    """The key of each item that the adapters write."""
    entry = Entry(tenant_id=TENANT, job_id=JOB, epoch=EPOCH, verb=Verb.CAPTURE, micro_usd=1, at=NOW)
    cold = {name: cold_key(TENANT, item.job_id, item.sort_key) for name, item in cold_items().items()}
    return {
        "job row": row_key(TENANT, identity_of(JOB)),
        **cold,
        "account": account_key(TENANT),
        "entry": entry_key(TENANT, entry.name),
        "tally": tally_key(TALLY),
        "switches": switches_key(),
        "breaker": breaker_key("openai:m"),
        "flight": flight_key(TENANT, CoalesceKey("K" * 52)),
        "open flights": open_flights_key(TENANT),
    }


def test_every_item_has_its_line_with_its_key() -> None:
    """The shapes of the page, filled in, are the keys that the code makes; no class of item is forgotten."""
    told = {
        name: {"pk": {"S": pk.format_map(VALUES)}, "sk": {"S": sk.format_map(VALUES)}}
        for name, _, pk, sk in rows_of("| item | table | `pk` | `sk` |")
        if name != "client"
    }

    assert set(cold_items()) == set(SHAPES)
    assert told == keys_of_the_code()


def test_a_client_s_line_is_what_the_token_trigger_reads() -> None:
    """The one item that an operator writes by hand."""
    (client,) = [row for row in rows_of("| item | table | `pk` | `sk` |") if row[0] == "client"]

    assert client[1:] == ["accounts", "client#{client_id}", "client"]
    assert client_key("{client_id}") == {"pk": {"S": client[2]}, "sk": {"S": client[3]}}
    assert "Key=client_key(client_id)" in inspect.getsource(tenant_token)


def test_every_attribute_of_a_row_has_its_line() -> None:
    """Field and stored name, in the codec's order."""
    assert _told("| field | stored as | meaning |") == _stored(COLUMNS)


def test_every_attribute_of_an_open_call_has_its_line() -> None:
    """The part of a row that recovery reads."""
    assert _told("| field of an open call | stored as | meaning |") == _stored(OPEN_CALL.columns)


def test_both_indexes_have_their_line() -> None:
    """Their names, and the attributes that are their keys."""
    told = {row[0]: (row[1], row[2]) for row in rows_of("| index | partition key | sort key | for |")}

    assert told == {DUE_INDEX: ("due_shard", "due"), TENANT_INDEX: ("tenant_id", "created_key")}
    assert re.fullmatch(r"[0-9]{13}-B{8}", created_key(NOW, JOB))


def _told(header: str) -> list[tuple[str, str]]:
    return [(row[0], row[1]) for row in rows_of(header)]


def _stored(columns: Mapping[str, Column]) -> list[tuple[str, str]]:
    return [(field, column.name) for field, column in columns.items()]
