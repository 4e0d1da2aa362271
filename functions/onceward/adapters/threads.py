"""What an AWS adapter needs of threads: somewhere to block."""

from __future__ import annotations

from collections.abc import Callable
from typing import Protocol


class Threads(Protocol):
    """Runs blocking calls beside the event loop; whoever owns the invocation owns its threads and ends them."""

    async def call[Result](self, blocking: Callable[..., Result], /, **arguments: object) -> Result:
        """Run it in a thread and wait. A cancelled caller leaves at once; the call itself goes on to its end."""
        ...
