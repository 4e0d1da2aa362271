"""Circuit breakers in the accounts table: one small item each, under one partition key, so that all can be listed."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, Final

from botocore.exceptions import ClientError

from onceward.adapters.dynamodb.keys import BREAKERS_PK, breaker_key
from onceward.adapters.dynamodb.parts_codec import instant
from onceward.adapters.dynamodb.shapes import Column, Shape
from onceward.adapters.dynamodb.table import Access
from onceward.adapters.dynamodb.values import Item, Plain, to_item
from onceward.domain.breaking import Breaker
from onceward.domain.job import SCHEMA_VERSION


def _to_count(number: int) -> Plain | None:
    """None is nothing stored."""
    return number or None


SHAPE: Final = Shape(
    Breaker,
    {
        "name": Column("name"),
        "token": Column("token"),
        "streak": Column("streak", _to_count),
        "failed_at": instant("failed_at"),
        "opened_at": instant("opened_at"),
        "openings": Column("openings", _to_count),
        "probe_at": instant("probe_at"),
        "successes": Column("successes", _to_count),
    },
)


@dataclass(frozen=True, slots=True)
class BreakerItems:
    """The breakers of one deployment."""

    access: Access

    async def get(self, name: str) -> Breaker | None:
        """One consistent read."""
        reply = await self.access.call(
            self.access.client.get_item,
            TableName=self.access.tables.accounts,
            Key=breaker_key(name),
            ConsistentRead=True,
        )
        return from_breaker(reply["Item"]) if "Item" in reply else None

    async def put(self, breaker: Breaker, seen: str | None) -> bool:
        """One conditional put; who saw another state is refused."""
        given = {} if seen is None else {"ExpressionAttributeValues": to_item({":seen": seen})}
        # ``token`` is a reserved word of the service.
        named = {} if seen is None else {"ExpressionAttributeNames": {"#token": "token"}}
        try:
            await self.access.call(
                self.access.client.put_item,
                TableName=self.access.tables.accounts,
                Item=to_breaker(breaker),
                ConditionExpression="attribute_not_exists(pk)" if seen is None else "#token = :seen",
                **given,
                **named,
            )
        except ClientError:
            return False
        return True

    async def list(self) -> tuple[Breaker, ...]:
        """One query: there are as many as models that ever failed."""
        reply = await self.access.call(
            self.access.client.query,
            TableName=self.access.tables.accounts,
            KeyConditionExpression="pk = :pk",
            ExpressionAttributeValues=to_item({":pk": BREAKERS_PK}),
            ConsistentRead=True,
        )
        return tuple(from_breaker(item) for item in reply["Items"])


def to_breaker(breaker: Breaker) -> Item:
    """A whole item with its key."""
    return breaker_key(breaker.name) | to_item({**SHAPE.to_plain(breaker), "schema_version": SCHEMA_VERSION})


def from_breaker(item: Mapping[str, Mapping[str, Any]]) -> Breaker:
    """The breaker of an item; what newer code added is left alone."""
    return SHAPE.from_item(item, is_lenient=int(item["schema_version"]["N"]) > SCHEMA_VERSION)
