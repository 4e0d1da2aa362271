"""Which dead letters a command is about, and what would become of each: read and told before anything is moved."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from datetime import datetime, timedelta
from typing import TYPE_CHECKING

import typer

from onceward.cli.desk import Desk
from onceward.domain.job import Job
from onceward.domain.ledger import Account
from onceward.domain.letters import Fate, Foretold, foretell
from onceward.domain.names import JobId, TenantId, identity_of
from onceward.usecases.ports import Store
from onceward.wire.messages import DeadLetterBody, WakeupBody, parse_message

if TYPE_CHECKING:
    from onceward.adapters.dead_letters import Letter

_AGE = re.compile(r"(\d{1,6})(s|min|h|d)")
_UNITS = {"s": 1, "min": 60, "h": 3_600, "d": 86_400}
NOT_HANDLED = "not_handled"  # the reason of a wake-up that SQS itself moved


@dataclass(frozen=True, slots=True, kw_only=True)
class Selection:
    """What a letter must be; ``None``: anything. Ages are those of the letters."""

    job_id: str | None = None
    reason: str | None = None
    kind: str | None = None
    tenant: str | None = None
    older_than: timedelta | None = None
    younger_than: timedelta | None = None

    def has(self, planned: Planned, now: datetime) -> bool:
        """Whether a letter is one of them; one that names no job is only among all."""
        age = now - planned.letter.sent_at
        kind = None if planned.job is None else planned.job.kind
        pairs = (
            (self.job_id, planned.job_id),
            (self.reason, planned.reason),
            (self.kind, kind),
            (self.tenant, planned.tenant),
        )
        is_named = all(wanted is None or wanted == found for wanted, found in pairs)
        is_old = self.older_than is None or age >= self.older_than
        return is_named and is_old and (self.younger_than is None or age < self.younger_than)


@dataclass(frozen=True, slots=True, kw_only=True)
class Planned:
    """A letter, its job as the row says, and what would become of it."""

    letter: Letter
    told: Foretold
    job: Job | None = None
    job_id: str | None = None
    tenant: str | None = None
    epoch: int | None = None
    reason: str | None = None


def age_of(text: str | None) -> timedelta | None:
    """An age as it is typed; raises ``typer.BadParameter``."""
    if text is None:
        return None
    found = _AGE.fullmatch(text)
    if found is None:
        raise typer.BadParameter("an age is a number and s, min, h or d, as 90s, 30min, 12h or 7d")
    return timedelta(seconds=int(found[1]) * _UNITS[found[2]])


def plan(found: Desk, letters: Sequence[Letter], selection: Selection) -> list[Planned]:
    """The selected letters, the oldest first, each with its fate."""
    planned = found.ask(_plan(found.ports.store, letters, found.ports.clock.now))
    now = found.ports.clock.now()
    return sorted((one for one in planned if selection.has(one, now)), key=lambda one: one.letter.sent_at)


def counts(planned: Iterable[Planned], fate: Fate) -> dict[str, int]:
    """How many of a fate there are, by why."""
    return dict(sorted(Counter(one.told.why for one in planned if one.told.fate is fate).items()))


async def _plan(store: Store, letters: Sequence[Letter], now: Callable[[], datetime]) -> list[Planned]:
    """Read the row behind each letter; accounts are read once."""
    accounts: dict[str, Account | None] = {}
    planned: list[Planned] = []
    for letter in letters:
        match parse_message(letter.body):
            case DeadLetterBody(tenant_id=tenant, job_id=job_id, epoch=epoch, reason=reason):
                known: tuple[str, str, int | None, str] = (tenant, job_id, epoch, reason)
            case WakeupBody(tenant_id=tenant, job_id=job_id):
                known = (tenant, job_id, None, NOT_HANDLED)
            case _:
                planned.append(Planned(letter=letter, told=Foretold(Fate.UNREADABLE, "unreadable")))
                continue
        owner, name, number, why = known
        job = await store.get_job(TenantId(owner), identity_of(JobId(name)))
        if owner not in accounts:
            accounts[owner] = await store.get_account(TenantId(owner))
        told = foretell(job, name, number, accounts[owner], now())
        planned.append(Planned(letter=letter, told=told, job=job, job_id=name, tenant=owner, epoch=number, reason=why))
    return planned
