"""What the design promises, in numbers of the judge's own: a wrong constant in the code cannot justify itself here."""

from __future__ import annotations

from datetime import UTC, datetime, timedelta
from functools import lru_cache
from typing import Protocol

EPOCH = datetime(2026, 1, 1, tzinfo=UTC)  # any instant: what the wall clock says at virtual second 0
PRICE = 700  # micro-USD of one computation; any number that sums cannot hit by chance
MOST_ATTEMPTS = 3  # of the simulation's kinds, per epoch
LEASE_MARGIN = timedelta(seconds=8)  # the skew allowance and a tenth of a lease of 60 s
ORPHANED = timedelta(hours=1)  # past its end, a job that no code knows may be ended by any
SEND_WINDOW = timedelta(seconds=10)
CANARY = "canary-of-a-prompt"  # in every input, and so in every answer: never in a row, an entry, a message, an error


@lru_cache(512)  # asked some fifty times in a run, often for the same instant
def wall(seconds: float) -> datetime:
    """A virtual second as an instant of a clock without skew, cut to milliseconds."""
    return EPOCH + timedelta(milliseconds=int(seconds * 1000))


class Process(Protocol):
    """What the judge knows of a process: who it is, the tokens it made, what code it runs, how long it was held up."""

    @property
    def name(self) -> str:
        """Who it is."""
        ...

    @property
    def tokens(self) -> set[str]:
        """Those that it has made."""
        ...

    @property
    def held_up(self) -> float:
        """For how many seconds, between its last call and that call's effect."""
        ...

    @property
    def known_kinds(self) -> dict[str, int]:
        """The version of each kind that it knows."""
        ...


class Arrival(Protocol):
    """One request as the provider saw it; ``done_at`` is ``None`` if it computed nothing for it."""

    @property
    def number(self) -> int:
        """Which one."""
        ...

    @property
    def process(self) -> str:
        """Who sent it."""
        ...

    @property
    def key(self) -> str:
        """Under which downstream key."""
        ...

    @property
    def at(self) -> float:
        """When."""
        ...

    @property
    def timeout(self) -> float:
        """For how long its sender listens."""
        ...

    @property
    def done_at(self) -> float | None:
        """When its computation ends."""
        ...
