"""The peers behind one door: ``do(key, factory)`` as each of them would be used for exactly this.

Caches are asked with a key of its own per question, so that what they keep afterwards does not help them.
"""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable, Hashable
from dataclasses import dataclass
from importlib.metadata import version

import aiocache
import aiocoalesce
import async_lru
import cachetools_async
import coalescer
import concurrent_coalesce
import oneflight
from cashews import Cache
from singleflight.asynchronous import SingleFlightAsync

from onceward.singleflight import SingleFlight

type Factory = Callable[[], Awaitable[object]]
type Do = Callable[[Hashable, Factory], Awaitable[object]]

LONGEST = 60.0  # seconds: longer than any question asked here


@dataclass(frozen=True, slots=True, kw_only=True)
class Peer:
    """One way to share a call; ``make`` needs a running loop and gives a fresh one."""

    name: str
    package: str | None
    make: Callable[[], Do]

    @property
    def label(self) -> str:
        """Name and installed version."""
        return self.name if self.package is None else f"{self.name} {version(self.package)}"


def _onceward() -> Do:
    return SingleFlight[Hashable, object](work_timeout=LONGEST, max_waiters=10_000).do


def _onceward_cancelling() -> Do:
    return SingleFlight[Hashable, object](work_timeout=LONGEST, max_waiters=10_000, cancel_when_empty=True).do


def _coalescer() -> Do:
    return coalescer.Coalescer().do


def _oneflight() -> Do:
    flights = oneflight.AsyncOneFlight()

    async def do(key: Hashable, factory: Factory) -> object:
        return (await flights.do(key, factory))[0]

    return do


def _aiocoalesce() -> Do:
    flights = aiocoalesce.Coalescer()
    return lambda key, factory: flights.run(key, factory())


def _concurrent_coalesce() -> Do:
    @concurrent_coalesce.coalesce(lambda key, _: key)
    async def do(_: Hashable, factory: Factory) -> object:
        return await factory()

    return do


def _singleflight() -> Do:
    flights = SingleFlightAsync()

    async def do(key: Hashable, factory: Factory) -> object:
        return await flights.call(factory, str(key))

    return do


def _async_lru() -> Do:
    @async_lru.alru_cache(maxsize=16, key=lambda key, _: key)
    async def do(_: Hashable, factory: Factory) -> object:
        return await factory()

    return do


def _cashews() -> Do:
    cache = Cache()
    cache.setup("mem://", size=16)

    @cache(ttl="1h", key="k:{key}", protected=True)
    async def do(key: Hashable, factory: Factory) -> object:  # noqa: ARG001 - the key is read by its name
        return await factory()

    return do


def _aiocache() -> Do:
    @aiocache.cached_stampede(lease=int(LONGEST), key_builder=lambda _, key, __: str(key))
    async def do(_: Hashable, factory: Factory) -> object:
        return await factory()

    return do


def _cachetools_async() -> Do:
    @cachetools_async.cached(cache={}, key=lambda key, _: key)
    async def do(_: Hashable, factory: Factory) -> object:
        return await factory()

    return do


def _shield() -> Do:
    """What one writes by hand in five lines."""
    tasks: dict[Hashable, asyncio.Task[object]] = {}

    async def do(key: Hashable, factory: Factory) -> object:
        if key not in tasks:
            tasks[key] = asyncio.ensure_future(factory())
            tasks[key].add_done_callback(lambda _: tasks.pop(key))
        return await asyncio.shield(tasks[key])

    return do


PEERS = (
    Peer(name="onceward", package=None, make=_onceward),
    Peer(name="onceward, cancel_when_empty", package=None, make=_onceward_cancelling),
    Peer(name="coalescer", package="coalescer", make=_coalescer),
    Peer(name="oneflight", package="oneflight", make=_oneflight),
    Peer(name="aiocoalesce", package="aiocoalesce", make=_aiocoalesce),
    Peer(name="concurrent-coalesce", package="concurrent-coalesce", make=_concurrent_coalesce),
    Peer(name="singleflight", package="singleflight", make=_singleflight),
    Peer(name="async-lru", package="async-lru", make=_async_lru),
    Peer(name="cashews", package="cashews", make=_cashews),
    Peer(name="aiocache", package="aiocache", make=_aiocache),
    Peer(name="cachetools-async", package="cachetools-async", make=_cachetools_async),
    Peer(name="dict and shield, by hand", package=None, make=_shield),
)
