"""Lists: newest first, complete, true to the rows, and bounded in what one answer reads."""

from __future__ import annotations

import asyncio
from dataclasses import replace
from datetime import timedelta
from typing import Any

import pytest

from onceward.domain.job import Job
from onceward.domain.names import Identity, JobId, TenantId
from onceward.domain.states import JobState
from onceward.errors import StoreUnavailable
from onceward.usecases.list_jobs import MOST_LOOKED_AT, Listing, Wanted, list_jobs
from tests.support.api_world import ApiWorld
from tests.support.builders import NOW, TENANT, a_job, seconds


def a_world(count: int, **last: Any) -> ApiWorld:
    """So many jobs, one a second; the oldest may differ."""
    world = ApiWorld()
    for number in range(count):
        world.keep(numbered(number, **(last if number == 0 else {})))
    return world


def numbered(number: int, **fields: Any) -> Job:
    """The job that was created that many seconds ago."""
    letters = "".join("ABCDEFGHIJ"[int(digit)] for digit in f"{number:026d}")
    return a_job(job_id=JobId(f"{letters}-AAAAAAAA"), created_at=NOW + seconds(number), **fields)


def page(world: ApiWorld, **wanted: Any) -> Listing:
    """One page."""
    return asyncio.run(list_jobs(world.store, world.clock, tenant_id=TENANT, wanted=Wanted(**wanted)))


def walk(world: ApiWorld, **wanted: Any) -> list[Job]:
    """All pages."""
    found: list[Job] = []
    start: str | None = None
    while True:
        listing = page(world, **wanted, start=start)
        found += listing.jobs
        start = listing.next_start
        if start is None:
            return found


def test_pages_join_to_the_whole_list_newest_first() -> None:
    """No job twice, none left out, whatever the page's size."""
    world = a_world(7)
    for limit in (1, 2, 3, 7, 100):
        assert [job.job_id for job in walk(world, limit=limit)] == [numbered(one).job_id for one in range(6, -1, -1)]


def test_a_filter_finds_the_one_job_behind_many() -> None:
    """By state and by kind; pages before it may be empty and still lead on."""
    world = a_world(MOST_LOOKED_AT + 30, state=JobState.FAILED, kind="document.analyze")

    first = page(world, state=JobState.FAILED, limit=50)
    assert first.jobs == ()
    assert first.next_start is not None
    assert walk(world, state=JobState.FAILED, limit=50) == walk(world, kind="document.analyze", limit=50)
    assert len(walk(world, state=JobState.FAILED, kind="document.analyze")) == 1
    assert not walk(world, state=JobState.FAILED, kind="text.generate")


class Damaged:
    """A store in which some rows cannot be read, each for its reason."""

    def __init__(self, world: ApiWorld, reasons: dict[str, Exception]) -> None:
        self._store = world.store
        self._reasons = reasons

    def __getattr__(self, name: str) -> Any:
        return getattr(self._store, name)

    async def get_job(self, tenant_id: TenantId, identity: Identity) -> Job | None:
        """Refuse for some."""
        if identity in self._reasons:
            raise self._reasons[identity]
        return await self._store.get_job(tenant_id, identity)


def test_a_row_that_nobody_can_read_hides_no_other() -> None:
    """It is left out and counted; pages go on behind it."""
    world = a_world(5)
    bad = numbered(2).identity
    world.wrap_store = lambda _: Damaged(world, {bad: ValueError("a value that is none of ours")})

    listing = asyncio.run(list_jobs(world.intake.store, world.clock, tenant_id=TENANT, wanted=Wanted(limit=10)))

    assert [job.job_id for job in listing.jobs] == [numbered(one).job_id for one in (4, 3, 1, 0)]
    assert (listing.unreadable, listing.next_start) == (1, None)


def test_a_store_that_does_not_answer_is_no_unreadable_row() -> None:
    """Then the list would be short for everybody: it fails, and the client asks again."""
    world = a_world(3)
    world.wrap_store = lambda _: Damaged(world, {numbered(1).identity: StoreUnavailable("no answer")})

    with pytest.raises(StoreUnavailable):
        asyncio.run(list_jobs(world.intake.store, world.clock, tenant_id=TENANT, wanted=Wanted()))


def test_what_the_index_still_names_is_checked_on_the_row() -> None:
    """An expired row, and an older life of a key that has a new one, are not listed."""
    world = a_world(3)
    world.keep(numbered(1, expires_at=NOW))
    store = world.store

    class Behind:
        """An index that has not heard of the second life yet."""

        def __getattr__(self, name: str) -> Any:
            return getattr(store, name)

        async def get_job(self, tenant_id: TenantId, identity: Any) -> Job | None:
            """The row as it is now: another life."""
            row = await store.get_job(tenant_id, identity)
            is_second = row is not None and row.job_id == numbered(2).job_id
            return replace(row, job_id=JobId(f"{row.job_id[:26]}-ZZZZZZZZ")) if is_second and row else row

    listing = asyncio.run(list_jobs(Behind(), world.clock, tenant_id=TENANT, wanted=Wanted()))

    assert [job.job_id for job in listing.jobs] == [numbered(0).job_id]


def test_another_tenants_jobs_are_not_there() -> None:
    """A list is of one tenant."""
    world = a_world(2)
    world.keep(numbered(9, tenant_id=TenantId("globex")))
    world.clock.move(timedelta(seconds=1))

    assert len(walk(world)) == 2
