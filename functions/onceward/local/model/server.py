"""Carry the stand-in over HTTP/1.1: the APIs' routes, the control routes, and connections that end badly on request."""

import json
from urllib.parse import parse_qsl, unquote, urlsplit

from onceward.local.loopback import Address, LoopbackHandler, LoopbackServer
from onceward.local.model import STAND_IN_MODEL, STAND_IN_NOTICE
from onceward.local.model.behaviours import UnreadableBehaviour
from onceward.local.model.chat import error_body, model_list
from onceward.local.model.converse import PLACE, serve_converse
from onceward.local.model.file_batches import BATCHES, FILES, FileBatches
from onceward.local.model.later import Later
from onceward.local.model.messages import serve_messages
from onceward.local.model.stand_in import Reply, StandIn, json_reply

_LOOKUP = "/v1/lookup/"
_RESPONSES = "/v1/responses"
_MESSAGE_BATCHES = "/v1/messages/batches"
_HEALTH = {"status": "ok", "model": STAND_IN_MODEL, "notice": STAND_IN_NOTICE}


class ModelServer(LoopbackServer):
    """The stand-in, and what it keeps for those whom it answers later."""

    title = STAND_IN_MODEL

    def __init__(self, address: Address, stand_in: StandIn) -> None:
        super().__init__(address, _Handler)
        self.stand_in = stand_in
        self.later = Later(stand_in)
        self.file_batches = FileBatches(self.later)


class _Handler(LoopbackHandler):
    server: ModelServer
    server_version = STAND_IN_MODEL
    most_bytes = 64 * 1024 * 1024  # far above any prompt a job may hold

    def do_GET(self) -> None:
        """Answer reads."""
        path = urlsplit(self.path).path
        stand_in = self.server.stand_in
        if path.startswith(_LOOKUP):
            self._send(stand_in.look_up(unquote(path.removeprefix(_LOOKUP))))
            return
        if (read := self._read_later(path)) is not None:
            self._send(read)
            return
        match path:
            case "/health":
                self._send(json_reply(200, _HEALTH))
            case "/v1/models":
                self._send(json_reply(200, model_list()))
            case "/v1/chat/completions":
                named = dict(parse_qsl(urlsplit(self.path).query))
                wanted = {name[9:-1]: value for name, value in named.items() if name.startswith("metadata[")}
                self._send(stand_in.stored(wanted))
            case "/_control/later":
                self._send(json_reply(200, self.server.later.counts() | self.server.file_batches.counts()))
            case "/_control/counts":
                self._send(json_reply(200, stand_in.counts()))
            case "/_control/requests":
                self._send(json_reply(200, stand_in.requests()))
            case _:
                self._send(_unknown_path())

    def do_POST(self) -> None:
        """Answer completions and control requests."""
        raw = self.body()
        if raw is None:
            self._send(json_reply(413, error_body("The body needs a length below 64 MiB.", "invalid_request_error")))
            return
        path = urlsplit(self.path).path
        headers = {name.lower(): value for name, value in self.headers.items()}
        stand_in = self.server.stand_in
        if path == "/v1/chat/completions":
            self._send(stand_in.chat(raw, headers, self.caller_left))
        elif path == "/v1/messages":
            self._send(serve_messages(stand_in, raw, headers, self.caller_left))
        elif (converse := PLACE.fullmatch(path)) is not None:
            self._send(serve_converse(stand_in, converse["model"], raw, headers, self.caller_left))
        elif path.startswith((_RESPONSES, _MESSAGE_BATCHES, BATCHES, FILES)):
            self._send(self._post_later(path, raw, headers))
        elif path.startswith("/_control/"):
            self._send(self._control(path.removeprefix("/_control/"), raw))
        else:
            self._send(_unknown_path())

    def do_DELETE(self) -> None:
        """Delete what is kept of work that was answered later."""
        path = unquote(urlsplit(self.path).path)
        later = self.server.later
        if path.startswith(FILES):
            self._send(self.server.file_batches.delete(path))
        elif path.startswith(_MESSAGE_BATCHES):
            self._send(later.delete_batch(path.removeprefix(f"{_MESSAGE_BATCHES}/")))
        elif path.startswith(_RESPONSES):
            self._send(later.delete_response(path.removeprefix(f"{_RESPONSES}/")))
        else:
            self._send(_unknown_path())

    def _read_later(self, path: str) -> Reply | None:
        """Answer reads of work that is answered later; `None`: the path is another."""
        later = self.server.later
        if path.startswith((BATCHES, FILES)):
            return self.server.file_batches.get(unquote(path))
        if path.startswith(f"{_RESPONSES}/"):
            return later.response(unquote(path.removeprefix(f"{_RESPONSES}/")))
        if path == _MESSAGE_BATCHES:
            return later.batches()
        if path.startswith(f"{_MESSAGE_BATCHES}/"):
            name, _, rest = path.removeprefix(f"{_MESSAGE_BATCHES}/").partition("/")
            return later.results(unquote(name)) if rest == "results" else later.batch(unquote(name))
        return None

    def _post_later(self, path: str, raw: bytes, headers: dict[str, str]) -> Reply:
        """Take such work, or cancel it."""
        later = self.server.later
        if path.startswith((BATCHES, FILES)):
            return self.server.file_batches.post(unquote(path), raw, headers)
        if path == _RESPONSES:
            return later.submit_response(raw, headers)
        if path == _MESSAGE_BATCHES:
            return later.submit_batch(raw, headers)
        name, _, verb = path.removeprefix(_MESSAGE_BATCHES).removeprefix(_RESPONSES).strip("/").partition("/")
        if verb != "cancel":
            return _unknown_path()
        return later.cancel_batch(name) if path.startswith(_MESSAGE_BATCHES) else later.cancel_response(name)

    def _control(self, verb: str, raw: bytes) -> Reply:
        stand_in = self.server.stand_in
        try:
            body = json.loads(raw or b"{}")
            match verb:
                case "behave":
                    stand_in.behave(body)
                case "release":
                    stand_in.release(body.get("gate"), body.get("count"))
                case "later":
                    self.server.later.control(body)
                    if body.get("forget"):
                        self.server.file_batches.clear()
                case "reset":
                    stand_in.reset()
                    self.server.later.clear()
                    self.server.file_batches.clear()
                case _:
                    return _unknown_path()
        except (UnreadableBehaviour, ValueError, TypeError, AttributeError) as error:
            return json_reply(400, error_body(f"unreadable control request: {error}", "invalid_request_error"))
        return json_reply(200, {"ok": True})

    def _send(self, reply: Reply) -> None:
        if reply.drop in ("close", "reset"):
            self.hang_up(abruptly=reply.drop == "reset")
            return
        cut = -(-len(reply.body) // 2) if reply.drop == "partial" else 0
        self.give(reply.status, reply.body, reply.headers, cut=cut)


def _unknown_path() -> Reply:
    return json_reply(404, error_body("Unknown request URL.", "invalid_request_error", code="unknown_url"))
