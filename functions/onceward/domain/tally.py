"""How often a tenant may do a thing in a stretch of time, and the tally that counts it.

Windows are fixed and the same for everybody: they begin at whole multiples since 1970, so a minute is a minute of the
clock and a day a day in UTC. A tally is one number of its own item; it is counted up only while it is below its limit,
in the write itself, so that two requests cannot share the last place. A write whose answer was lost and that the SDK
repeats counts twice: the limit may be reached early, never passed.
"""

from __future__ import annotations

from dataclasses import dataclass
from datetime import UTC, datetime, timedelta
from enum import StrEnum

from onceward.domain.names import TenantId

_BEGINNING = datetime(1970, 1, 1, tzinfo=UTC)
KEPT = timedelta(days=1)  # beyond its window, for whoever wants to look


class Counted(StrEnum):
    """What is counted."""

    CREATES = "creates"
    DOCUMENTS = "documents"
    ACTIONS = "actions"


@dataclass(frozen=True, slots=True)
class Limit:
    """At most so many in each window; ``of`` tells apart what is counted by name."""

    counted: Counted
    most: int
    window: timedelta
    of: str | None = None


@dataclass(frozen=True, slots=True)
class Limits:
    """The stage's limits for each tenant; ``None``: none, and then nothing is counted either."""

    creates: Limit | None = None
    documents: Limit | None = None

    @classmethod
    def of(cls, *, creates_per_minute: int, documents_per_day: int) -> Limits:
        """As the stage says it: 0 means that there is no limit."""
        minute, day = timedelta(minutes=1), timedelta(days=1)
        return cls(
            creates=Limit(Counted.CREATES, creates_per_minute, minute) if creates_per_minute else None,
            documents=Limit(Counted.DOCUMENTS, documents_per_day, day) if documents_per_day else None,
        )


@dataclass(frozen=True, slots=True, kw_only=True)
class Tally:
    """The count of one thing in one window of one tenant."""

    tenant_id: TenantId
    counted: Counted
    begins_at: datetime
    ends_at: datetime
    most: int
    of: str | None = None

    @property
    def expires_at(self) -> datetime:
        """When TTL may have it: a while after its window."""
        return self.ends_at + KEPT

    @property
    def name(self) -> str:
        """Which tally of the tenant: what is counted, and in which window."""
        what = self.counted if self.of is None else f"{self.counted}:{self.of}"
        return f"{what}#{self.begins_at:%Y-%m-%dT%H:%MZ}"


def tally_at(limit: Limit, tenant_id: TenantId, now: datetime) -> Tally:
    """The tally in which something that happens ``now`` counts."""
    begins_at = now - (now - _BEGINNING) % limit.window
    return Tally(
        tenant_id=tenant_id,
        counted=limit.counted,
        begins_at=begins_at,
        ends_at=begins_at + limit.window,
        most=limit.most,
        of=limit.of,
    )
