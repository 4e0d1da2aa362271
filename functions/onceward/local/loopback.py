"""What the servers of this machine have in common: how one starts and ends, and how it carries requests.

Standard library only: they are started as programs of their own, with nothing but Python.
"""

import argparse
import errno
import json
import os
import select
import signal
import socket
import struct
import sys
import threading
from collections.abc import Callable, Mapping
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Any

type Address = tuple[str, int]


class LoopbackServer(ThreadingHTTPServer):
    """One thread per connection: requests that are held must not stop others. ``title`` names it in its words."""

    daemon_threads = True
    block_on_close = False  # a request that is held must not hold the process
    request_queue_size = 512  # a burst of parallel jobs must not see refused connections
    title = ""

    @property
    def url(self) -> str:
        """The address with the port that the system chose."""
        return f"http://{self.server_address[0]!s}:{self.server_port}"

    def handle_error(self, request: Any, client_address: Any) -> None:  # noqa: ARG002 (the base class calls it)
        """Name an error by its class alone: a traceback could show what was sent. Callers that hang up are none."""
        error = sys.exception()
        if not isinstance(error, ConnectionError | TimeoutError):
            print(f"{self.title}: {type(error).__name__} while serving a request", file=sys.stderr, flush=True)


class LoopbackHandler(BaseHTTPRequestHandler):
    """One connection; ``most_bytes`` of a body are read, and none whose length is not told."""

    protocol_version = "HTTP/1.1"
    disable_nagle_algorithm = True
    wbufsize = -1  # headers and body leave in one piece
    most_bytes = 0

    def log_message(self, format: str, *args: Any) -> None:  # noqa: A002 (the name is the base class's)
        """Log nothing: paths hold keys."""

    def body(self) -> bytes | None:
        """Read the request's body; ``None``: it is too large, or nobody says how large, and the connection ends."""
        length = self.headers.get("Content-Length", "0")
        if "Transfer-Encoding" in self.headers or not length.isdecimal() or int(length) > self.most_bytes:
            self.close_connection = True
            return None
        return self.rfile.read(int(length))

    def give(self, status: int, body: bytes, headers: Mapping[str, str], *, cut: int = 0) -> None:
        """Answer with JSON, unless ``headers`` say otherwise; its last ``cut`` bytes are announced and not sent."""
        self.send_response(status)
        told = {"content-type": "application/json", **{name.lower(): value for name, value in headers.items()}}
        for name, value in {**told, "content-length": str(len(body))}.items():
            self.send_header(name, value)
        self.end_headers()
        self.wfile.write(body[: len(body) - cut])
        if cut:
            self.wfile.flush()
            self.hang_up()

    def hang_up(self, *, abruptly: bool = False) -> None:
        """End the connection without (the rest of) an answer: by FIN, or by RST."""
        self.close_connection = True
        if abruptly:
            self.connection.setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, struct.pack("ii", 1, 0))
            self.connection.close()
        else:
            self.connection.shutdown(socket.SHUT_RDWR)

    def caller_left(self) -> bool:
        """Whether the other end has closed the connection while its request is under way."""
        readable, _, _ = select.select([self.connection], [], [], 0)
        if not readable:
            return False
        try:
            peeked: bytes = self.connection.recv(1, socket.MSG_PEEK)
        except OSError:
            return True
        return peeked == b""


def as_json(body: Any) -> bytes:
    """Spell a body; escaped, as a prompt may hold half a surrogate pair."""
    return json.dumps(body).encode()


def make_parser(program: str, description: str) -> argparse.ArgumentParser:
    """Take the options that every such program has."""
    parser = argparse.ArgumentParser(prog=program, description=description)
    parser.add_argument("--host", default="127.0.0.1", help="loopback by default; there is no authentication")
    parser.add_argument("--port", type=int, required=True, help="0 lets the system choose; the ready line names it")
    parser.add_argument("--until-stdin-closes", action="store_true", help="end with the process that started it")
    return parser


def serve(make: Callable[[Address], LoopbackServer], options: argparse.Namespace, introduction: str) -> int:
    """Serve until TERM, INT or, if asked for, until standard input closes; print one line when ready."""
    try:
        server = make((options.host, options.port))
    except OSError as error:
        reason = "is in use" if error.errno == errno.EADDRINUSE else f"cannot be opened ({error.strerror})"
        print(f"port {options.port} on {options.host} {reason}: choose another with --port", file=sys.stderr)
        return 2

    def stop(*_: object) -> None:
        threading.Thread(target=server.shutdown).start()  # shutdown waits for the loop this handler interrupts

    signal.signal(signal.SIGTERM, stop)
    signal.signal(signal.SIGINT, stop)
    if options.until_stdin_closes:
        threading.Thread(target=_stop_at_end_of_input, args=(stop,), daemon=True).start()
    print(f"{introduction} listens on {server.url}", flush=True)
    with server:
        server.serve_forever(poll_interval=0.1)
    return 0


def _stop_at_end_of_input(stop: Callable[[], None]) -> None:
    """Wait for the other end of the pipe to go; unbuffered, as a buffer's lock would be held at exit."""
    while os.read(sys.stdin.fileno(), 4096):
        pass
    stop()
