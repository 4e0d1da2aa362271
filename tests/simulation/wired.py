"""The deployed wiring in the loop: settings, adapters and provider as the functions build them, over simulated wires.

Beside what ``sdk.py`` has (tables behind boto3 on moto, queues behind SQS's protocol), the model is asked by its real
adapter, over HTTP: a transport of the client's hands each request to the simulated service. Only what belongs to a
process is the simulation's: clock, identities, threads, children.
"""

from __future__ import annotations

import asyncio
import json
from dataclasses import replace
from functools import cached_property, partial
from typing import Any, Self

import httpx

from onceward.adapters.dynamodb.table import Tables
from onceward.domain.names import DownstreamKey
from onceward.domain.timing import Timing
from onceward.handlers.settings import OwnPrice, SweeperSettings, WorkerSettings
from onceward.handlers.wiring import Wiring
from onceward.handlers.worlds import SweeperWorld, WorkerWorld
from onceward.usecases.deps import Deps
from onceward.usecases.ports import ModelReply
from onceward.usecases.submit_job import Intake
from onceward.usecases.sweep import Sweeper
from tests.simulation.catalogue import story_of
from tests.simulation.checks.promised import PRICE
from tests.simulation.faults import Fault
from tests.simulation.model import USAGE, Arrival, ModelService, Script
from tests.simulation.ports import CHILDREN, SimClock, SimIds, SimSpawn
from tests.simulation.process import Crossing, Process
from tests.simulation.scenario import FREEZE_SECONDS, MAX_RECEIVE_COUNT, TIMING
from tests.simulation.sdk import SdkTables, SimThreads
from tests.simulation.wire import DEAD_URL, JOBS_URL, SECRET
from tests.simulation.world import World
from tests.support.api_world import SETTINGS

MODEL, MODEL_URL = "sim-1", "https://model.example/v1"
TOO_FAST, DOWN, REJECTED = 429, 503, 400
MILLION = 1_000_000
OWN_PRICE = OwnPrice(input=3 * MILLION, cached=3 * MILLION, output=8 * MILLION)  # of a usage that is PRICE together
assert (OWN_PRICE.input * USAGE.input + OWN_PRICE.output * USAGE.output) // MILLION == PRICE


STORIES = tuple(map(story_of, ("http-same-key", "http-cancel", "http-review")))


class SimWiring(Wiring):
    """An execution environment's parts, but for those that are of its process."""

    lent: Process
    world: WiredWorld

    @classmethod
    def of(cls, made: Wiring, process: Process, world: WiredWorld) -> Self:
        """``made`` by its settings, for one process."""
        assert isinstance(made, cls)
        made.lent, made.world = process, world
        made.clock = SimClock(process)  # type: ignore[assignment]  # the same port
        made.ids = SimIds(process, str(world.seed))  # type: ignore[assignment]  # the same port
        made.spawn = SimSpawn(process, CHILDREN)  # type: ignore[assignment]  # the same port
        made.threads = world.threads_of(process)  # type: ignore[assignment]  # the same port
        return made

    @cached_property
    def http(self) -> httpx.AsyncClient:
        """The client over the simulated network."""
        return httpx.AsyncClient(transport=ModelSide(self.lent, self.world.model))


class WiredWorld(World):
    """A deployment whose functions are wired by their own code."""

    def intake(self, process: Process) -> Intake:
        """What the API's function builds."""
        tables = self._tables_behind()
        settings = SETTINGS.model_copy(
            update={
                "jobs_table": tables.jobs,
                "accounts_table": tables.accounts,
                "flights_table": tables.flights,
                "jobs_queue_url": JOBS_URL,
            }
        )
        return SimWiring.of(SimWiring.of_api(settings, self._registry), process, self).intake

    def deps(self, process: Process) -> Deps:
        """What the worker's function builds."""
        settings = worker_settings(self._tables_behind(), TIMING)
        wiring = SimWiring.of(SimWiring.of_worker(settings, self._workers_registry(process)), process, self)
        return WorkerWorld(settings, wiring).deps

    def sweeper(self, process: Process) -> Sweeper:
        """What the sweeper's function builds; of the shards without a row, one stands for all."""
        settings = SweeperSettings(
            stage="test",
            jobs_table=self._tables_behind().jobs,
            jobs_queue_url=JOBS_URL,
            dead_letters_queue_url=DEAD_URL,
            skew_allowance_seconds=TIMING.skew_allowance.total_seconds(),
        )
        made = SweeperWorld(settings, SimWiring.of(SimWiring.of_sweeper(settings), process, self)).sweeper
        return replace(made, shards=super().sweeper(process).shards)

    def threads_of(self, process: Process) -> SimThreads:
        """Where a process's requests of the SDK are made."""
        assert isinstance(self.store, SdkTables)
        return self.store.threads_of(process, self.queue, self._tell)

    def _tables_behind(self) -> Tables:
        assert isinstance(self.store, SdkTables)
        return self.store.names


class ModelSide(httpx.AsyncBaseTransport):
    """The network between one process and the model: each request is a boundary."""

    def __init__(self, process: Process, service: ModelService) -> None:
        """``service`` computes to the end, whoever listens."""
        self._process = process
        self._service = service

    async def handle_async_request(self, request: httpx.Request) -> httpx.Response:
        """One request, and what the network does to it."""
        effect = partial(self._ask, request)
        return await self._process.cross(Crossing("provider.generate", effect, partial(_fail, request), FREEZE_SECONDS))

    async def _ask(self, request: httpx.Request) -> httpx.Response:
        """What the service does and says; the connection breaks half-way where its script says so."""
        service, patience = self._service, request.extensions["timeout"]["read"]
        asked = json.loads(request.content)
        key = DownstreamKey(request.headers["idempotency-key"])
        script, arrival = service.arrive(self._process.name, key, asked["messages"][0]["content"], patience)
        match script:
            case Script.BUSY:
                return _refusal(TOO_FAST)
            case Script.DOWN:
                return _refusal(DOWN)
            case Script.REJECTED:
                return _refusal(REJECTED)
            case Script.RESET:
                await asyncio.sleep(service.seconds / 2)
                raise httpx.ReadError("the connection broke", request=request)
            case Script.ANSWER:
                return await self._answered(arrival)

    async def _answered(self, arrival: Arrival) -> httpx.Response:
        """The answer, when it is there: the client itself gives up in time."""
        await asyncio.sleep(max(self._service.ready_at(arrival) - self._service.loop.time(), 0.0))
        reply = self._service.reply(arrival)
        assert isinstance(reply, ModelReply)
        message = {"role": "assistant", "content": reply.text}
        body = {
            "id": reply.request_id,
            "model": MODEL,
            "choices": [{"index": 0, "message": message, "finish_reason": "stop"}],
            "usage": {"prompt_tokens": USAGE.input, "completion_tokens": USAGE.output},
        }
        return _response(200, body)


def worker_settings(tables: Tables, timing: Timing) -> WorkerSettings:
    """The worker's variables."""
    return WorkerSettings(
        stage="test",
        jobs_table=tables.jobs,
        accounts_table=tables.accounts,
        flights_table=tables.flights,
        bucket="bucket",
        jobs_queue_url=JOBS_URL,
        dead_letters_queue_url=DEAD_URL,
        max_receive_count=MAX_RECEIVE_COUNT,
        lease_seconds=timing.lease.total_seconds(),
        heartbeat_seconds=timing.heartbeat.total_seconds(),
        skew_allowance_seconds=timing.skew_allowance.total_seconds(),
        due_grace_seconds=timing.due_grace.total_seconds(),
        send_window_seconds=timing.send_window.total_seconds(),
        settle_seconds=timing.settle_budget.total_seconds(),
        infrastructure_backoff_seconds=timing.infrastructure_backoff.total_seconds(),
        infrastructure_backoff_max_seconds=timing.infrastructure_backoff_max.total_seconds(),
        calls_per_provider=4,
        breaker_failures=0,
        breaker_pause_seconds=30.0,
        model_api="openai",
        model_url=MODEL_URL,
        model_name=MODEL,
        model_secret_id=SECRET,
        model_capability="none",
        model_prices=json.dumps({MODEL: OWN_PRICE.model_dump()}),  # type: ignore[arg-type]  # as the variable is
        lookup_lag_seconds=5.0,
        participants_per_flight=100,
        flights_per_tenant=100,
        targets_are_local=False,
    )


def _refusal(status: int) -> httpx.Response:
    """An answered refusal: nothing was computed."""
    return _response(status, {"error": {"message": "simulated", "type": "simulated"}})


def _response(status: int, body: object) -> httpx.Response:
    """An answer that is still to be read."""
    headers = {"content-type": "application/json"}
    return httpx.Response(status, headers=headers, stream=httpx.ByteStream(json.dumps(body).encode()))


def _fail(request: httpx.Request, fault: Fault) -> Any:
    """What the client is told of a request that came to nothing, or whose answer was not heard."""
    if fault is Fault.THROTTLE:
        return _refusal(TOO_FAST)
    if fault is Fault.LOST_ANSWER:
        raise httpx.ReadTimeout("planned", request=request)
    raise httpx.ConnectError("planned", request=request)
