"""Hold requests at named gates until a test releases them, and notice callers that hang up meanwhile."""

import threading
import time
from collections.abc import Callable

_GLANCE = 0.05  # seconds between two looks at whether the caller is still there


class CallerLeft(Exception):
    """The caller closed the connection while its request waited; nobody is there to answer."""


class Gates:
    """Named gates: closed ones hold, `release` opens one for good or hands out passes."""

    def __init__(self) -> None:
        self._changed = threading.Condition()
        self._closed: set[str] = set()
        self._passes: dict[str, int] = {}

    def close(self, gate: str) -> None:
        """Close a gate, also one that was opened before."""
        with self._changed:
            self._closed.add(gate)
            self._passes.pop(gate, None)

    def release(self, gate: str | None, count: int | None) -> None:
        """Open one gate (all, if None) for good, or let `count` requests, waiting or yet to come, pass it."""
        with self._changed:
            for name in [gate] if gate is not None else list(self._closed):
                if count is None:
                    self._closed.discard(name)
                else:
                    self._passes[name] = self._passes.get(name, 0) + count
            self._changed.notify_all()

    def pass_through(self, gate: str, caller_left: Callable[[], bool]) -> None:
        """Return when the gate is open or a pass is left; raise `CallerLeft` if the caller goes first."""
        with self._changed:
            while gate in self._closed:
                if self._passes.get(gate, 0) > 0:
                    self._passes[gate] -= 1
                    return
                self._changed.wait(_GLANCE)
                if caller_left():
                    raise CallerLeft

    def pause(self, seconds: float, caller_left: Callable[[], bool]) -> None:
        """Wait for a time, or raise `CallerLeft`."""
        until = time.monotonic() + seconds
        while (left := until - time.monotonic()) > 0:
            time.sleep(min(left, _GLANCE))
            if caller_left():
                raise CallerLeft
