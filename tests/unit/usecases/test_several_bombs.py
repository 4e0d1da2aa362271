"""Several document bombs in one batch beside good jobs, with real children: all end, and nothing is left running."""

from __future__ import annotations

import asyncio
from dataclasses import replace
from datetime import timedelta

import pytest

from onceward.adapters.system import SystemSpawn
from onceward.domain.deliveries import Acknowledge
from onceward.domain.names import JobId, identity_of
from onceward.domain.states import JobState
from onceward.handlers.batches import Record, handle_batch
from onceward.kinds.extract_document import text_of
from onceward.usecases.context import Context
from onceward.usecases.ports import ChildEnd
from onceward.wire.messages import wakeup_body
from tests.support.builders import TENANT, a_policy
from tests.support.documents.pdfs import bloated, plain
from tests.support.leftovers import running
from tests.support.worker_world import Ask, Said, WorkerWorld
from tests.unit.kinds.fake_context import pdf

BOMBS_MB = (300, 301, 302)  # unpacked, and each its own: equal bytes of one batch share a child, and would be one bomb
BOMB_CODES = {"unreadable", "no_text", "extraction_memory", "extraction_timeout"}  # whichever limit strikes first
BOMBS = {f"bomb-{megabytes}": bloated(megabytes) for megabytes in BOMBS_MB}
GOOD = {f"good-{number}": plain([f"Page of document {number}."]) for number in range(2)}
TEXTS = ("text-0", "text-1")
PATIENT = a_policy(timeout=timedelta(minutes=10))  # above what all children take one after the other, also when busy


async def read_and_ask(context: Context, given: Ask) -> Said:
    """Read the document of that name, if it is one, and only then ask."""
    (name,) = given.steps
    content = (BOMBS | GOOD).get(name)
    if content is not None:
        await text_of(context.children, pdf(content))
    return Said.model_validate_json((await context.model.generate("generate", [("user", name)])).text)


def job_of(number: int) -> JobId:
    """An id of the batch's."""
    return JobId("ABCDEFGHIJ"[number] * 26 + "-ABCDEFGH")


async def a_batch(names: list[str]) -> tuple[WorkerWorld, list[Record]]:
    """One job for each name, and their messages in one batch."""
    world, records = WorkerWorld(read_and_ask, policy=PATIENT), []
    for number, name in enumerate(names):
        await world.create(job_id=job_of(number), steps=[name])
        world.queue.put(wakeup_body(TENANT, job_of(number)))
        message = world.queue.receive()[-1]
        records.append(Record(message.message_id, message.receipt, message.body, 1))
    return world, records


class Watched(SystemSpawn):
    """Children of this machine, and an event for the first."""

    def __init__(self) -> None:
        """None yet."""
        self.asked = asyncio.Event()

    async def child(self, module: str, stdin: bytes, *, timeout: timedelta, memory_bytes: int) -> ChildEnd:
        """Start one; nothing is awaited between the event and its start."""
        self.asked.set()
        return await super().child(module, stdin, timeout=timeout, memory_bytes=memory_bytes)


def test_several_bombs_of_one_batch_harm_nobody() -> None:
    """Each bomb fails by its own limit and costs nothing; its neighbours, before and after it, all succeed."""
    bombs, documents = list(BOMBS), list(GOOD)
    names = [TEXTS[0], bombs[0], documents[0], bombs[1], bombs[2], documents[1], TEXTS[1]]

    async def run() -> WorkerWorld:
        world, records = await a_batch(names)
        outcomes = await handle_batch(replace(world.deps(), spawn=SystemSpawn()), records, 900)
        assert [(one.disposition, one.bug) for one in outcomes] == [(Acknowledge(), None)] * len(names)
        return world

    before = running()
    world = asyncio.run(run())

    assert running() == before
    rows = {name: world.store.rows[TENANT, identity_of(job_of(number))] for number, name in enumerate(names)}
    assert {name for name, row in rows.items() if row.state is JobState.FAILED} == set(bombs)
    assert {rows[name].error_code for name in bombs} <= BOMB_CODES
    assert {name for name, row in rows.items() if row.state is JobState.SUCCEEDED} == {*documents, *TEXTS}
    assert {row.attempts for row in rows.values()} == {1}
    assert len(world.provider.keys) == len(names) - len(bombs)


def test_batch_that_is_cut_off_among_its_bombs_leaves_no_child() -> None:
    """It is cancelled while one bomb's child works and the others wait for its slot: the child ends with it."""

    async def run() -> None:
        world, records = await a_batch([*BOMBS])
        spawn = Watched()
        batch = asyncio.ensure_future(handle_batch(replace(world.deps(), spawn=spawn), records, 900))
        await spawn.asked.wait()
        assert running().children > before.children
        batch.cancel()
        with pytest.raises(asyncio.CancelledError):
            await batch
        assert running().children == before.children

    before = running()
    asyncio.run(run())
    assert running() == before
