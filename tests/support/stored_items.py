"""What older code stored, read into today's store in memory: items as DynamoDB types them, frozen in files.

``stored/`` has whole tables, ``stored_states/`` a small world for each state that a job can be left in, by its name,
``stored_limits/`` what a deployment keeps beside its jobs: tallies, switches and circuit breakers. A file is what the
code of its time wrote, by running, and is never made anew; later code adds a file beside it.
"""

from __future__ import annotations

import base64
import json
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from onceward.adapters.dynamodb.account_codec import from_account, from_entry
from onceward.adapters.dynamodb.cold_codec import from_cold
from onceward.adapters.dynamodb.row_codec import from_row
from onceward.adapters.memory.store import MemoryStore
from onceward.domain.due import shard_of_row
from onceward.domain.names import CoalesceKey, JobId, TenantId

STATES = Path(__file__).with_name("stored_states")
LIMITS = Path(__file__).with_name("stored_limits")


def as_stored(typed: Any) -> Any:
    """Bytes stand in base64, as in the events of a stream."""
    match typed:
        case {"B": str() as text}:
            return {"B": base64.b64decode(text)}
        case dict():
            return {name: as_stored(value) for name, value in typed.items()}
        case list():
            return [as_stored(value) for value in typed]
        case _:
            return typed


def stored_states(name: str) -> Mapping[str, Mapping[str, Any]]:
    """All worlds of one file."""
    read: dict[str, Any] = as_stored(json.loads((STATES / name).read_text(encoding="utf-8")))
    return read


def stored_limits(name: str) -> list[Mapping[str, Any]]:
    """The items of the accounts table of one file, as DynamoDB types them."""
    read: list[Mapping[str, Any]] = as_stored(json.loads((LIMITS / name).read_text(encoding="utf-8")))["accounts"]
    return read


def load(store: MemoryStore, state: Mapping[str, Any]) -> None:
    """Put one world's items into an empty store, as today's code reads them."""
    for item in state["jobs"]:
        if item["sk"]["S"] == "job":
            row = from_row(item)
            place = (row.tenant_id, row.identity)
            store.rows[place], store.shards[place] = row, shard_of_row(row)
            continue
        cold = from_cold(item)
        assert cold is not None, item
        store.items.setdefault((cold.tenant_id, cold.job_id), {})[cold.sort_key] = cold
    for item in state["accounts"]:
        tenant = TenantId(item["pk"]["S"].removeprefix("account#"))
        if "verb" in item:
            entry = from_entry(tenant, item)
            store.entries[tenant, entry.name] = entry
        else:
            store.accounts[tenant] = from_account(tenant, item)
    for item in state["flights"]:
        tenant, _, key = item["pk"]["S"].partition("#")
        if "flight" in item:
            store.flights[TenantId(tenant), CoalesceKey(key)] = JobId(item["flight"]["S"])
        else:
            store.open_flights[TenantId(tenant)] = int(item["open"]["N"])
