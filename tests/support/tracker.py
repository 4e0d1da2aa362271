"""Drive the demonstration tracker as a separate process from tests: start it, steer it, ask its log, end it."""

from __future__ import annotations

from pathlib import Path
from typing import Any, Self

import httpx

from onceward.local.server import NO_TLS
from tests.support.server_process import ServerProcess


class Tracker(ServerProcess):
    """A running tracker: ``with Tracker(folder) as tracker: ...``."""

    def __init__(self, folder: Path) -> None:
        super().__init__("onceward.local.tracker", "--database", str(folder / "tracker.sqlite"))

    def __enter__(self) -> Self:
        super().__enter__()
        self._http = httpx.Client(base_url=self.url, trust_env=False, verify=NO_TLS, timeout=10)
        return self

    def stop(self) -> None:
        """End the process."""
        self._http.close()
        super().stop()

    def behave(self, **asked: Any) -> None:
        """Put a behaviour in force; its fields are those of ``Behaviour``."""
        self._control("behave", asked)

    def release(self, gate: str | None = None) -> None:
        """Open a gate (all, if ``None``)."""
        self._control("release", {"gate": gate})

    def reset(self) -> None:
        """Forget tasks, log and behaviours; release what is held."""
        self._control("reset", {})

    def effects(self, ticket: str | None = None) -> list[dict[str, Any]]:
        """The witness: every side effect, of one ticket if asked."""
        told: list[dict[str, Any]] = self._http.get("/_control/effects").raise_for_status().json()
        return [one for one in told if ticket is None or one["source_ticket"] == ticket]

    def counts(self) -> dict[str, Any]:
        """How many requests and lookups came, and what is held."""
        told: dict[str, Any] = self._http.get("/_control/counts").raise_for_status().json()
        return told

    def create(self, promise: str, given: dict[str, Any], key: str | None = None) -> httpx.Response:
        """Ask for a task directly."""
        headers = {} if key is None else {"idempotency-key": key}
        return self._http.post(f"/{promise}/tasks", json=given, headers=headers)

    def find(self, promise: str, name: str) -> httpx.Response:
        """Look a task up directly."""
        return self._http.get(f"/{promise}/tasks/{name}")

    def _control(self, verb: str, body: dict[str, Any]) -> None:
        self._http.post(f"/_control/{verb}", json=body).raise_for_status()
