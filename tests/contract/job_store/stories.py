"""What the store's promises are told with: jobs beside each other, a short way to ask, and a way to look."""

from __future__ import annotations

import asyncio
import itertools
from collections.abc import Coroutine
from dataclasses import replace
from typing import Any

from onceward.domain.change import RowChange
from onceward.domain.conditions import KindLimit
from onceward.domain.job import Job
from onceward.domain.ledger import Account, Entry, Verb
from onceward.domain.names import CreateToken, JobId, TenantId, job_id_of
from onceward.domain.transaction import Applied, CreateRow, Op, Refused, WriteReply
from onceward.usecases.ports import Store
from tests.support.builders import IDENTITY, KIND, NOW, TENANT, a_job

LIMITS = (KindLimit(KIND, 1, 3),)
OTHER_TENANT = TenantId("globex")

_tokens = itertools.count(1)


def ask[Reply](question: Coroutine[Any, Any, Reply]) -> Reply:
    """Ask a port, on a loop that ends with the answer: nothing of the question may be left running."""
    return asyncio.run(question)


def a_token() -> str:
    """A transaction's token, used for the first time."""
    return f"transaction-{next(_tokens)}"


def a_numbered_job(number: int, **fields: Any) -> Job:
    """A job with an identity of its own."""
    letters = "".join(chr(ord("A") + int(digit)) for digit in f"{number:06d}")
    job_id = JobId(f"{letters}{IDENTITY[6:]}-ABCDEFGH")
    return a_job(**{"job_id": job_id, **fields})


def another_life(job: Job, token: str, **fields: Any) -> Job:
    """A job under the same key, with another create token and so another id."""
    born = CreateToken(token * 26)
    return replace(job, create_token=born, job_id=job_id_of(job.identity, born), **fields)


def store_job(store: Store, job: Job) -> Job:
    """Put a row there, in any state, and return it as the store has it."""
    assert ask(store.transact([CreateRow(job, NOW)], a_token())) == Applied()
    return present(store, job)


def present(store: Store, job: Job) -> Job:
    """The row that is there now."""
    row = ask(store.get_job(job.tenant_id, job.identity))
    assert row is not None
    return row


def update(store: Store, job: Job, change: RowChange) -> WriteReply:
    """Change a job's row."""
    return ask(store.update_job(job.tenant_id, job.job_id, change))


def transact(store: Store, *ops: Op, token: str | None = None) -> WriteReply:
    """Write all of it, under a new token unless one is given."""
    return ask(store.transact(ops, token or a_token()))


def refused(reply: WriteReply) -> Refused:
    """The refusal that a write must have met."""
    assert isinstance(reply, Refused)
    return reply


def a_grant(number: int = 1, amount: int = 10_000, tenant_id: TenantId = TENANT) -> Entry:
    """The line of a book that stands for one grant."""
    job_id = JobId(f"grant-{number}")
    return Entry(tenant_id=tenant_id, job_id=job_id, epoch=1, verb=Verb.GRANT, micro_usd=amount, at=NOW)


def fund(store: Store, amount: int, number: int = 1) -> Account:
    """Open an account with so much in it, or add to it."""
    return ask(store.grant(TENANT, amount, a_grant(number, amount)))


def an_account(*, available: int, reserved: int = 0, captured: int = 0, in_flight: int = 0) -> Account:
    """An account whose parts add up."""
    parts = {"available": available, "reserved": reserved, "captured": captured}
    return Account(tenant_id=TENANT, granted=sum(parts.values()), **parts, in_flight=in_flight)
