"""A model behind OpenAI-compatible chat completions: OpenAI, a gateway, a server of your own, the local stand-in."""

from __future__ import annotations

import json
from dataclasses import dataclass, replace
from datetime import timedelta
from urllib.parse import quote

import httpx

from onceward.domain.names import DownstreamKey
from onceward.domain.recovery import LookupReply
from onceward.errors import CallFailure
from onceward.providers.at_once import AnswersAtOnce
from onceward.providers.chat_answer import read_answer
from onceward.providers.chat_errors import failure_of
from onceward.providers.chat_request import KEY_NAME, LimitField, body_of, limit_field_of
from onceward.providers.http import HttpReply
from onceward.providers.http_model import HttpModel, HttpModelTarget
from onceward.providers.reading import an_object
from onceward.providers.time_left import TimeLeft
from onceward.usecases.ports import ModelReply, ModelRequest

NO_ANSWER_YET = "answer_not_found"  # the code of a lookup's 404; any other 404 may be a wrong address


@dataclass(frozen=True, slots=True, kw_only=True)
class ChatTarget(HttpModelTarget):
    """Where the model is, which one, and what its documentation promises about repeats.

    ``base_url`` ends before ``/chat/completions``; without a ``limit_field`` the address tells which one is known.
    ``is_stored``: completions are kept at the provider, and found again by their metadata.
    """

    name: str = "openai"
    limit_field: LimitField | None = None
    is_stored: bool = False


class OpenAIChat(AnswersAtOnce, HttpModel[ChatTarget]):
    """The ``Provider`` of one target."""

    async def generate(self, request: ModelRequest, key: DownstreamKey, timeout: timedelta) -> ModelReply:
        """Ask once under ``key``; raises ``CallFailure``, and ``SecretUnavailable`` before anything is sent."""
        stored_as = key if self._target.is_stored else None
        limit_field = self._target.limit_field or limit_field_of(self._base)
        body = body_of(request, self.model, limit_field, stored_as=stored_as)
        return self._read(await self.request("POST", "chat/completions", TimeLeft(self._clock, timeout), body, key))

    async def lookup(self, key: DownstreamKey, timeout: timedelta) -> ModelReply | LookupReply:
        """What became of a key. Raises ``CallFailure`` when the call is found to have failed: that ends the maybe too.

        "Not found" is taken only from an answer that says so by its code: a 404 of a wrong address would otherwise
        be proof that nothing was bought.
        """
        reply = await self.question("GET", self._place(key), TimeLeft(self._clock, timeout))
        if reply is None:
            return LookupReply.UNREACHABLE
        if reply.status == httpx.codes.OK:
            return self._listed(reply, key) if self._target.is_stored else self._found(reply)
        return LookupReply.NOT_FOUND if _says_not_found(reply) else LookupReply.UNREACHABLE

    def _read(self, reply: HttpReply) -> ModelReply:
        """An answer's meaning by its status."""
        if reply.status == httpx.codes.OK:
            return read_answer(reply, self._target.model, self._clock.now())
        raise failure_of(reply, self._clock.now())

    def _found(self, reply: HttpReply) -> ModelReply | LookupReply:
        """A stored answer is read as the first one would have been; what is no stored answer says nothing."""
        try:
            return self._read(reply)
        except CallFailure as failure:
            if failure.model is None:
                return LookupReply.UNREACHABLE
            raise

    def _place(self, key: DownstreamKey) -> str:
        """Where a key is looked up: in the list of stored completions, or at a gateway."""
        if self._target.is_stored:
            return f"chat/completions?limit=1&metadata%5B{KEY_NAME}%5D={quote(key, safe='')}"
        return f"lookup/{quote(key, safe='')}"

    def _listed(self, reply: HttpReply, key: DownstreamKey) -> ModelReply | LookupReply:
        """The stored completion of this key; a list without it says that there is none, if it is a whole list.

        A server that does not know the filter lists others: only a completion that carries the key is believed.
        """
        listed = (reply.json_object() or {}).get("data")
        if not isinstance(listed, list):
            return LookupReply.UNREACHABLE
        own = [one for one in map(an_object, listed) if an_object(one.get("metadata")).get(KEY_NAME) == key]
        if own:
            return self._found(replace(reply, body=json.dumps(own[0]).encode()))
        return LookupReply.UNREACHABLE if listed else LookupReply.NOT_FOUND


def _says_not_found(reply: HttpReply) -> bool:
    """Whether a 404 is the lookup's own word."""
    error = (reply.json_object() or {}).get("error")
    return reply.status == httpx.codes.NOT_FOUND and isinstance(error, dict) and error.get("code") == NO_ANSWER_YET
