"""The real boto3 in the loop: the adapters for DynamoDB and SQS, with the SDK's own repeats, inside a simulated run.

Tables are moto's, in this process; the queues are the simulation's own, behind SQS's protocol. A request of the SDK is
a boundary; what strikes there strikes under the SDK, between its sends and their answers. moto ignores the token of a
transaction, so a repeated one is refused by its own effect where AWS would answer "done": the harder of the two.
"""

from __future__ import annotations

import json
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from datetime import datetime
from functools import partial
from types import SimpleNamespace
from typing import Any, cast

import boto3
import botocore.endpoint
from moto import mock_aws
from moto.core.models import DEFAULT_ACCOUNT_ID, botocore_stubber
from moto.dynamodb.models import dynamodb_backends

from onceward.adapters.dynamodb.account_codec import from_account, from_entry
from onceward.adapters.dynamodb.client import CONFIG
from onceward.adapters.dynamodb.cold_codec import from_cold
from onceward.adapters.dynamodb.row_codec import from_row
from onceward.adapters.dynamodb.store import DynamoStore
from onceward.adapters.sqs import CONFIG as SQS_CONFIG
from onceward.adapters.sqs import SqsQueue
from onceward.domain.ledger import Account, Entry
from onceward.domain.names import TenantId
from onceward.handlers.models import NO_KEY
from onceward.local.environment import REGION
from onceward.usecases.ports import DueRow, Ids, Queue, Store
from tests.simulation.events import SimQueue
from tests.simulation.ports import SimClock
from tests.simulation.process import Crossing, Process
from tests.simulation.scheduler import VirtualLoop
from tests.simulation.tables import Seen, SimStore
from tests.simulation.wire import DEAD_URL, JOBS_URL, SECRET, Wire
from tests.support.emulators import make_tables

READS = ("get_item", "query", "scan")


class SimThreads:
    """Runs the SDK's blocking calls at once, on the virtual loop: each is a boundary of its process."""

    def __init__(self, process: Process, wire: Wire, told: Callable[[str], None]) -> None:
        """``told`` hears of each call that has ended, however it did."""
        self._process = process
        self._wire = wire
        self._told = told

    async def call[Result](self, blocking: Callable[..., Result], /, **arguments: object) -> Result:
        """One request."""
        name = getattr(blocking, "__name__", "request")

        async def effect() -> Result:
            try:
                return self._wire.struck(crossing.struck_by, lambda: blocking(**arguments))
            finally:
                self._told(name)

        crossing = Crossing[Result](f"sdk.{name}", effect, _never, 0.0)
        return await self._process.cross(crossing)


class AtOnce:
    """Runs what the scenario itself does to the tables: no boundary."""

    async def call[Result](self, blocking: Callable[..., Result], /, **arguments: object) -> Result:
        """Now."""
        return blocking(**arguments)


class OncePerPass:
    """The adapter, but for pages of the due index with nothing on them: of those of a pass, one stands for all."""

    def __init__(self, view: SimStore, process: Process, store: DynamoStore) -> None:
        self._view = view
        self._process = process
        self._store = store

    def __getattr__(self, name: str) -> Any:
        """All else is the adapter's."""
        return getattr(self._store, name)

    async def due_page(self, shard: str, until: datetime, limit: int) -> tuple[DueRow, ...]:
        """A real query where there is something to find, and once where there is not."""
        is_empty = await SimStore.due_page(self._view, shard, until, limit) == ()
        if is_empty and self._process.has_read_nothing:
            return ()
        self._process.has_read_nothing = self._process.has_read_nothing or is_empty
        return await self._store.due_page(shard, until, limit)


class OneOfEach(boto3.Session):
    """One client of each service for all processes of a run: to make one takes as long as the rest of the run."""

    def __init__(self, **options: Any) -> None:
        """``made``: the present run's."""
        super().__init__(**options)
        self.made: dict[str, Any] = {}

    def client(self, service_name: str, **options: Any) -> Any:  # type: ignore[override]  # which service is all it asks
        """The run's client."""
        if service_name not in self.made:
            of_any: Any = super().client  # as above; its type lists all services, to compare with which takes a second
            self.made[service_name] = of_any(service_name, **options)
        return self.made[service_name]


class SdkTables(SimStore):
    """Tables behind the real SDK, and what is in them as the judge reads it."""

    def __init__(self, loop: VirtualLoop, session: OneOfEach, wire: Wire) -> None:
        """New tables, and clients of this run's own: a client remembers how often it has repeated lately.

        ``wire``: what every client of the session sends through; ``names``: the tables'.
        """
        super().__init__(loop)
        session.made.clear()
        self._wire = wire
        self._client = session.client("dynamodb", config=CONFIG)
        self.names = make_tables(self._client)
        self._sqs = session.client("sqs", config=SQS_CONFIG)
        self._known: dict[str, tuple[str, Any]] = {}

    def seen_by(self, process: Process, ids: Ids, seen: Seen) -> Store | None:
        """The adapter as the handlers wire it."""
        threads = SimThreads(process, self._wire, partial(self._told, process, seen))
        store = DynamoStore(self._client, self.names, threads, SimClock(process), ids)
        return cast("Store", OncePerPass(self, process, store))

    def threads_of(self, process: Process, queue: SimQueue, seen: Seen) -> SimThreads:
        """Where a process makes all its requests, to whatever service."""
        self._wire.queue = queue
        return SimThreads(process, self._wire, partial(self._told, process, seen))

    def queue_seen_by(self, process: Process, queue: SimQueue, seen: Seen) -> Queue | None:
        """The adapter as the handlers wire it."""
        self._wire.queue = queue
        threads = SimThreads(process, self._wire, lambda _: seen(process, "queue.sdk"))
        return SqsQueue(self._sqs, threads, jobs_url=JOBS_URL, dead_letters_url=DEAD_URL)

    async def grant(self, tenant_id: TenantId, micro_usd: int, entry: Entry) -> Account:
        """As an operator would, before the story begins."""
        process = Process(self.index.loop, "operator", None)  # type: ignore[arg-type]  # crosses nothing
        clock = SimClock(process)
        store = DynamoStore(self._client, self.names, AtOnce(), clock, None)  # type: ignore[arg-type]  # never waits
        account = await store.grant(tenant_id, micro_usd, entry)
        self._read_all()
        return account

    def _told(self, process: Process, seen: Seen, name: str) -> None:
        """Hear of a request that has ended."""
        if name not in READS:
            self._read_all()
        seen(process, "store.sdk")

    def _read_all(self) -> None:
        """Bring the judge's view up to date; what is unchanged stays the same object."""
        self.rows.clear()
        self.items.clear()
        for item in _all_of(self.names.jobs):
            thing = self._decoded(item, from_row if item["sk"]["S"] == "job" else from_cold)
            if item["sk"]["S"] == "job":
                self.rows[thing.tenant_id, thing.identity] = thing
                self.shards[thing.tenant_id, thing.identity] = item.get("due_shard", {}).get("S", "")
            else:
                self.items.setdefault((thing.tenant_id, thing.job_id), {})[thing.sort_key] = thing
        for item in _all_of(self.names.accounts):
            kind, _, owner = item["pk"]["S"].partition("#")
            if kind == "account" and item["sk"]["S"] == "account":
                self.accounts[TenantId(owner)] = from_account(TenantId(owner), item)
            elif kind == "account":
                entry = from_entry(TenantId(owner), item)
                self.entries[entry.tenant_id, entry.name] = entry

    def _decoded(self, item: Mapping[str, Any], decode: Callable[[Any], Any]) -> Any:
        place, raw = f"{item['pk']['S']} {item['sk']['S']}", json.dumps(item, sort_keys=True, default=repr)
        if self._known.get(place, ("", None))[0] != raw:
            self._known[place] = raw, decode(item)
        return self._known[place][1]


def _all_of(table: str) -> Iterator[dict[str, Any]]:
    """All items, past the wire: the judge reads after every write, and a scan takes ten times as long."""
    items = dynamodb_backends[DEFAULT_ACCOUNT_ID][REGION].tables[table].items
    for partition in items.values():
        for item in partition.values():
            yield item.to_json()["Attributes"]


@contextmanager
def real_sdk() -> Iterator[Callable[[VirtualLoop], SimStore]]:
    """Tables for ``play(..., tables=...)``; the SDK's waits between its sends take no time."""
    waits, botocore.endpoint.time = botocore.endpoint.time, SimpleNamespace(sleep=lambda _: None)  # type: ignore[attr-defined]
    try:
        with mock_aws():
            session, wire = (
                OneOfEach(aws_access_key_id="test", aws_secret_access_key="test", region_name=REGION),
                Wire(),
            )
            boto3.DEFAULT_SESSION = session
            session.client("secretsmanager").create_secret(Name=SECRET, SecretString=NO_KEY)
            session.events.unregister("before-send", cast("Any", botocore_stubber))  # or it would answer once more
            session.events.register("before-send", cast("Any", wire))
            yield lambda loop: SdkTables(loop, session, wire)
    finally:
        boto3.DEFAULT_SESSION = None
        botocore.endpoint.time = waits  # type: ignore[attr-defined]


def _never(_: object) -> Any:
    raise AssertionError("what strikes here strikes under the SDK")
