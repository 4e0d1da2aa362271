"""The store of a worker that dies at one place: what it wrote before is there, and nothing after."""

from __future__ import annotations

from typing import Any

from onceward.adapters.memory.store import MemoryStore
from onceward.domain.records import Answer
from onceward.domain.states import CallState
from onceward.errors import StoreUnavailable
from tests.support.hooked_store import HookedStore


def dying_of_a_refusal(store: MemoryStore) -> Any:
    """It puts the item of a refusal, and that is the last thing it does."""
    dead = False

    async def put_cold(put: Any, item: Any, *more: Any) -> Any:
        nonlocal dead
        done = await put(item, *more)
        dead = isinstance(item, Answer) and item.state is CallState.FAILED
        if dead:
            raise StoreUnavailable("put, and nobody lives to hear of it")
        return done

    async def update_job(update: Any, *given: Any) -> Any:
        if dead:
            raise StoreUnavailable("nobody lives to ask")
        return await update(*given)

    return HookedStore(store, put_cold=put_cold, update_job=update_job)
