"""Carry the tracker over HTTP/1.1: tasks below the path of each promise, and control routes for tests."""

import json
import threading
from urllib.parse import unquote

from onceward.local.loopback import Address, LoopbackHandler, LoopbackServer, as_json
from onceward.local.model.gates import CallerLeft, Gates
from onceward.local.tracker import NAME
from onceward.local.tracker.behaviours import Behaviour, Behaviours, UnreadableBehaviour
from onceward.local.tracker.tasks import PROMISES, Answer, Tasks


class TrackerServer(LoopbackServer):
    """The tasks, and what tests ask of it."""

    title = NAME

    def __init__(self, address: Address, tasks: Tasks) -> None:
        super().__init__(address, _Handler)
        self.tasks = tasks
        self.behaviours = Behaviours()
        self.gates = Gates()
        self.requests = 0
        self.lookups = 0
        self.held: dict[str, int] = {}
        self.lock = threading.Lock()


class _Handler(LoopbackHandler):
    server: TrackerServer
    server_version = NAME
    most_bytes = 1024 * 1024  # far above any task

    def do_GET(self) -> None:
        """Answer reads."""
        match self.path.strip("/").split("/"):
            case ["health"]:
                self._send(Answer(200, {"status": "ok", "name": NAME}))
            case ["_control", "effects"]:
                self._send(Answer(200, self.server.tasks.effects()))
            case ["_control", "counts"]:
                told = {"requests": self.server.requests, "lookups": self.server.lookups, "held": self.server.held}
                self._send(Answer(200, told))
            case [promise, "tasks", name] if promise in PROMISES:
                with self.server.lock:
                    self.server.lookups += 1
                self._send(self.server.tasks.find(promise, unquote(name)))
            case _:
                self._send(Answer(404, {"code": "unknown_url"}))

    def do_POST(self) -> None:
        """Make a task, or obey a test."""
        body = self.body()
        if body is None:
            self._send(Answer(413, {"code": "body_too_large"}))
            return
        raw = body.decode("utf-8", "replace")
        match self.path.strip("/").split("/"):
            case ["_control", verb]:
                self._send(self._control(verb, raw))
            case [promise, "tasks"] if promise in PROMISES:
                self._create(promise, raw)
            case _:
                self._send(Answer(404, {"code": "unknown_url"}))

    def _create(self, promise: str, raw: str) -> None:
        """Do the work between what a test wants before it and after it."""
        with self.server.lock:
            self.server.requests += 1
        asked = self.server.behaviours.spend(raw)
        try:
            given = json.loads(raw)
        except ValueError:
            given = None
        if not isinstance(given, dict):
            self._send(Answer(422, {"code": "unreadable_task"}))
            return
        try:
            if asked.stage == "before" and self._instead(asked):
                return
            answer = self.server.tasks.create(promise, given, self.headers.get("Idempotency-Key"))
            if asked.stage == "after" and self._instead(asked):
                return
        except CallerLeft:
            self.close_connection = True
            return
        self._send(answer)

    def _instead(self, asked: Behaviour) -> bool:
        """Wait, hang up or answer as asked; whether that ends the request."""
        if asked.hold is not None:
            self._hold(asked.hold)
        if asked.delay_s > 0:
            self.server.gates.pause(asked.delay_s, self.caller_left)
        if asked.drop:
            self.hang_up()
            return True
        if asked.status is not None:
            self._send(Answer(asked.status, {"code": "as_asked"}), retry_after=asked.retry_after)
            return True
        return False

    def _hold(self, gate: str) -> None:
        """Wait at a gate, counted."""
        with self.server.lock:
            self.server.held[gate] = self.server.held.get(gate, 0) + 1
        try:
            self.server.gates.pass_through(gate, self.caller_left)
        finally:
            with self.server.lock:
                self.server.held[gate] -= 1

    def _control(self, verb: str, raw: str) -> Answer:
        """Obey a test."""
        server = self.server
        try:
            body = json.loads(raw or "{}")
            match verb:
                case "behave":
                    made = server.behaviours.ask(body)
                    if made.hold is not None:
                        server.gates.close(made.hold)
                case "release":
                    server.gates.release(body.get("gate"), body.get("count"))
                case "reset":
                    server.behaviours.forget()
                    server.gates.release(None, None)
                    server.tasks.forget()
                    server.requests = server.lookups = 0
                case _:
                    return Answer(404, {"code": "unknown_url"})
        except (UnreadableBehaviour, ValueError, TypeError, AttributeError) as error:
            return Answer(400, {"code": "unreadable_control", "detail": str(error)})
        return Answer(200, {"ok": True})

    def _send(self, answer: Answer, *, retry_after: str | None = None) -> None:
        self.give(answer.status, as_json(answer.body), {} if retry_after is None else {"retry-after": retry_after})
