"""Verify a tenant's books against its jobs, on a deployment that goes on working.

Entries are only ever added, and every move of an account adds one in its own transaction. So if the entries are the
same before and after everything else was read, nothing of the books moved in between and what was read is one state.
If they moved it is read again; a tenant that never rests is told so, which is no finding.
"""

from __future__ import annotations

import asyncio
from collections.abc import Iterable

from onceward.domain.auditing import Audit, Books, audit
from onceward.domain.job import Job
from onceward.domain.ledger import Entry, Verb
from onceward.domain.names import JobId, TenantId, identity_of
from onceward.errors import StoreBusy
from onceward.usecases.at_once import at_once
from onceward.usecases.ports import Clock, Store

TRIES = 5
PAGE = 100
AT_ONCE = 25  # rows read at once: an operator's laptop, beside a running system


async def verify_account(store: Store, clock: Clock, tenant_id: TenantId) -> Audit:
    """Read everything and compare; raises ``StoreBusy`` if the books moved during every try."""
    for _ in range(TRIES):
        entries = await store.list_entries(tenant_id, "")
        account = await store.get_account(tenant_id)
        jobs = await _jobs(store, tenant_id, entries)
        if await store.list_entries(tenant_id, "") == entries and await store.get_account(tenant_id) == account:
            return audit(Books(account=account, entries=entries, jobs=jobs), clock.now())
    raise StoreBusy("the tenant's books moved during every try; ask again when less is going on")


async def _jobs(store: Store, tenant_id: TenantId, entries: Iterable[Entry]) -> dict[JobId, Job]:
    """Every row of the tenant: those that its list knows, and those that its entries name (the list may lag)."""
    wanted = {entry.job_id for entry in entries if entry.verb is not Verb.GRANT}
    start: str | None = None
    while True:
        page = await store.tenant_page(tenant_id, start, PAGE)
        wanted |= set(page.job_ids)
        start = page.next_key
        if start is None:
            break
    slots = asyncio.Semaphore(AT_ONCE)

    async def read(job_id: JobId) -> Job | None:
        async with slots:
            return await store.get_job(tenant_id, identity_of(job_id))

    found = await at_once(*(read(job_id) for job_id in sorted(wanted)))
    # A row may be a later life of its key; the one that was asked for is gone then.
    return {job.job_id: job for job in found if job is not None and job.job_id in wanted}
