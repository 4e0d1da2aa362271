"""Wait for a condition, with a limit."""

import time
from collections.abc import Callable
from datetime import timedelta

PAUSE_SECONDS = 0.05  # short against anything waited for here, long enough to leave the processor to it


def wait_until(holds: Callable[[], bool], limit: timedelta, *, pause_seconds: float = PAUSE_SECONDS) -> bool:
    """Ask until it holds or the limit has passed; tell which. It is asked at least once."""
    end = time.monotonic() + limit.total_seconds()
    while not holds():
        if time.monotonic() >= end:
            return False
        time.sleep(pause_seconds)
    return True
