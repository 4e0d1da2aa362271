"""Start, find again and stop one server on loopback that goes on after its starter has ended.

A server is a name, a folder and a port. What is known of it stands in the folder (``<name>.json``, ``<name>.log``),
so that ``make run`` finds the server of an earlier run and ``make stop`` ends it.
"""

import json
import socket
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from datetime import timedelta
from pathlib import Path
from ssl import PROTOCOL_TLS_CLIENT, SSLContext
from typing import Any

import httpx

from onceward.local.failure import LocalError
from onceward.local.programs import Program, start_program
from onceward.local.waiting import wait_until

LOOPBACK = "127.0.0.1"
NO_TLS = SSLContext(PROTOCOL_TLS_CLIENT)  # trusts nobody: plain HTTP needs none of the files that take 40 ms to read
START_LIMIT = timedelta(seconds=30)  # 1 s when the machine is idle; a cold disk on a busy one takes many times that


@dataclass(frozen=True, slots=True, kw_only=True)
class Server:
    """A server's place and how to start it; whether it runs is asked of the system each time."""

    name: str
    folder: Path
    port: int
    command: Sequence[str]
    environment: Mapping[str, str]
    health: str  # a path that answers with success once it is ready

    @property
    def url(self) -> str:
        """Where it answers."""
        return f"http://{LOOPBACK}:{self.port}"

    @property
    def log(self) -> Path:
        """Where it writes."""
        return self.folder / f"{self.name}.log"

    @property
    def identity(self) -> str:
        """Name the running process, so that a restart can be told; empty when none was started."""
        program = self._recorded()
        return f"{program.pid}:{program.mark}" if program else ""

    def is_running(self) -> bool:
        """Tell whether it runs and answers."""
        program = self._recorded()
        return program is not None and program.is_running() and answers(f"{self.url}{self.health}")

    def runs_elsewhere(self) -> int | None:
        """Tell at which other port the server of this place runs, if it does."""
        program, port = self._recorded(), self._recorded_port()
        return port if program is not None and program.is_running() and port != self.port else None

    def require_place(self) -> None:
        """Refuse a port that another program holds, before anything is stopped or started."""
        program = self._recorded()
        if program is None or not program.is_running() or self._recorded_port() != self.port:
            require_free(self.port, self.name)

    def start(self) -> bool:
        """Start it unless it runs; tell whether it was started. ``LocalError`` says what is in the way."""
        if self.is_running():
            return False
        self.require_place()
        self.stop()  # one that runs at another port, or answers no more
        require_free(self.port, self.name)
        self.folder.mkdir(parents=True, exist_ok=True)
        program = start_program(self.command, environment=self.environment, folder=self.folder, log=self.log)
        record = {"pid": program.pid, "mark": program.mark, "port": self.port}
        self._record_file.write_text(json.dumps(record), encoding="utf-8")
        wait_until(lambda: not program.is_running() or answers(f"{self.url}{self.health}"), START_LIMIT)
        if not self.is_running():
            self.stop()
            raise LocalError(f"{self.name} did not start; its last words are in {self.log}")
        return True

    def stop(self) -> bool:
        """End it and all that it started; tell whether it ran. Stopping twice is fine."""
        program = self._recorded()
        ran = program is not None and program.is_running()
        if program is not None:
            program.end()
        self._record_file.unlink(missing_ok=True)
        return ran

    @property
    def _record_file(self) -> Path:
        return self.folder / f"{self.name}.json"

    def _recorded(self) -> Program | None:
        """Find the process that this or an earlier run started."""
        record = self._record()
        return Program(pid=record["pid"], mark=record["mark"]) if record else None

    def _recorded_port(self) -> int:
        """Say where that process listens; one that was recorded without its port is taken to listen here."""
        port: int = self._record().get("port", self.port)
        return port

    def _record(self) -> dict[str, Any]:
        """Read what was written at the start; empty when nothing was started."""
        try:
            record: dict[str, Any] = json.loads(self._record_file.read_text(encoding="utf-8"))
        except FileNotFoundError:
            return {}
        return record


def answers(url: str) -> bool:
    """Tell whether an HTTP server answers there with success."""
    try:
        # The user's proxy has no part in what happens on loopback.
        return httpx.get(url, timeout=2, trust_env=False, verify=NO_TLS).is_success
    except httpx.TransportError:
        return False


def free_port() -> int:
    """Ask the system for a port that nobody listens on."""
    with socket.socket() as probe:
        probe.bind((LOOPBACK, 0))
        port: int = probe.getsockname()[1]
        return port


def require_free(port: int, wanted_by: str) -> None:
    """Refuse a port that another program holds, and say what to do."""
    with socket.socket() as probe:
        probe.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)  # a port in TIME_WAIT is free
        try:
            probe.bind((LOOPBACK, port))
        except PermissionError as error:
            raise LocalError(f"port {port} is for administrators only: choose one above 1023") from error
        except OSError as error:
            raise LocalError(
                f"port {port}, wanted by the {wanted_by}, is in use by another program: "
                f"end that program, or choose another port with `make run PORT={free_port()}`"
            ) from error
