"""The store in memory is an honest model: random conversations get the same answers from it and from the emulators.

Where an emulator is known to differ from AWS, the difference is a line of data with AWS's own word on it, and only
that kind of question is left out for that emulator. Everything that is not listed must agree, answer for answer, and
the tables at the end as a whole.
"""

from __future__ import annotations

import asyncio
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

import pytest
from moto import mock_aws

from onceward.adapters.dynamodb.store import DynamoStore
from onceward.adapters.memory.store import MemoryStore
from onceward.adapters.system import SystemClock, SystemIds, ThreadRunner
from onceward.local.cloud import LocalCloud
from onceward.usecases.ports import Store
from tests.contract.differential import Asked, Speaker, answer, final_tables
from tests.support.emulators import dynamodb_at, make_tables

SEEDS = range(1, 9)
LENGTH = 60
MORE_SEEDS = range(100, 160)


@dataclass(frozen=True, slots=True)
class Divergence:
    """Something that an emulator answers otherwise than AWS documents."""

    emulator: str
    kind: str
    what: str
    aws: str


KNOWN_DIVERGENCES = (
    Divergence(
        emulator="moto",
        kind="repeated token",
        what="ClientRequestToken is ignored: a repeated transaction is evaluated again",
        aws="TransactWriteItems: 'Providing a ClientRequestToken makes the call idempotent, meaning that multiple "
        "identical calls have the same effect as one single call.'",
    ),
    Divergence(
        emulator="moto",
        kind="tenant page",
        what="a page that its limit ends exactly with the last item has no LastEvaluatedKey",
        aws="Query: 'If LastEvaluatedKey is not empty, it does not necessarily mean that there is more data in the "
        "result set'; a query that stops at its Limit returns 'a key in LastEvaluatedKey to apply in a subsequent "
        "operation'",
    ),
)


@pytest.fixture
def moto_store() -> Iterator[Store]:
    """New tables in moto."""
    with mock_aws(), ThreadRunner(1) as threads:
        client = dynamodb_at()
        yield DynamoStore(client, make_tables(client), threads, SystemClock(), SystemIds())


@pytest.fixture
def ministack_store(ministack: LocalCloud) -> Iterator[Store]:
    """New tables in ministack."""
    client = dynamodb_at(ministack.endpoint_url)
    with ThreadRunner(1) as threads:
        yield DynamoStore(client, make_tables(client), threads, SystemClock(), SystemIds())


async def talk(store: Store, asked: list[Asked]) -> tuple[list[Any], dict[str, Any]]:
    """Ask everything, then read everything."""
    return [await answer(store, one) for one in asked], await final_tables(store)


def compare(other: Store, emulator: str, seed: int) -> None:
    """One conversation with memory and with another store."""
    left_out = {one.kind for one in KNOWN_DIVERGENCES if one.emulator == emulator}
    asked = [one for one in Speaker(seed).conversation(LENGTH) if one.kind not in left_out]
    ours, our_tables = asyncio.run(talk(MemoryStore(), asked))
    theirs, their_tables = asyncio.run(talk(other, asked))
    for number, (one, mine, yours) in enumerate(zip(asked, ours, theirs, strict=True)):
        assert yours == mine, f"seed {seed}, question {number}: {one.words}"
    assert their_tables == our_tables


@pytest.mark.parametrize("seed", SEEDS)
def test_memory_and_moto_agree(seed: int, moto_store: Store) -> None:
    """Every answer and the final tables."""
    compare(moto_store, "moto", seed)


@pytest.mark.parametrize("seed", SEEDS)
def test_memory_and_ministack_agree(seed: int, ministack_store: Store) -> None:
    """Every answer and the final tables, repeated tokens included."""
    compare(ministack_store, "ministack", seed)


@pytest.mark.thorough
@pytest.mark.parametrize("seed", MORE_SEEDS)
def test_memory_and_moto_agree_at_length(seed: int, moto_store: Store) -> None:
    """More of the same."""
    compare(moto_store, "moto", seed)


@pytest.mark.parametrize("known", KNOWN_DIVERGENCES, ids=lambda known: f"{known.emulator}: {known.kind}")
def test_a_known_divergence_is_still_there(known: Divergence, moto_store: Store) -> None:
    """A line that is no longer true has to go: some conversation must still be answered otherwise."""
    assert known.emulator == "moto"
    for seed in SEEDS:
        asked = Speaker(seed).conversation(LENGTH)
        if known.kind in {one.kind for one in asked}:
            ours, _ = asyncio.run(talk(MemoryStore(), asked))
            theirs, _ = asyncio.run(talk(moto_store, asked))
            assert ours != theirs
            return
    pytest.fail("no conversation asks it")
