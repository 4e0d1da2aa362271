"""Drive the stand-in model server as a separate process from tests: start it, steer it, ask it, end it."""

import json
import time
import urllib.error
import urllib.request
from collections.abc import Callable
from typing import Any
from urllib.parse import quote

from tests.support.server_process import ServerProcess

_POLL = 0.01  # seconds between two looks at a condition


class ModelServer(ServerProcess):
    """A running stand-in: `with ModelServer() as model: ...`."""

    def __init__(self, *options: str, port: int = 0, host: str = "127.0.0.1") -> None:
        super().__init__("onceward.local.model", "--host", host, *options, port=port)

    @property
    def base_url(self) -> str:
        """What an OpenAI-compatible client takes as its base address."""
        return f"{self.url}/v1"

    def behave(self, **rule: Any) -> None:
        """Put a rule in force; its fields are those of `Behaviour` and `Match`, `times` and `skip`."""
        self._call("POST", "/_control/behave", rule)

    def release(self, gate: str | None = None, count: int | None = None) -> None:
        """Open a gate (all, if None) for good, or let `count` requests pass it."""
        self._call("POST", "/_control/release", {"gate": gate, "count": count})

    def later(self, **wish: Any) -> None:
        """Steer work that is answered later: `forget`, `expire`, `lose=n` answers, `invalid=code`, `refuse=status`."""
        self._call("POST", "/_control/later", wish)

    def later_counts(self) -> dict[str, Any]:
        """Return how much work was taken that is answered later, and how often it was asked for."""
        counts: dict[str, Any] = self._call("GET", "/_control/later")[1]
        return counts

    def reset(self) -> None:
        """Forget rules, counts and answers; release what is held."""
        self._call("POST", "/_control/reset", {})

    def counts(self) -> dict[str, Any]:
        """Return requests, computations, replays, usage, `peak`, `in_flight`, `held`, `by_key`, `by_model`."""
        counts: dict[str, Any] = self._call("GET", "/_control/counts")[1]
        return counts

    def requests(self) -> list[dict[str, Any]]:
        """Return the requests seen, oldest first, without contents."""
        seen: list[dict[str, Any]] = self._call("GET", "/_control/requests")[1]
        return seen

    def look_up(self, key: str) -> dict[str, Any] | None:
        """Return the stored answer of a key, or None."""
        status, body = self._call("GET", f"/v1/lookup/{quote(key, safe='')}")
        return body if status == 200 else None

    def wait_for(self, timeout_s: float = 30.0, *, held: int | None = None, **at_least: int) -> dict[str, Any]:
        """Poll until each named count is reached (`requests=2`) and `held` requests wait; return the counts."""

        def reached(counts: dict[str, Any]) -> bool:
            enough = all(counts[name] >= number for name, number in at_least.items())
            return enough and (held is None or sum(counts["held"].values()) >= held)

        return self.wait_until(reached, timeout_s, f"{at_least} held={held}")

    def wait_idle(self, timeout_s: float = 30.0) -> dict[str, Any]:
        """Poll until no request is in flight; return the counts."""
        return self.wait_until(lambda counts: counts["in_flight"] == 0, timeout_s, "idle")

    def wait_until(self, reached: Callable[[dict[str, Any]], bool], timeout_s: float, wanted: str) -> dict[str, Any]:
        """Poll the counts until a condition holds; fail with the counts if it does not in time."""
        until = time.monotonic() + timeout_s
        while not reached(counts := self.counts()):
            if time.monotonic() > until:
                raise AssertionError(f"model server: {wanted} not reached in {timeout_s} s, counts are {counts}")
            time.sleep(_POLL)
        return counts

    def _call(self, method: str, path: str, body: Any = None) -> tuple[int, Any]:
        data = None if body is None else json.dumps(body).encode()
        request = urllib.request.Request(self.url + path, data=data, method=method)
        try:
            with urllib.request.urlopen(request, timeout=10) as response:
                return response.status, json.load(response)
        except urllib.error.HTTPError as error:
            answer = json.load(error)
            if error.code != 404:
                raise AssertionError(f"model server: {answer['error']['message']}") from None
            return error.code, answer
