"""Run a request through what a test asked for: wait, drop, answer otherwise, replay or compute.

One lock guards rules, counts and answers; it is never held while waiting or computing. The phases of a request are
`before` (nothing was computed, nothing is billed), compute or replay, and `after` (it was, but the caller may not
learn of it).
"""

import contextlib
import hashlib
import threading
import time
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from typing import Any

from onceward.local.loopback import as_json
from onceward.local.model.answers import Answers
from onceward.local.model.behaviours import Behaviour, Rules, Stage, read_rule
from onceward.local.model.brain.reply import answer
from onceward.local.model.chat import (
    ChatRequest,
    Completion,
    RefusedRequest,
    complete,
    error_body,
    read_chat_request,
    reshape,
)
from onceward.local.model.gates import CallerLeft, Gates
from onceward.local.model.record import Record, Seen, telling_headers


@dataclass(frozen=True, slots=True)
class Reply:
    """An HTTP answer; `drop` says how the connection ends instead of, or in the middle of, sending it."""

    status: int
    body: bytes
    headers: Mapping[str, str] = field(default_factory=dict)
    drop: str | None = None


def json_reply(status: int, body: Any, headers: Mapping[str, str] | None = None) -> Reply:
    """Return a reply with a JSON body; text is sent as it stands."""
    return Reply(status, body.encode() if isinstance(body, str) else as_json(body), headers or {})


class StandIn:
    """The provider's side of a chat completion, with everything tests may ask of it."""

    def __init__(self, standing: Mapping[str, Any] | None = None, clock: Callable[[], float] = time.monotonic) -> None:
        self._clock = clock
        self._lock = threading.Lock()
        self._computing = threading.Lock()  # two equal keys in parallel: the second must find the first's answer
        self._rules = Rules(standing)
        self._record = Record()
        self._answers = Answers()
        self._stored: list[tuple[Mapping[str, Any], Completion]] = []
        self._gates = Gates()
        self._request_numbers = 0
        self._completion_numbers = 0

    def chat(self, raw: bytes, headers: Mapping[str, str], caller_left: Callable[[], bool]) -> Reply:
        """Serve one request to its end and record how it ended. Header names are in lower case."""
        started = self._clock()
        refusal, request = None, None
        try:
            request = read_chat_request(raw)
        except RefusedRequest as error:
            refusal = json_reply(error.status, error.body)
        seen = self._arrive(request, raw, headers)
        outcome, reply = "crashed", Reply(0, b"", drop="close")
        try:
            if request is None:
                outcome, reply = "refused", refusal or reply
            else:
                outcome, reply = self._serve(seen, request, caller_left)
        except CallerLeft:
            outcome = "caller_left"
        finally:  # whatever happens, the request is no longer in flight
            with self._lock:
                self._record.ended(seen, outcome, reply.status or None, self._clock() - started)
        told = {"x-request-id": seen.request_id, "openai-processing-ms": str(int((seen.took_s or 0) * 1000))}
        return Reply(reply.status, reply.body, {**reply.headers, **told}, reply.drop)

    def _serve(self, seen: Seen, request: ChatRequest, caller_left: Callable[[], bool]) -> tuple[str, Reply]:
        with self._lock:
            behaviour = self._rules.spend(
                key=seen.key, prompt=request.prompt, model=request.model, metadata=request.metadata
            )
        reply = self._answer(seen, request, behaviour, caller_left)
        return "answered" if reply.drop is None else f"dropped_{behaviour.stage}", reply

    def _answer(self, seen: Seen, request: ChatRequest, behaviour: Behaviour, caller_left: Callable[[], bool]) -> Reply:
        if instead := self._at_stage("before", seen, behaviour, caller_left):
            return instead
        with self._computing if behaviour.dedupe_s is not None else contextlib.nullcontext():
            completion, replayed = self._replay_or_compute(seen, request, behaviour)
        reply = json_reply(200, completion.body, {"idempotent-replayed": "true"} if replayed else {})
        if behaviour.stage == "after" and behaviour.drop == "partial":
            self._wait(seen, behaviour, caller_left)
            return Reply(reply.status, reply.body, reply.headers, drop="partial")
        return self._at_stage("after", seen, behaviour, caller_left) or reply

    def _at_stage(
        self, stage: Stage, seen: Seen, behaviour: Behaviour, caller_left: Callable[[], bool]
    ) -> Reply | None:
        """Do what is asked for at this stage; return what ends the request here, if anything does."""
        if stage != behaviour.stage:
            return None
        self._wait(seen, behaviour, caller_left)
        if behaviour.drop:
            return Reply(0, b"", drop="reset" if behaviour.drop == "reset" else "close")
        if behaviour.status is not None:
            default = error_body("The stand-in was told to answer so.", "server_error")
            return json_reply(
                behaviour.status, default if behaviour.body is None else behaviour.body, behaviour.headers
            )
        return None

    def _wait(self, seen: Seen, behaviour: Behaviour, caller_left: Callable[[], bool]) -> None:
        if behaviour.hold is not None:
            seen.held_at = behaviour.hold
            try:
                self._gates.pass_through(behaviour.hold, caller_left)
            finally:
                seen.held_at = None
        if behaviour.delay_s > 0:
            self._gates.pause(behaviour.delay_s, caller_left)

    def _replay_or_compute(self, seen: Seen, request: ChatRequest, behaviour: Behaviour) -> tuple[Completion, bool]:
        with self._lock:
            stored = self._answers.replay(seen.key, now=self._clock(), window_s=behaviour.dedupe_s)
            if stored is not None:
                self._record.replayed(seen)
                return stored, True
            self._completion_numbers += 1
            identity = f"chatcmpl-stand-in-{self._completion_numbers}"
        content = (
            behaviour.content
            if behaviour.content is not None
            else answer(request.messages, request.response_format, request.most_characters)
        )
        completion = complete(request, content, identity=identity, created=int(time.time()))
        completion = reshape(completion, behaviour.form, behaviour.usage)
        with self._lock:
            self._record.computed(seen, completion.prompt_tokens, completion.completion_tokens)
            if request.is_stored:
                self._stored.append((request.metadata, completion))
            if seen.key is not None:
                self._answers.put(seen.key, completion, now=self._clock(), hidden_s=behaviour.lookup_hidden_s)
        return completion, False

    def _arrive(self, request: ChatRequest | None, raw: bytes, headers: Mapping[str, str]) -> Seen:
        with self._lock:
            self._request_numbers += 1
            seen = Seen(
                number=self._request_numbers,
                at=time.time(),
                key=headers.get("idempotency-key"),
                model=request.model if request else "",
                metadata=request.metadata if request else {},
                headers=telling_headers(headers),
                authorised=not {"authorization", "x-api-key"}.isdisjoint(headers),
                messages=len(request.messages) if request else 0,
                prompt_characters=len(request.prompt) if request else 0,
                body_sha256=hashlib.sha256(raw).hexdigest(),
                request_id=f"req-stand-in-{self._request_numbers}",
            )
            self._record.arrived(seen)
            return seen

    def stored(self, wanted: Mapping[str, str]) -> Reply:
        """Answer `GET /v1/chat/completions`: the stored completions with all this metadata, the newest first."""
        with self._lock:
            self._record.lookups += 1
            found = [
                {**completion.body, "metadata": metadata}
                for metadata, completion in reversed(self._stored)
                if wanted.items() <= metadata.items()
            ]
        return json_reply(200, {"object": "list", "data": found, "has_more": False})

    def look_up(self, key: str) -> Reply:
        """Answer `GET /v1/lookup/{key}`."""
        with self._lock:
            self._record.lookups += 1
            found = self._answers.look_up(key, now=self._clock())
        if found is None:
            return json_reply(
                404, error_body("No answer is known for this key.", "invalid_request_error", code="answer_not_found")
            )
        return json_reply(200, found.body)

    def counts(self) -> dict[str, Any]:
        """Return the counts since the last reset."""
        with self._lock:
            return self._record.counts()

    def requests(self) -> list[dict[str, Any]]:
        """Return the requests seen, without contents."""
        with self._lock:
            return self._record.requests()

    def behave(self, body: Mapping[str, Any]) -> None:
        """Put a rule in force; naming a gate closes it."""
        rule = read_rule(body)
        with self._lock:
            self._rules.add(rule)
        if isinstance(gate := rule.changes.get("hold"), str):
            self._gates.close(gate)

    def release(self, gate: str | None, count: int | None) -> None:
        """Open a gate (all gates) for good, or let `count` requests pass it."""
        self._gates.release(gate, count)

    def reset(self) -> None:
        """Forget rules, counts and answers, and let everything go that is held."""
        with self._lock:
            self._rules.clear()
            self._record.reset()
            self._answers.clear()
            self._stored.clear()
        self._gates.release(None, None)
