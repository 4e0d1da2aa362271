"""A model behind OpenAI's responses in background mode: it takes a request at once and answers later, by id."""

from __future__ import annotations

from datetime import timedelta
from urllib.parse import quote

import httpx

from onceward.domain.names import DownstreamKey
from onceward.domain.policy import Capability
from onceward.domain.recovery import PollReply
from onceward.domain.states import ProviderCancel
from onceward.providers.chat_errors import failure_of
from onceward.providers.http_model import HttpModel, HttpModelTarget, is_gone
from onceward.providers.responses_answer import read_response, reference_of
from onceward.providers.responses_request import body_of
from onceward.providers.time_left import TimeLeft
from onceward.usecases.ports import ModelReply, ModelRequest, Submitted

KEPT = timedelta(minutes=10)  # documented of background responses: their data are stored for about ten minutes
CAPABILITY = Capability(kept=KEPT)


class OpenAIResponses(HttpModel[HttpModelTarget]):
    """The ``Provider`` of one target. What a key of ours became cannot be asked: there is no list of responses."""

    async def generate(self, request: ModelRequest, key: DownstreamKey, timeout: timedelta) -> ModelReply | Submitted:
        """Submit once; a response that is finished already is its answer. Raises as ``Provider`` says."""
        body = body_of(request, self.model, key)
        reply = await self.request("POST", "responses", TimeLeft(self._clock, timeout), body)
        reference = reference_of(reply) if reply.status == httpx.codes.OK else None
        if reference is None:
            raise failure_of(reply, self._clock.now())
        read = read_response(reply, self.model)
        return Submitted(reference) if isinstance(read, PollReply) else read

    async def poll(self, reference: str, key: DownstreamKey, timeout: timedelta) -> ModelReply | PollReply:  # noqa: ARG002
        """What became of it; raises ``CallFailure`` for an end that is no result."""
        reply = await self.question("GET", self._place(reference), TimeLeft(self._clock, timeout))
        if reply is None:
            return PollReply.UNREACHABLE
        if reply.status == httpx.codes.OK and reference_of(reply) == reference:
            return read_response(reply, self.model)
        return PollReply.GONE if is_gone(reply) else PollReply.UNREACHABLE

    async def stop(self, reference: str, timeout: timedelta) -> ProviderCancel:
        """Cancel it; confirmed only by its own status."""
        place = self._place(reference)
        return await self.stop_at(place, timeout, lambda response: response.get("status") == "cancelled")

    async def forget(self, reference: str, timeout: timedelta) -> None:
        """Delete the response: what the model was asked, and what it said."""
        await self.delete(self._place(reference), TimeLeft(self._clock, timeout))

    def _place(self, reference: str) -> str:
        """Where it is kept."""
        return f"responses/{quote(reference, safe='')}"
