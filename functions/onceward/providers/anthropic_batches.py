"""A model behind Anthropic's message batches, one request in each: half the price, an answer within a day."""

from __future__ import annotations

import json
from collections.abc import Mapping
from datetime import timedelta
from typing import Any
from urllib.parse import quote

import httpx

from onceward.domain.names import DownstreamKey
from onceward.domain.policy import Capability
from onceward.domain.recovery import LookupReply, PollReply
from onceward.domain.states import ProviderCancel
from onceward.providers.anthropic_messages import headers_of
from onceward.providers.batches_answer import has_ended, is_archived, read_result, reference_of, result_of
from onceward.providers.http_model import LISTED, HalfPrice, is_gone
from onceward.providers.messages_errors import failure_of
from onceward.providers.messages_request import body_of
from onceward.providers.reading import an_object
from onceward.providers.time_left import TimeLeft
from onceward.usecases.ports import ModelReply, ModelRequest, Submitted

KEPT = timedelta(days=29)  # documented: results can be fetched for 29 days after the batch was created
CAPABILITY = Capability(kept=KEPT, lookup_lag=LISTED)
PER_PAGE = 100
MOST_PAGES = 3  # of a lookup; a workspace with more batches than that is left to a person


class AnthropicBatches(HalfPrice):
    """The ``Provider`` of one target. Our key is the request's ``custom_id``, by which a lost batch is found again."""

    def headers(self, secret: str) -> dict[str, str]:
        """The API's version, and the key if there is one."""
        return headers_of(secret)

    async def generate(self, request: ModelRequest, key: DownstreamKey, timeout: timedelta) -> ModelReply | Submitted:
        """Submit a batch of one; raises as ``Provider`` says."""
        params = json.loads(body_of(request, self.model))
        body = json.dumps({"requests": [{"custom_id": key, "params": params}]}, ensure_ascii=False).encode()
        reply = await self.request("POST", "messages/batches", TimeLeft(self._clock, timeout), body)
        reference = reference_of(reply) if reply.status == httpx.codes.OK else None
        if reference is None:
            raise failure_of(reply, self._clock.now())
        return Submitted(reference)

    async def poll(self, reference: str, key: DownstreamKey, timeout: timedelta) -> ModelReply | PollReply:
        """What became of it; raises ``CallFailure`` for an end that is no result."""
        time = TimeLeft(self._clock, timeout)
        reply = await self.question("GET", self._place(reference), time)
        if reply is None or reply.status != httpx.codes.OK or reference_of(reply) != reference:
            return PollReply.GONE if reply is not None and is_gone(reply) else PollReply.UNREACHABLE
        batch = reply.json_object() or {}
        if is_archived(batch):
            return PollReply.GONE
        if not has_ended(batch):
            return PollReply.PENDING
        return await self._result(reference, key, time)

    async def stop(self, reference: str, timeout: timedelta) -> ProviderCancel:
        """Cancel it; a batch finishes what it cannot interrupt, so a wish is confirmed only when it has ended."""
        return await self.stop_at(self._place(reference), timeout, _has_cancelled)

    async def forget(self, reference: str, timeout: timedelta) -> None:
        """Delete the batch, which takes its request and its result along."""
        await self.delete(self._place(reference), TimeLeft(self._clock, timeout))

    async def lookup(self, key: DownstreamKey, timeout: timedelta) -> ModelReply | LookupReply:
        """Find the batch whose one request has this ``custom_id``; raises ``CallFailure`` if it ended without result.

        Only the results tell a ``custom_id``: "not found" is said of ended batches alone, and of all of them.
        """
        time = TimeLeft(self._clock, timeout)
        after, is_open = "", False
        for _ in range(MOST_PAGES):
            reply = await self.question("GET", f"messages/batches?limit={PER_PAGE}{after}", time)
            page = None if reply is None or reply.status != httpx.codes.OK else reply.json_object()
            batches = None if page is None else page.get("data")
            if page is None or not isinstance(batches, list):
                return LookupReply.UNREACHABLE
            for batch in map(an_object, batches):
                is_open = is_open or not has_ended(batch)
                found = await self._of_key(batch, key, time)
                if found is not LookupReply.NOT_FOUND:
                    return found
            if not page.get("has_more"):
                return LookupReply.UNREACHABLE if is_open else LookupReply.NOT_FOUND
            after = f"&after_id={quote(str(page.get('last_id')), safe='')}"
        return LookupReply.UNREACHABLE

    async def _of_key(
        self, batch: Mapping[str, object], key: DownstreamKey, time: TimeLeft
    ) -> ModelReply | LookupReply:
        """The answer to a key in one batch, if that is its only request."""
        counts = an_object(batch.get("request_counts")).values()
        is_single = sum(count for count in counts if isinstance(count, int)) == 1
        if not has_ended(batch) or is_archived(batch) or not is_single:
            return LookupReply.NOT_FOUND
        found = await self._result(str(batch.get("id")), key, time)
        match found:
            case PollReply.GONE:
                return LookupReply.NOT_FOUND
            case PollReply():
                return LookupReply.UNREACHABLE
            case reply:
                return reply

    async def _result(self, reference: str, key: DownstreamKey, time: TimeLeft) -> ModelReply | PollReply:
        """The one result of an ended batch; ``GONE``: it is not there, or is another request's."""
        reply = await self.question("GET", f"{self._place(reference)}/results", time)
        if reply is None or reply.status != httpx.codes.OK:
            return PollReply.GONE if reply is not None and is_gone(reply) else PollReply.UNREACHABLE
        result = result_of(reply.body, key)
        return PollReply.GONE if result is None else read_result(result, self.model, self._clock.now())

    def _place(self, reference: str) -> str:
        """Where it is kept."""
        return f"messages/batches/{quote(reference, safe='')}"


def _has_cancelled(batch: Mapping[str, Any]) -> bool:
    """Whether a batch has ended, and its request by a cancel."""
    return has_ended(batch) and bool(an_object(batch.get("request_counts")).get("canceled"))
