"""The circuit breakers as one process knows them: asked before a call is journaled, told when a call has ended.

Closed breakers of healthy targets cost one small read every few seconds and no write. Whoever cannot read one does not
send; whoever cannot tell one what happened goes on, since the call's own end is worth more than a count.
"""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable
from dataclasses import dataclass
from datetime import datetime
from enum import StrEnum

from onceward.domain.breaking import (
    KNOWN_FOR,
    Breaker,
    BreakerRule,
    Sign,
    after_call,
    may_try,
    sign_of,
    take_probe,
)
from onceward.domain.sending import Guard
from onceward.errors import CallFailure, InfrastructureError, StopRun
from onceward.usecases.ports import Clock, Ids, Store

TRIES = 4  # each lost race means that another worker has just counted the same brown-out


class Turn(StrEnum):
    """What happened to a breaker in this process."""

    OPENED = "opened"
    PROBED = "probed"
    CLOSED = "closed"
    STOPPED = "stopped"


@dataclass(frozen=True, slots=True)
class Told:
    """One turn of one breaker, for log and metrics."""

    turn: Turn
    name: str


class Breakers:
    """All breakers that this process asks; belongs to an environment's one loop."""

    def __init__(self, store: Store, clock: Clock, ids: Ids, rule: BreakerRule) -> None:
        """Nothing has been read yet."""
        self._store = store
        self._clock = clock
        self._ids = ids
        self._rule = rule
        self._lock = asyncio.Lock()
        self._known: dict[str, Breaker | None] = {}
        self._read_at: dict[str, tuple[datetime, float]] = {}
        self._told: list[Told] = []

    def drain(self) -> list[Told]:
        """What happened since the last time this was asked."""
        told, self._told = self._told, []
        return told

    async def may_try(self, name: str) -> bool:
        """Whether a send may be attempted, without taking a probe's place."""
        async with self._lock:
            return may_try(await self._seen(name), self._clock.now())

    async def admit(self, name: str) -> None:
        """Let one send through: at once while it is closed, as a probe when that one's time has come.

        Raises ``StopRun`` while it is open, and ``InfrastructureError`` if nobody knows.
        """
        async with self._lock:
            seen = await self._seen(name)
            if seen is None or not seen.is_open:
                return
            if may_try(seen, self._clock.now()) and await self._probe(name):
                return
        self._told.append(Told(Turn.STOPPED, name))
        raise StopRun("the target's circuit breaker is open", code=Guard.STOP_BREAKER_OPEN)

    async def heard(self, name: str, sign: Sign, sent_at: datetime) -> None:
        """Take the end of a call into account."""
        try:
            async with self._lock:
                await self._count(name, sign, sent_at)
        except InfrastructureError:
            return

    async def _seen(self, name: str) -> Breaker | None:
        """The breaker, read again if what is known is too old by either clock."""
        if not self._is_known(name):
            await self._read(name)
        return self._known.get(name)

    async def _read(self, name: str) -> Breaker | None:
        """The breaker as it is now."""
        asked_at = (self._clock.now(), self._clock.monotonic())
        self._known[name] = await self._store.get_breaker(name)
        self._read_at[name] = asked_at
        return self._known[name]

    async def _probe(self, name: str) -> bool:
        """Take the next probe's place, if nobody else has: of all workers that are awake now, one."""
        seen = await self._read(name)
        now = self._clock.now()
        if seen is None or not seen.is_open:
            return True
        if not may_try(seen, now):
            return False
        after = take_probe(seen, self._rule, self._ids.token(), now)
        if not await self._written(after, seen):
            return False
        self._told.append(Told(Turn.PROBED, name))
        return True

    async def _count(self, name: str, sign: Sign, sent_at: datetime) -> None:
        """Write what follows from a call's end; a lost race is decided anew from the state that won."""
        for _ in range(TRIES):
            seen = self._known.get(name)
            present = seen or Breaker(name=name, token="")
            now = self._clock.now()
            after = after_call(present, sign, self._rule, token=self._ids.token(), sent_at=sent_at, now=now)
            if after is None:
                return
            if await self._written(after, seen):
                self._tell(present, after)
                return

    async def _written(self, after: Breaker, seen: Breaker | None) -> bool:
        """One conditional write; a refused one may have been our own, applied and repeated (the own-token rule)."""
        if not await self._store.put_breaker(after, None if seen is None else seen.token):
            now = await self._read(after.name)
            return now is not None and now.token == after.token
        self._known[after.name] = after
        return True

    def _tell(self, before: Breaker, after: Breaker) -> None:
        """Note an opening, a second one in a row too, and a closing."""
        if after.is_open and after.opened_at != before.opened_at:
            self._told.append(Told(Turn.OPENED, after.name))
        if before.is_open and not after.is_open:
            self._told.append(Told(Turn.CLOSED, after.name))

    def _is_known(self, name: str) -> bool:
        """Whether the last reading is young on both clocks: one may stand still while a process is frozen."""
        if name not in self._read_at:
            return False
        read_at, monotonic = self._read_at[name]
        passed = self._clock.monotonic() - monotonic
        return abs(self._clock.now() - read_at) < KNOWN_FOR and passed < KNOWN_FOR.total_seconds()


async def watched[Reply](
    breakers: Breakers | None, name: str | None, sent_at: datetime, call: Awaitable[Reply]
) -> Reply:
    """A call whose end its target's breaker hears of, once everything else has been done with it."""
    if breakers is None or name is None:
        return await call
    try:
        reply = await call
    except CallFailure as failure:
        await breakers.heard(name, sign_of(failure.error_class, was_sent=failure.was_sent), sent_at)
        raise
    await breakers.heard(name, Sign.WELL, sent_at)
    return reply
