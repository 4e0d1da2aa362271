"""A store that refuses everything, on the routes that are asked again and again; create has its own tests."""

from __future__ import annotations

from typing import Any, cast

import pytest

from onceward.adapters.memory.store import MemoryStore
from onceward.errors import StoreUnavailable
from onceward.usecases.ports import Store
from tests.support.api_world import ApiWorld, an_event, ask, claims_of
from tests.support.builders import JOB_ID


class ThrottledStore:
    """A store whose every request is refused for want of capacity."""

    def __init__(self, store: MemoryStore) -> None:
        self._store = store

    def __getattr__(self, name: str) -> Any:
        async def throttled(*_: object, **__: object) -> None:
            raise StoreUnavailable("dynamodb: ProvisionedThroughputExceededException")

        return throttled


@pytest.mark.parametrize(
    ("method", "path"),
    [
        ("GET", f"/api/ai/jobs/{JOB_ID}"),
        ("GET", "/api/ai/jobs"),
        ("POST", f"/api/ai/jobs/{JOB_ID}/cancel"),
        ("DELETE", f"/api/ai/jobs/{JOB_ID}"),
    ],
)
def test_a_throttled_store_is_503_with_the_time_to_come_back(method: str, path: str) -> None:
    """SQS-32: a partition that is asked too much is nobody's bug, and a poll knows when to come again."""
    world = ApiWorld(wrap_store=lambda store: cast("Store", ThrottledStore(store)))
    reply = ask(world.api(), an_event(method, path, claims=claims_of()))

    assert (reply.status, reply.json["code"]) == (503, "store_unavailable")
    assert reply.headers["retry-after"] == "2"
