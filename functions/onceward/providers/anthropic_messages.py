"""A model behind Anthropic's messages API: Anthropic itself, a gateway, the local stand-in."""

from __future__ import annotations

from dataclasses import dataclass
from datetime import timedelta

import httpx

from onceward.domain.names import DownstreamKey
from onceward.providers.at_once import AnswersAtOnce
from onceward.providers.http_model import HttpModel, HttpModelTarget
from onceward.providers.messages_answer import read_answer
from onceward.providers.messages_errors import failure_of
from onceward.providers.messages_request import body_of
from onceward.providers.time_left import TimeLeft
from onceward.usecases.ports import ModelReply, ModelRequest

VERSION = "2023-06-01"  # of the API's wire format; the only one there is


@dataclass(frozen=True, slots=True, kw_only=True)
class MessagesTarget(HttpModelTarget):
    """Where the model is and which one; ``base_url`` ends before ``/messages``. Anthropic promises no repeats."""

    name: str = "anthropic"


def headers_of(secret: str) -> dict[str, str]:
    """The API's version, and the key if there is one."""
    return {"anthropic-version": VERSION, **({"x-api-key": secret} if secret else {})}


class AnthropicMessages(AnswersAtOnce, HttpModel[MessagesTarget]):
    """The ``Provider`` of one target. An answer that was lost on its way is stored nowhere: no lookup finds it."""

    def headers(self, secret: str) -> dict[str, str]:
        """The API's version, and the key if there is one."""
        return headers_of(secret)

    async def generate(self, request: ModelRequest, key: DownstreamKey, timeout: timedelta) -> ModelReply:
        """Ask once; ``key`` is for gateways that dedupe by it. Raises ``CallFailure`` and ``SecretUnavailable``."""
        body = body_of(request, self.model)
        reply = await self.request("POST", "messages", TimeLeft(self._clock, timeout), body, key)
        if reply.status == httpx.codes.OK:
            return read_answer(reply, self.model, self._clock.now())
        raise failure_of(reply, self._clock.now())
