"""A way to the emulated AWS account on which answers get lost: microburst, a proxy that breaks what it is told to."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path

import httpx
import pytest

from onceward.local.cloud import LocalCloud
from onceward.local.environment import SYSTEM_PATH
from onceward.local.places import DEV_PROGRAMS
from onceward.local.server import LOOPBACK, NO_TLS, Server, free_port

PROXY = Path(__file__).with_name("lossy_proxy.py")
MANY = 1_000  # more than any outage meets


@dataclass(frozen=True, slots=True)
class LossyPath:
    """The proxy at ``url``; without a rule it passes everything on."""

    url: str

    def lose_answers(self, operation: str, times: int = 1, *, service: str = "dynamodb") -> None:
        """Let the next requests happen and close their connections instead of answering."""
        self._rule(service, operation, times, {"response": {"abort_bytes": 0}})

    def lose_requests(self, operation: str, times: int = 1, *, service: str = "dynamodb") -> None:
        """Close the next requests' connections before anything happens."""
        self._rule(service, operation, times, {"reset": True})

    @contextmanager
    def outage(self, service: str, **rule: object) -> Iterator[None]:
        """Let no request get an answer of a service while this lasts; ``rule``: only these, or answers of its own."""
        httpx.delete(f"{self.url}/_microburst/fired", trust_env=False, verify=NO_TLS).raise_for_status()
        self._rules({"service": service, "reset": "error" not in rule, **rule})
        try:
            yield
        finally:
            self._rules()

    def refused(self) -> int:
        """How many requests have met the present outage, or the last one."""
        answer = httpx.get(f"{self.url}/_microburst/fired", params={"limit": MANY}, trust_env=False, verify=NO_TLS)
        return len(answer.raise_for_status().json())

    def _rule(self, service: str, operation: str, times: int, what: dict[str, object]) -> None:
        self._rules({"service": service, "operation": operation, "times": times, **what})

    def _rules(self, *rules: dict[str, object]) -> None:
        """Put these rules in force, and no others."""
        httpx.post(f"{self.url}/_microburst/rules", json=rules, trust_env=False, verify=NO_TLS).raise_for_status()


@pytest.fixture(scope="module")
def lossy(ministack: LocalCloud, tmp_path_factory: pytest.TempPathFactory) -> Iterator[LossyPath]:
    """A proxy of this module's own before the session's account."""
    with lossy_path(ministack, tmp_path_factory.mktemp("lossy")) as path:
        yield path


@contextmanager
def lossy_path(cloud: LocalCloud, folder: Path) -> Iterator[LossyPath]:
    """Run a proxy before an emulated account."""
    port = free_port()
    command = [str(DEV_PROGRAMS / "python"), str(PROXY), "--upstream", cloud.endpoint_url, "--port", str(port)]
    server = Server(
        name="lossy",
        folder=folder,
        port=port,
        command=[*command, "--host", LOOPBACK],
        environment={"PATH": f"{DEV_PROGRAMS}:{SYSTEM_PATH}", "HOME": str(folder)},
        health="/_microburst/health",
    )
    server.start()
    try:
        yield LossyPath(server.url)
    finally:
        server.stop()
