"""Answers of models that a store or an API may spoil: from the model server's socket, through a job, to the GET."""

from __future__ import annotations

import asyncio
import json
from collections.abc import Iterator
from dataclasses import replace

import pytest
from pydantic import BaseModel, ConfigDict

from onceward.adapters.dynamodb.store import DynamoStore
from onceward.adapters.system import ThreadRunner
from onceward.domain.names import JobId
from onceward.kinds.asking import ask_for
from onceward.local.model import STAND_IN_MODEL
from onceward.providers.http import make_client
from onceward.providers.openai_chat import ChatTarget, OpenAIChat
from onceward.usecases.context import Context
from onceward.usecases.ports import Store
from onceward.usecases.run_job import Delivery, run_job
from tests.support.api_world import ApiWorld, CountingIds, Reply, an_event, ask, claims_of
from tests.support.builders import JOB_ID, TENANT
from tests.support.emulators import dynamodb_at, make_tables
from tests.support.model_server import ModelServer
from tests.support.worker_world import Ask, WorkerWorld

OBJECT = '{"summary":"ok","score":5,"items":[]}'
WANTED = {"summary": "ok", "score": 5, "items": []}


class Score(BaseModel):
    """The shape of the cases; further fields are kept."""

    model_config = ConfigDict(extra="allow")

    summary: str
    score: int
    items: list[str]


async def rate(context: Context, given: Ask) -> Score:
    """Ask once; the answer is the result."""
    return await ask_for(context, "rate", [("user", "How was it?")], Score)


class RatingWorld(WorkerWorld):
    """A job of a kind whose output is ``Score``."""

    def __init__(self) -> None:
        """The registry of ``WorkerWorld`` with that output."""
        super().__init__(rate)
        self.registry = type(self.registry)()
        self.registry.kind(policy=self.policy, input_model=Ask, output_model=Score)(rate)


@pytest.fixture(scope="module")
def server() -> Iterator[ModelServer]:
    """One server for this file."""
    with ModelServer() as running:
        yield running


@pytest.fixture(params=["memory", "dynamodb"])
def world(request: pytest.FixtureRequest) -> Iterator[RatingWorld]:
    """A job's world over either store."""
    made = RatingWorld()
    if request.param == "memory":
        yield made
        return
    request.getfixturevalue("moto_aws")
    client = dynamodb_at()
    with ThreadRunner(1) as threads:
        made.store = DynamoStore(client, make_tables(client), threads, made.clock, CountingIds())  # type: ignore[assignment]
        yield made


async def no_key() -> str:
    """The model server asks for none."""
    return ""


async def work(world: RatingWorld, server: ModelServer) -> None:
    """Create the job and deliver it once, with the model server as its provider."""
    await world.create()
    world.queue.put("{}")
    receipt, ends = world.queue.receive()[-1].receipt, world.clock.monotonic() + 900
    delivery = Delivery(tenant_id=TENANT, job_id=JOB_ID, receipt=receipt, receive_count=1, invocation_ends=ends)
    async with make_client() as client:
        target = ChatTarget(base_url=server.base_url, model=STAND_IN_MODEL)
        provider = OpenAIChat(client, target, no_key, world.clock)
        await run_job(replace(world.deps(), provider=provider), delivery, may_take_over=True)


def read(store: Store, job_id: JobId) -> Reply:
    """The job as its tenant reads it."""
    api = ApiWorld(wrap_store=lambda _: store).api()
    return ask(api, an_event("GET", f"/api/ai/jobs/{job_id}", claims=claims_of(TENANT)))


@pytest.mark.parametrize(
    ("content", "more", "spelt"),
    [
        pytest.param(
            OBJECT.replace("ok", "drink \\ud83c\\udf78"), {"summary": "drink \U0001f378"}, "\U0001f378", id="LJ-20"
        ),
        pytest.param(OBJECT.replace("ok", "a\u2028b"), {"summary": "a\u2028b"}, "\u2028", id="LJ-23"),
        pytest.param(
            OBJECT[:-1] + ',"price":30.40,"third":0.3333333333333333}',
            {"price": 30.4, "third": 0.3333333333333333},
            "0.3333333333333333",
            id="LJ-27",
        ),
    ],
)
def test_an_answer_comes_back_from_store_and_api_as_it_was(
    world: RatingWorld, server: ModelServer, content: str, more: dict[str, object], spelt: str
) -> None:
    """One character stays one, a separator stays in its string, a number stays a number; one call."""
    server.reset()
    server.behave(content=content)
    asyncio.run(work(world, server))
    reply = read(world.store, JOB_ID)

    assert (reply.status, reply.json["status"], reply.json["result"]) == (200, "succeeded", {**WANTED, **more})
    assert spelt in reply.text or json.dumps(spelt).strip('"') in reply.text  # as itself or escaped: JSON allows both
    assert server.counts()["requests"] == 1
