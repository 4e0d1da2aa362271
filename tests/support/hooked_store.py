"""A worker's store into whose calls a test steps: before one, after it, or instead of it."""

from __future__ import annotations

from collections.abc import Awaitable, Callable
from functools import partial
from typing import Any

from onceward.adapters.memory.store import MemoryStore

type Hook = Callable[..., Awaitable[Any]]


class HookedStore:
    """The world's store; a hook is given the real method and its arguments, and answers in its place."""

    def __init__(self, store: MemoryStore, **hooks: Hook) -> None:
        """``hooks`` by the names of the port's methods."""
        self._store = store
        self._hooks = hooks

    def __getattr__(self, name: str) -> Any:
        """The store's own, or the test's."""
        method = getattr(self._store, name)
        hook = self._hooks.get(name)
        return method if hook is None else partial(hook, method)
