"""Speak OpenAI's batches: files of requests come in, batches of one request work on them, files of answers go out.

The work itself is ``Later``'s. A file that was deleted is known under no name any more.
"""

import json
import threading
from collections.abc import Mapping
from dataclasses import dataclass, field
from email.parser import BytesParser
from email.policy import HTTP
from typing import Any

from onceward.local.model.chat import RefusedRequest, error_body
from onceward.local.model.later import Later, Work
from onceward.local.model.stand_in import Reply, json_reply

FILES = "/v1/files"
BATCHES = "/v1/batches"
_ENDPOINT = "/v1/chat/completions"
_OK = 200


@dataclass(slots=True, kw_only=True)
class Batch:
    """One batch; ``invalid``: the code with which its file failed validation, and no work was begun.

    ``told``: the file of its answer, once there is one, and whether it is one of errors.
    """

    name: str
    input_file: str
    metadata: Mapping[str, Any]
    key: str = ""
    work: Work | None = None
    invalid: str | None = None
    told: tuple[str, bool] | None = None

    @property
    def status(self) -> str:
        """What the API calls its state."""
        if self.invalid is not None:
            return "failed"
        if self.work is None or not self.work.has_ended:
            return "in_progress"
        if self.work.is_expired:
            return "expired"
        return "cancelled" if self.work.is_cancelled else "completed"


@dataclass(slots=True)
class FileBatches:
    """All files and batches of one server. One lock guards them; work is done by others."""

    later: Later
    _files: dict[str, bytes] = field(default_factory=dict)
    _batches: dict[str, Batch] = field(default_factory=dict)
    _lock: threading.Lock = field(default_factory=threading.Lock)
    _number: int = 0

    def clear(self) -> None:
        """Forget all."""
        with self._lock:
            self._batches.clear()
            self._files.clear()

    def counts(self) -> dict[str, int]:
        """How many files are kept."""
        return {"files": len(self._files)}

    def get(self, path: str) -> Reply:
        """Answer a read of the batches, of one, or of a file's content."""
        with self._lock:
            if path == BATCHES:
                listed = [self._told(batch) for batch in reversed(self._batches.values())]
                return json_reply(_OK, {"object": "list", "data": listed, "has_more": False})
            if path.startswith(f"{BATCHES}/"):
                batch = self._batches.get(path.removeprefix(f"{BATCHES}/"))
                if batch is None:
                    return _absent("batch")
                if batch.work is not None:
                    self.later.asked(batch.work.name)
                return json_reply(_OK, self._told(batch))
            content = self._files.get(path.removeprefix(f"{FILES}/").removesuffix("/content"))
            if content is None or not path.endswith("/content"):
                return _absent("file")
            return Reply(_OK, content, {"content-type": "application/octet-stream"})

    def post(self, path: str, raw: bytes, headers: Mapping[str, str]) -> Reply:
        """Take a file, or a batch of one, or cancel one."""
        if path == FILES:
            return self._upload(raw, headers.get("content-type", ""))
        if path == BATCHES:
            return self._create(raw, headers)
        batch = self._batches.get(path.removeprefix(f"{BATCHES}/").removesuffix("/cancel"))
        if batch is None or not path.endswith("/cancel"):
            return _absent("batch")
        if batch.work is None or batch.work.has_ended:
            return json_reply(409, error_body("The batch has ended.", "invalid_request_error"))
        self.later.cancelled(batch.work.name)
        return json_reply(_OK, {**self._told(batch), "status": "cancelling"})  # a batch takes its time to stop

    def delete(self, path: str) -> Reply:
        """Delete a file; batches stay."""
        name = path.removeprefix(f"{FILES}/")
        with self._lock:
            is_there = self._files.pop(name, None) is not None
        return json_reply(_OK, {"id": name, "object": "file", "deleted": True}) if is_there else _absent("file")

    def _upload(self, raw: bytes, content_type: str) -> Reply:
        form = BytesParser(policy=HTTP).parsebytes(b"content-type: " + content_type.encode() + b"\r\n\r\n" + raw)
        parts = {part.get_param("name", header="content-disposition"): part for part in form.iter_parts()}
        purpose, file = (
            parts[name].get_payload(decode=True) if name in parts else None for name in ("purpose", "file")
        )
        if purpose != b"batch" or not isinstance(file, bytes):
            return json_reply(400, error_body("A file for the purpose 'batch' is expected.", "invalid_request_error"))
        with self._lock:
            self._number += 1
            name = f"file-stand-in-{self._number}"
            self._files[name] = file
        return json_reply(_OK, {"id": name, "object": "file", "purpose": "batch", "status": "processed"})

    def _create(self, raw: bytes, headers: Mapping[str, str]) -> Reply:
        if refusal := self.later.refused():
            return refusal
        wanted = json.loads(raw)
        content = self._files.get(wanted.get("input_file_id"))
        if content is None or wanted.get("endpoint") != _ENDPOINT or wanted.get("completion_window") != "24h":
            return json_reply(400, error_body("One file of chat completions within 24h.", "invalid_request_error"))
        with self._lock:
            self._number += 1
            name = f"batch_stand_in_{self._number}"
        given = {"input_file": wanted["input_file_id"], "metadata": wanted.get("metadata") or {}}
        batch = Batch(name=name, invalid=self.later.invalid(), **given)
        line = _one_line(content)
        if line is None:
            batch.invalid = batch.invalid or "invalid_json_line"
        if batch.invalid is None and line is not None:
            batch.key = str(line["custom_id"])
            batch.work = self._begin(name, batch.key, json.dumps(line["body"]).encode(), headers)
        with self._lock:
            self._batches[name] = batch
        return self.later.lost() or json_reply(_OK, {**self._told(batch), "status": "validating"})

    def _begin(self, name: str, key: str, chat: bytes, headers: Mapping[str, str]) -> Work:
        """Begin the work; a request that is refused is work that has ended with a refusal."""
        try:
            return self.later.begin("batch_", key, chat, headers)
        except RefusedRequest as error:
            return Work(name=name, key=key, model="", created=0, reply=json_reply(error.status, error.body))

    def _told(self, batch: Batch) -> dict[str, Any]:
        """Return the batch object; the file of its answer is made when it is first told, and named for good."""
        if batch.told is None and batch.work is not None and batch.status in ("completed", "expired"):
            line = _line(batch.key, batch.work)
            is_error = line["error"] is not None or line["response"]["status_code"] != _OK
            batch.told = (f"file-{'error' if is_error else 'output'}-{batch.name}", is_error)
            self._files[batch.told[0]] = json.dumps(line).encode() + b"\n"
        name, is_error = batch.told or (None, False)
        failed = [{"code": batch.invalid, "line": 1, "message": "", "param": None}]
        return {
            "id": batch.name,
            "object": "batch",
            "endpoint": _ENDPOINT,
            "input_file_id": batch.input_file,
            "completion_window": "24h",
            "status": batch.status,
            "errors": {"object": "list", "data": failed} if batch.invalid else None,
            "output_file_id": None if is_error else name,
            "error_file_id": name if is_error else "",  # an absent file is null, or an empty text
            "metadata": batch.metadata,
        }


def _one_line(content: bytes) -> dict[str, Any] | None:
    """Read the one request of a file; ``None``: it holds none, or several."""
    try:
        [line] = [json.loads(line) for line in content.splitlines()]
    except ValueError:
        return None
    is_request = (
        isinstance(line, dict) and {"custom_id", "method", "body"} <= line.keys() and line.get("url") == _ENDPOINT
    )
    return line if is_request else None


def _line(key: str, work: Work) -> dict[str, Any]:
    """Return what became of a request, as a line of a file."""
    told: dict[str, Any] = {"id": f"batch_req_{work.name}", "custom_id": key, "response": None, "error": None}
    reply = work.reply
    if work.is_expired or reply is None:
        return {**told, "error": {"code": "batch_expired", "message": "Its time ran out."}}
    if reply.drop is not None:
        return {**told, "error": {"code": "server_error", "message": "The stand-in was told to fail."}}
    try:
        body = json.loads(reply.body)
    except ValueError:
        body = {}
    response = {"status_code": reply.status, "request_id": reply.headers.get("x-request-id"), "body": body}
    return {**told, "response": response}


def _absent(what: str) -> Reply:
    return json_reply(404, error_body(f"No such {what}.", "invalid_request_error"))
