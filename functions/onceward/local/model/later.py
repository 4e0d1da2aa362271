"""Take work and answer it later: OpenAI's responses in background mode, and Anthropic's message batches of one request.

OpenAI's batches, which are made of files, stand beside it. Each piece of work is an ordinary completion in a thread of
its own, so everything that tests may ask of one holds here too: a held gate is work under way, a status is work that
failed. What is forgotten is kept under no name any more.
"""

import json
import threading
import time
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from typing import Any

from onceward.local.model.chat import RefusedRequest, error_body, read_chat_request
from onceward.local.model.messages import as_chat, as_error, as_message
from onceward.local.model.responses import as_chat_of_response, as_response
from onceward.local.model.stand_in import Reply, StandIn, json_reply

_OK = 200


@dataclass(slots=True, kw_only=True)
class Work:
    """One piece of work: for whom, since when, and what it came to; ``reply`` is empty while it is under way."""

    name: str
    key: str
    model: str
    created: int
    is_cancelled: bool = False
    is_expired: bool = False
    reply: Reply | None = None

    @property
    def has_ended(self) -> bool:
        """Whether it is over, in whichever way."""
        return self.reply is not None or self.is_cancelled or self.is_expired


@dataclass(slots=True)
class Later:
    """All work of one server. One lock guards it; it is never held while work is done."""

    stand_in: StandIn
    _works: dict[str, Work] = field(default_factory=dict)
    _lock: threading.Lock = field(default_factory=threading.Lock)
    _number: int = 0
    _to_lose: int = 0
    _invalid: str | None = None
    _refuse: int | None = None
    polls: int = 0

    def control(self, body: Mapping[str, Any]) -> None:
        """Forget all work, let what is under way expire, or spoil submissions that are still to come.

        ``lose``: so many are not answered, their work is done all the same; ``invalid``: the next batch fails its
        validation with this code; ``refuse``: the next batch is refused with this status.
        """
        with self._lock:
            self._refuse = body.get("refuse", self._refuse)
            self._to_lose = int(body.get("lose", self._to_lose))
            self._invalid = body.get("invalid", self._invalid)
            if body.get("forget"):
                self._works.clear()
            if body.get("expire"):
                for work in self._works.values():
                    work.is_expired = not work.has_ended

    def clear(self) -> None:
        """Start anew."""
        with self._lock:
            self._works.clear()
            self._to_lose = self.polls = 0
            self._invalid = self._refuse = None

    def counts(self) -> dict[str, int]:
        """How much work is known, how much of it is over, how often it was asked for."""
        with self._lock:
            ended = sum(work.has_ended for work in self._works.values())
            cancelled = sum(work.is_cancelled for work in self._works.values())
            return {"works": len(self._works), "ended": ended, "cancelled": cancelled, "polls": self.polls}

    # OpenAI's responses

    def submit_response(self, raw: bytes, headers: Mapping[str, str]) -> Reply:
        """Take a response in background mode."""
        body = _object(raw)
        if not body.get("background"):
            return json_reply(400, error_body("The stand-in knows background responses only.", "invalid_request_error"))
        metadata = body.get("metadata")
        key = str((metadata if isinstance(metadata, dict) else {}).get("onceward_key", ""))
        try:
            work = self.begin("resp_", key, as_chat_of_response(body), headers)
        except RefusedRequest as error:
            return json_reply(error.status, error.body)
        taken = as_response(work.name, work.model, work.created, None, "queued")  # also where it is done by now
        return self.lost() or json_reply(_OK, taken)

    def response(self, name: str) -> Reply:
        """Tell what became of one."""
        work = self.asked(name)
        return _no_response(name) if work is None else json_reply(_OK, self._response(work))

    def cancel_response(self, name: str) -> Reply:
        """Stop one that is under way."""
        work = self.cancelled(name)
        return _no_response(name) if work is None else json_reply(_OK, self._response(work))

    def _response(self, work: Work) -> dict[str, Any]:
        status = "cancelled" if work.is_cancelled else None
        return as_response(work.name, work.model, work.created, work.reply, status)

    def delete_response(self, name: str) -> Reply:
        """Delete one that has ended."""
        deleted = {"id": name, "object": "response", "deleted": True}
        return _no_response(name) if self.delete(name) is None else json_reply(_OK, deleted)

    # Anthropic's batches

    def submit_batch(self, raw: bytes, headers: Mapping[str, str]) -> Reply:
        """Take a batch of one request."""
        requests = _object(raw).get("requests")
        if not isinstance(requests, list) or len(requests) != 1 or not isinstance(requests[0], dict):
            return json_reply(400, as_error(400, {"message": "The stand-in takes one request in a batch."}))
        key = str(requests[0].get("custom_id", ""))
        try:
            work = self.begin("msgbatch_", key, as_chat(json.dumps(requests[0].get("params")).encode()), headers)
        except RefusedRequest as error:
            return json_reply(error.status, as_error(error.status, error.body["error"]))
        return self.lost() or json_reply(_OK, _batch(work))

    def batch(self, name: str) -> Reply:
        """Tell what became of one."""
        work = self.asked(name)
        return _no_batch() if work is None else json_reply(_OK, _batch(work))

    def cancel_batch(self, name: str) -> Reply:
        """Stop one that is under way."""
        work = self.cancelled(name)
        return _no_batch() if work is None else json_reply(_OK, _batch(work))

    def delete_batch(self, name: str) -> Reply:
        """Delete one that has ended."""
        return (
            _no_batch() if self.delete(name) is None else json_reply(_OK, {"id": name, "type": "message_batch_deleted"})
        )

    def batches(self) -> Reply:
        """List all, the newest first."""
        listed = [_batch(work) for work in self.listed("msgbatch_")]
        return json_reply(_OK, {"data": listed, "has_more": False, "first_id": None, "last_id": None})

    def results(self, name: str) -> Reply:
        """Give the results of one that has ended, a line each."""
        work = self._works.get(name)
        if work is None or not work.has_ended:
            return _no_batch()
        return json_reply(_OK, json.dumps({"custom_id": work.key, "result": _result(work)}) + "\n")

    # All of it

    def delete(self, name: str) -> Work | None:
        """Keep it no more; what is under way stays."""
        with self._lock:
            work = self._works.get(name)
            return None if work is None or not work.has_ended else self._works.pop(name)

    def begin(self, prefix: str, key: str, chat: bytes, headers: Mapping[str, str]) -> Work:
        """Take work and begin it; raises ``RefusedRequest`` for what is no request."""
        request = read_chat_request(chat)
        with self._lock:
            self._number += 1
            name = f"{prefix}stand_in_{self._number}"
            work = Work(name=name, key=key, model=request.model, created=int(time.time()))
            self._works[name] = work
        told = {**headers, "idempotency-key": key}
        threading.Thread(target=self._do, args=(work, chat, told), daemon=True).start()
        return work

    def _do(self, work: Work, chat: bytes, headers: Mapping[str, str]) -> None:
        is_over: Callable[[], bool] = lambda: work.is_cancelled or work.is_expired  # noqa: E731 (it is asked again and again)
        reply = self.stand_in.chat(chat, headers, is_over)
        with self._lock:
            work.reply = reply

    def lost(self) -> Reply | None:
        """End the connection instead of an answer, if that was asked for."""
        with self._lock:
            if self._to_lose <= 0:
                return None
            self._to_lose -= 1
        return Reply(0, b"", drop="close")

    def asked(self, name: str) -> Work | None:
        """Return work by its name, and count the question."""
        with self._lock:
            self.polls += 1
            return self._works.get(name)

    def cancelled(self, name: str) -> Work | None:
        """Stop work that is under way, and return it."""
        with self._lock:
            work = self._works.get(name)
            if work is not None and not work.has_ended:
                work.is_cancelled = True
            return work

    def listed(self, prefix: str) -> list[Work]:
        """Return all work of a kind, the newest first."""
        with self._lock:
            return [work for work in reversed(self._works.values()) if work.name.startswith(prefix)]

    def refused(self) -> Reply | None:
        """Refuse the next batch, if that was asked for."""
        with self._lock:
            status, self._refuse = self._refuse, None
        return None if status is None else json_reply(status, error_body("The stand-in was told so.", "server_error"))

    def invalid(self) -> str | None:
        """Return the code with which the next batch fails its validation, and use it up."""
        with self._lock:
            code, self._invalid = self._invalid, None
            return code


def _object(raw: bytes) -> dict[str, Any]:
    try:
        body = json.loads(raw)
    except (ValueError, RecursionError):
        return {}
    return body if isinstance(body, dict) else {}


def _no_response(name: str) -> Reply:
    return json_reply(404, error_body(f"Response with id '{name}' not found.", "invalid_request_error"))


def _no_batch() -> Reply:
    return json_reply(404, as_error(404, {"message": "There is no such batch, or it has no results."}))


def _batch(work: Work) -> dict[str, Any]:
    outcome = _result(work)["type"] if work.has_ended else "processing"
    counts = dict.fromkeys(("processing", "succeeded", "errored", "canceled", "expired"), 0)
    return {
        "id": work.name,
        "type": "message_batch",
        "processing_status": "ended" if work.has_ended else "in_progress",
        "request_counts": {**counts, outcome: 1},
        "created_at": time.strftime("%Y-%m-%dT%H:%M:%SZ", time.gmtime(work.created)),
        "archived_at": None,
        "results_url": f"/v1/messages/batches/{work.name}/results" if work.has_ended else None,
    }


def _result(work: Work) -> dict[str, Any]:
    if work.is_expired:
        return {"type": "expired"}
    if work.is_cancelled or work.reply is None:
        return {"type": "canceled"}
    body = _object(work.reply.body)
    if work.reply.status == _OK and work.reply.drop is None and "choices" in body:
        return {"type": "succeeded", "message": as_message(body)}
    error = body.get("error")
    told = error if isinstance(error, dict) else {"message": "The stand-in was told to fail."}
    return {"type": "errored", "error": as_error(work.reply.status or 500, told)}
