"""A model behind OpenAI's batches, one chat completion in each: half the price, an answer within a day.

A batch is a file of requests, its answers are another file. Files outlive what they are for, so each is told when to
expire, and deleted as soon as its answer is stored here.
"""

from __future__ import annotations

import json
from collections.abc import Mapping
from datetime import timedelta
from urllib.parse import quote

import httpx

from onceward.domain.names import DownstreamKey
from onceward.domain.policy import Capability
from onceward.domain.recovery import LookupReply, PollReply
from onceward.domain.retry import ErrorClass
from onceward.domain.states import ProviderCancel
from onceward.errors import CallFailure
from onceward.providers.chat_errors import failure_of
from onceward.providers.chat_request import KEY_NAME, body_of, limit_field_of
from onceward.providers.http import HttpReply
from onceward.providers.http_model import LISTED, HalfPrice, is_gone
from onceward.providers.openai_batches_answer import UNDER_WAY, end_without_line, files_of, line_of, read_line
from onceward.providers.reading import a_name, an_object
from onceward.providers.time_left import TimeLeft
from onceward.usecases.ports import ModelReply, ModelRequest, Submitted

# As long as a job may wait at most. A batch ends within a day, and a poll comes within a quarter of an hour of it: what
# is left is for a review. The API takes an hour to thirty days.
KEPT = timedelta(days=7)
CAPABILITY = Capability(kept=KEPT, lookup_lag=LISTED)
ENDPOINT = "/v1/chat/completions"  # of the API, whatever the address before it is
PER_PAGE = 100
MOST_PAGES = 10  # of a lookup; no batch can be deleted there, so an older list than that is left to a person
EXPIRY = {"anchor": "created_at", "seconds": int(KEPT.total_seconds())}


class OpenAIBatches(HalfPrice):
    """The ``Provider`` of one target. Our key is the batch's metadata, by which a lost one is found, and its line's."""

    async def generate(self, request: ModelRequest, key: DownstreamKey, timeout: timedelta) -> ModelReply | Submitted:
        """Upload the one request, then submit a batch of it; raises as ``Provider`` says.

        Only the second buys anything: of an upload whose answer is lost, no maybe is left but a file that expires.
        """
        time = TimeLeft(self._clock, timeout)
        file = await self._upload(request, key, time)
        wanted = {
            "input_file_id": file,
            "endpoint": ENDPOINT,
            "completion_window": "24h",
            "metadata": {KEY_NAME: key},
            "output_expires_after": EXPIRY,
        }
        try:
            reply = await self.request("POST", "batches", time, json.dumps(wanted).encode())
            reference = _id_of(reply, "batch") if reply.status == httpx.codes.OK else None
            if reference is None:
                raise failure_of(reply, self._clock.now())
        except CallFailure as failure:
            if failure.error_class is not ErrorClass.OUTCOME_UNKNOWN:  # else a batch may be reading the file
                await self._delete(file, time)
            raise
        return Submitted(reference)

    async def poll(self, reference: str, key: DownstreamKey, timeout: timedelta) -> ModelReply | PollReply:
        """What became of it; raises ``CallFailure`` for an end that is no result."""
        time = TimeLeft(self._clock, timeout)
        batch = await self._batch(reference, time)
        if isinstance(batch, PollReply):
            return batch
        if batch.get("status") in UNDER_WAY:
            return PollReply.PENDING
        for file in files_of(batch):
            reply = await self.question("GET", f"{_file(file)}/content", time)
            if reply is None or reply.status != httpx.codes.OK:
                return PollReply.GONE if reply is not None and is_gone(reply) else PollReply.UNREACHABLE
            line = line_of(reply.body, key)
            if line is not None:
                return read_line(line, self.model, self._clock.now())
        return end_without_line(batch)

    async def stop(self, reference: str, timeout: timedelta) -> ProviderCancel:
        """Cancel it; a batch may take ten minutes to stop, so this confirms only one that has."""
        return await self.stop_at(_place(reference), timeout, lambda batch: batch.get("status") == "cancelled")

    async def forget(self, reference: str, timeout: timedelta) -> None:
        """Delete the files of a batch: the prompt, and the answer."""
        time = TimeLeft(self._clock, timeout)
        batch = await self._batch(reference, time)
        if isinstance(batch, PollReply):
            return
        given = a_name(batch.get("input_file_id"))
        for file in [*files_of(batch), *([given] if given else [])]:
            await self._delete(file, time)

    async def lookup(self, key: DownstreamKey, timeout: timedelta) -> LookupReply | Submitted:
        """Find the batch that carries a key, under way or ended; "not found" is said of the whole list alone."""
        time = TimeLeft(self._clock, timeout)
        after = ""
        for _ in range(MOST_PAGES):
            reply = await self.question("GET", f"batches?limit={PER_PAGE}{after}", time)
            page = None if reply is None or reply.status != httpx.codes.OK else reply.json_object()
            listed = None if page is None else page.get("data")
            if page is None or not isinstance(listed, list):
                return LookupReply.UNREACHABLE
            batches = [an_object(one) for one in listed]
            found = next((one for one in batches if an_object(one.get("metadata")).get(KEY_NAME) == key), None)
            if found is not None:
                reference = a_name(found.get("id"))
                return LookupReply.UNREACHABLE if reference is None else Submitted(reference)
            if not page.get("has_more"):
                return LookupReply.NOT_FOUND
            after = f"&after={quote(str(batches[-1].get('id')), safe='')}" if batches else ""
        return LookupReply.UNREACHABLE

    async def _upload(self, request: ModelRequest, key: DownstreamKey, time: TimeLeft) -> str:
        """Store the request as a file of one line; whatever becomes of it, nothing was bought."""
        body = body_of(request, self.model, limit_field_of(self._target.base_url))
        line = {"custom_id": key, "method": "POST", "url": ENDPOINT, "body": json.loads(body)}
        fields = {"purpose": "batch", **{f"expires_after[{name}]": str(value) for name, value in EXPIRY.items()}}
        try:
            reply = await self.upload("files", fields, json.dumps(line).encode() + b"\n", time)
            file = _id_of(reply, "file") if reply.status == httpx.codes.OK else None
            if file is None:
                raise failure_of(reply, self._clock.now())
        except CallFailure as failure:
            raise _unbought(failure) from None
        return file

    async def _batch(self, reference: str, time: TimeLeft) -> Mapping[str, object] | PollReply:
        """The batch itself; ``GONE`` only by the API's own word."""
        reply = await self.question("GET", _place(reference), time)
        if reply is None or reply.status != httpx.codes.OK or _id_of(reply, "batch") != reference:
            return PollReply.GONE if reply is not None and is_gone(reply) else PollReply.UNREACHABLE
        return reply.json_object() or {}

    async def _delete(self, file: str, time: TimeLeft) -> None:
        """Delete a file; one that cannot be reached now expires by itself."""
        await self.delete(_file(file), time)


def _id_of(reply: HttpReply, kind: str) -> str | None:
    """The id of an object of that kind; ``None``: this is none."""
    body = reply.json_object() or {}
    return a_name(body.get("id")) if body.get("object") == kind else None


def _unbought(failure: CallFailure) -> CallFailure:
    """A failure before anything was bought is no maybe."""
    if failure.error_class is not ErrorClass.OUTCOME_UNKNOWN:
        return failure
    return CallFailure(
        "the request was not stored",
        code=failure.code,
        error_class=ErrorClass.TRANSIENT,
        was_sent=False,
        request_id=failure.request_id,
    )


def _place(reference: str) -> str:
    """Where a batch is kept."""
    return f"batches/{quote(reference, safe='')}"


def _file(name: str) -> str:
    """Where a file is kept."""
    return f"files/{quote(name, safe='')}"
