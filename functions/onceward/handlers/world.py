"""What the routes are given: the stories' ports, and the loop that runs a story to its end."""

from __future__ import annotations

from collections.abc import Callable, Coroutine
from contextlib import AbstractContextManager
from typing import Any, Protocol

from onceward.usecases.submit_job import Intake


class World(Protocol):
    """One execution environment."""

    @property
    def intake(self) -> Intake:
        """The ports of the API's stories."""
        ...

    @property
    def run(self) -> Callable[[Coroutine[Any, Any, Any]], Any]:
        """Run a story on the environment's one loop."""
        ...

    def invocation(self) -> AbstractContextManager[None]:
        """The scope of one invocation: threads exist inside it only, and nothing is left when it ends."""
        ...
