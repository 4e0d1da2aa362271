"""A model provider that answers later: it takes a request at once, works on, and is asked by reference."""

from __future__ import annotations

import asyncio
from datetime import timedelta

from onceward.domain.names import DownstreamKey
from onceward.domain.policy import Capability
from onceward.domain.recovery import LookupReply, PollReply
from onceward.domain.retry import ErrorClass
from onceward.domain.states import ProviderCancel
from onceward.errors import CallFailure
from onceward.usecases.ports import ModelReply, ModelRequest, Submitted
from tests.simulation.model import ModelLine, Script

LATER = Capability(kept=timedelta(minutes=10))
LISTED = Capability(kept=timedelta(days=7), lookup_lag=timedelta(seconds=5))


class LaterLine(ModelLine):
    """The ``Provider`` port of one process; what a request comes to is scripted as for answers at once.

    ``queue``: seconds for which finished work is not handed out yet.
    """

    queue = 0.0

    async def generate(self, request: ModelRequest, key: DownstreamKey, timeout: timedelta) -> ModelReply | Submitted:  # type: ignore[override]
        """Take the request, refuse it, or take it and lose the connection before the reference is heard."""
        service = self._service
        script, arrival = service.arrive(self._process, key, request.messages[0][1], timeout.total_seconds())
        await asyncio.sleep(0.5)
        match script:
            case Script.BUSY:
                raise CallFailure("429", code="http_429", error_class=ErrorClass.RATE_LIMITED, was_sent=True)
            case Script.REJECTED:
                raise CallFailure("400", code="http_400", error_class=ErrorClass.PERMANENT, was_sent=True)
            case Script.RESET:
                raise CallFailure("reset", code="reset", error_class=ErrorClass.OUTCOME_UNKNOWN, was_sent=True)
            case _:
                return Submitted(f"work-{arrival.number}")

    async def poll(self, reference: str, key: DownstreamKey, timeout: timedelta) -> ModelReply | PollReply:
        """What became of it; noted, so that the judge knows how a process came by an answer that it did not ask for."""
        service, number = self._service, int(reference.removeprefix("work-"))
        arrival = service.log[number]
        assert arrival.key == key, "a reference is asked for under the key that it was given to"
        service.lookups.append((self._process, key, service.loop.time(), True))
        if number in service.forgotten:
            return PollReply.GONE
        is_ready = service.loop.time() >= service.ready_at(arrival) + self.queue
        return service.reply(arrival) if is_ready else PollReply.PENDING

    async def stop(self, reference: str, timeout: timedelta) -> ProviderCancel:
        """It says that it stops; what it has cost, it has cost."""
        return ProviderCancel.CONFIRMED

    async def forget(self, reference: str, timeout: timedelta) -> None:
        """It keeps nothing under that reference any more, whoever has still to ask."""
        self._service.forgotten.add(int(reference.removeprefix("work-")))


class BatchLine(LaterLine):
    """It lists what it has taken, under way or ended, by the key that it carries; what is forgotten is not listed."""

    async def lookup(self, key: DownstreamKey, timeout: timedelta) -> LookupReply | Submitted:
        """The last work under a key."""
        service = self._service
        known = (one for one in reversed(service.log) if one.key == key and one.done_at is not None)
        found = next((one for one in known if one.number not in service.forgotten), None)
        return LookupReply.NOT_FOUND if found is None else Submitted(f"work-{found.number}")


class ForgetfulBatchLine(BatchLine):
    """Somebody deletes what is done before it is read: its reference is gone then, and so is its place in the list."""

    async def poll(self, reference: str, key: DownstreamKey, timeout: timedelta) -> ModelReply | PollReply:
        """Pending, then gone."""
        reply = await super().poll(reference, key, timeout)
        if reply is not PollReply.PENDING:
            await self.forget(reference, timeout)
            return PollReply.GONE
        return reply


class ForgetfulLine(LaterLine):
    """It keeps nothing under a reference once the work is done."""

    async def poll(self, reference: str, key: DownstreamKey, timeout: timedelta) -> ModelReply | PollReply:
        """Pending, then gone."""
        reply = await super().poll(reference, key, timeout)
        return reply if reply is PollReply.PENDING else PollReply.GONE
