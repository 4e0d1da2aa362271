"""The flights table: which flight works under a coalesce key, and how many of a tenant's are under way.

A pointer is replaced, never removed: it names a flight whose own row says whether it can still be joined.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, Final

from onceward.adapters.dynamodb.expressions import Placeholders
from onceward.adapters.dynamodb.keys import flight_key, open_flights_key
from onceward.adapters.dynamodb.table import Access
from onceward.adapters.dynamodb.values import Plain, to_item
from onceward.adapters.instants import to_expiry
from onceward.domain.job import SCHEMA_VERSION
from onceward.domain.names import CoalesceKey, JobId, TenantId
from onceward.domain.transaction import CountFlight, PointFlight

FLIGHT: Final = "flight"
OPEN: Final = "open"


@dataclass(frozen=True, slots=True)
class Flights:
    """What is not part of a job's transaction."""

    access: Access

    async def get(self, tenant_id: TenantId, key: CoalesceKey) -> JobId | None:
        """One consistent read."""
        reply = await self.access.call(
            self.access.client.get_item,
            TableName=self.access.tables.flights,
            Key=flight_key(tenant_id, key),
            ConsistentRead=True,
        )
        return JobId(reply["Item"][FLIGHT]["S"]) if "Item" in reply else None


def point_arguments(point: PointFlight) -> dict[str, Any]:
    """Put a pointer where none is, or over the one that was seen."""
    terms = Placeholders()
    plain: dict[str, Plain] = {
        FLIGHT: point.flight,
        "expires_at": to_expiry(point.expires_at),
        "schema_version": SCHEMA_VERSION,
    }
    free = "attribute_not_exists(pk)"
    if point.seen is not None:
        free = f"{free} OR {terms.name(FLIGHT)} = {terms.value(point.seen)}"
    item = flight_key(point.tenant_id, point.key) | to_item(plain)
    return {"Item": item, "ConditionExpression": free, **terms.arguments()}


def count_arguments(count: CountFlight) -> dict[str, Any]:
    """Move a tenant's count; only upwards there is a limit."""
    terms = Placeholders()
    counted = terms.name(OPEN)
    clause = f"SET schema_version = {terms.value(SCHEMA_VERSION)} ADD {counted} {terms.value(count.step)}"
    limit = {}
    if count.step > 0:
        room = f"{counted} < {terms.value(count.most)}"  # of an absent count: false, and right where none are allowed
        limit["ConditionExpression"] = f"attribute_not_exists({counted}) OR {room}" if count.most > 0 else room
    return {"Key": open_flights_key(count.tenant_id), "UpdateExpression": clause, **limit, **terms.arguments()}
