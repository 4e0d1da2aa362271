"""List a tenant's jobs, newest first, by state and kind.

The index knows ids only and may be a moment behind; every job is read from its row, so that what is listed is true. A
filter is applied after that, a bounded number of rows at a time: a page may be short, or even empty, and still have a
next one. A row that nobody can read (newer code's, or a mistake of ours) is left out and counted: it must not hide the
tenant's other jobs.
"""

from __future__ import annotations

import asyncio
from dataclasses import dataclass

from onceward.domain.job import Job
from onceward.domain.names import JobId, TenantId, identity_of
from onceward.domain.states import JobState
from onceward.errors import InfrastructureError
from onceward.usecases.ports import Clock, Store

MOST_LOOKED_AT = 200  # rows read for one answer: a rare state must not hold a request for seconds


@dataclass(frozen=True, slots=True, kw_only=True)
class Wanted:
    """Which jobs, how many, and from where on; ``None``: any, or from the newest."""

    state: JobState | None = None
    kind: str | None = None
    limit: int = 20
    start: str | None = None

    def has(self, job: Job) -> bool:
        """Whether a job is one of them."""
        return (self.state is None or job.state is self.state) and (self.kind is None or job.kind == self.kind)


@dataclass(frozen=True, slots=True)
class Listing:
    """One page, and where the next one starts; ``None``: this was the last. ``unreadable``: rows that were left out."""

    jobs: tuple[Job, ...]
    next_start: str | None
    unreadable: int = 0


async def list_jobs(store: Store, clock: Clock, *, tenant_id: TenantId, wanted: Wanted) -> Listing:
    """At most ``limit`` jobs of the tenant; raises ``InvalidInput`` for a ``start`` that no list gave out."""
    found: list[Job] = []
    start = wanted.start
    looked_at = unreadable = 0
    while True:
        # Never more than still fit: a page then ends where the index's page ended, and its cursor skips nothing.
        page = await store.tenant_page(tenant_id, start, wanted.limit - len(found))
        rows = await _read(store, clock, tenant_id, page.job_ids)
        found += [row for row in rows if row is not None and wanted.has(row)]
        unreadable += rows.count(None)
        start = page.next_key
        looked_at += len(page.job_ids)
        if start is None or len(found) >= wanted.limit or looked_at >= MOST_LOOKED_AT:
            return Listing(tuple(found), start, unreadable)


async def _read(store: Store, clock: Clock, tenant_id: TenantId, job_ids: tuple[JobId, ...]) -> list[Job | None]:
    """The rows of these jobs that still are these jobs; ``None`` for each that cannot be read."""
    asked = (store.get_job(tenant_id, identity_of(job_id)) for job_id in job_ids)
    ends = await asyncio.gather(*asked, return_exceptions=True)
    now = clock.now()
    rows: list[Job | None] = []
    for end, job_id in zip(ends, job_ids, strict=True):
        match end:
            case Job() if end.job_id == job_id and end.expires_at > now:
                rows.append(end)
            case InfrastructureError():
                raise end
            case Exception():
                rows.append(None)
            case BaseException():
                raise end
            case _:
                pass
    return rows
