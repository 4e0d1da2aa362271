"""Measure one account: ``PYTHONPATH=functions:. python -m bench.accounts`` prints the table of ``results.md``.

Each job is a create and, some seconds later, a settle: two transactions on its tenant's account. Jobs come at random
(Poisson). A write that is refused seven times is a ``StoreBusy``: a 503 for a create, one more delivery for a settle.
"""

from __future__ import annotations

import asyncio
import random
from dataclasses import dataclass, field
from datetime import timedelta
from typing import Any

from bench.accounts.hot_item import DrawnIds, HotTables, LoopClock, NoThreads
from onceward.adapters.dynamodb.store import DynamoStore
from onceward.adapters.dynamodb.table import Tables
from onceward.domain.ledger import AccountChange, capture, reserve
from onceward.domain.names import TenantId
from onceward.domain.transaction import ChangeAccount
from onceward.errors import StoreBusy
from tests.simulation.scheduler import VirtualLoop, simulate

SECONDS = 60.0
SETTLE_AFTER = 3.0  # seconds; any number: what counts is how many writes come in a second
LATENCY = timedelta(milliseconds=6)
RATES = (1, 2, 5, 10, 20, 40, 80)  # jobs in a second
HOLDS = (timedelta(milliseconds=5), timedelta(milliseconds=10))
HEADER = (
    "| held | jobs/s | spread over | writes | requests per write | conflicts per write | refused for good | p50 | p99 |"
)


@dataclass
class Figures:
    """What a run came to."""

    waits: list[float] = field(default_factory=list)
    busy: int = 0


def measure(rate: float, hold: timedelta, accounts: int = 1, *, has_jitter: bool = True) -> str:
    """One row of the table."""
    tables, figures = HotTables(hold, LATENCY), Figures()

    async def main(loop: VirtualLoop) -> None:
        ids: Any = DrawnIds(7, has_jitter=has_jitter)
        client: Any = tables
        store = DynamoStore(client, Tables(jobs="jobs", accounts="accounts"), NoThreads(), LoopClock(), ids)
        draw = random.Random(11)

        async def move(change: AccountChange) -> None:
            began = loop.time()
            try:
                await store.transact([ChangeAccount(change)], ids.token())
            except StoreBusy:
                figures.busy += 1
            figures.waits.append(loop.time() - began)

        async def job(tenant: TenantId) -> None:
            await move(reserve(tenant, 1))
            await asyncio.sleep(SETTLE_AFTER)
            await move(capture(tenant, 1, 1))

        jobs = []
        while loop.time() < SECONDS:
            tenant = TenantId(f"tenant-{draw.randrange(accounts)}")
            jobs.append(loop.create_task(job(tenant)))
            await asyncio.sleep(draw.expovariate(rate))
        await asyncio.gather(*jobs)

    simulate(main, 1)
    spread = f"{accounts}" + ("" if has_jitter else ", no jitter")
    return _row(tables, figures, (f"{hold.total_seconds() * 1000:.0f} ms", f"{rate}", spread))


def _row(tables: HotTables, figures: Figures, what: tuple[str, ...]) -> str:
    """A run's row: counts, and ratios by the number of writes."""
    waits, writes = sorted(figures.waits), len(figures.waits)
    cells = (
        *what,
        f"{writes}",
        f"{tables.requests / writes:.2f}",
        f"{tables.conflicts / writes:.2f}",
        f"{figures.busy / writes:.2%}",
        f"{waits[writes // 2] * 1000:.0f} ms",
        f"{waits[writes * 99 // 100] * 1000:.0f} ms",
    )
    return f"| {' | '.join(cells)} |"


def main() -> None:
    """Print the table."""
    print(HEADER)
    print("|" + "---|" * (HEADER.count("|") - 1))
    for hold in HOLDS:
        for rate in RATES:
            print(measure(rate, hold), flush=True)
        print(measure(RATES[-2], hold, has_jitter=False), flush=True)
        print(measure(RATES[-1], hold, accounts=8), flush=True)


if __name__ == "__main__":
    main()
