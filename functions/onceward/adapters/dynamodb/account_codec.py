"""The stored form of accounts, of the lines of their books, of tallies and switches, and how writes are spelled.

Attributes are called like the fields; the tenant is in the key. Accounts and entries never expire, tallies do.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, Final

from onceward.adapters.dynamodb.expressions import Placeholders
from onceward.adapters.dynamodb.keys import account_key, entry_key, switches_key, tally_key
from onceward.adapters.dynamodb.values import Item, Plain, to_item
from onceward.adapters.instants import from_ms, to_expiry, to_ms
from onceward.domain.job import SCHEMA_VERSION
from onceward.domain.ledger import Account, AccountChange, Entry, Verb
from onceward.domain.names import JobId, TenantId
from onceward.domain.tally import Tally

PARTS: Final = ("granted", "available", "reserved", "captured")


def from_account(tenant_id: TenantId, item: Mapping[str, Mapping[str, Any]]) -> Account:
    """The account of an item."""
    most = item.get("most_in_flight")
    return Account(
        tenant_id=tenant_id,
        **{part: int(item[part]["N"]) for part in PARTS},
        in_flight=int(item["in_flight"]["N"]) if "in_flight" in item else 0,
        most_in_flight=None if most is None else int(most["N"]),
    )


def to_entry(entry: Entry) -> Item:
    """A whole line with its key; the line's name is the key, so it can exist once."""
    plain: dict[str, Plain] = {
        "job_id": entry.job_id,
        "epoch": entry.epoch,
        "verb": str(entry.verb),
        "micro_usd": entry.micro_usd,
        "at": to_ms(entry.at),
        "schema_version": SCHEMA_VERSION,
    }
    return entry_key(entry.tenant_id, entry.name) | to_item(plain)


def from_entry(tenant_id: TenantId, item: Mapping[str, Mapping[str, Any]]) -> Entry:
    """The line of an item."""
    return Entry(
        tenant_id=tenant_id,
        job_id=JobId(item["job_id"]["S"]),
        epoch=int(item["epoch"]["N"]),
        verb=Verb(item["verb"]["S"]),
        micro_usd=int(item["micro_usd"]["N"]),
        at=from_ms(int(item["at"]["N"])),
    )


def count_arguments(tally: Tally) -> dict[str, Any]:
    """Count one more, unless the tally is full; the first one makes it."""
    terms = Placeholders()
    counted, one = terms.name("counted"), terms.value(1)
    version = f"schema_version = {terms.value(SCHEMA_VERSION)}"
    expiry = f"{terms.name('expires_at')} = {terms.value(to_expiry(tally.expires_at))}"
    return {
        "Key": tally_key(tally),
        "UpdateExpression": f"SET {version}, {expiry} ADD {counted} {one}",
        "ConditionExpression": f"attribute_not_exists({counted}) OR {counted} < {terms.value(tally.most)}",
        **terms.arguments(),
    }


def from_switches(item: Mapping[str, Mapping[str, Any]]) -> frozenset[str]:
    """What is off; DynamoDB knows no empty set, so the attribute may be absent."""
    return frozenset(item.get("off", {}).get("SS", ()))


def switch_arguments(name: str, *, is_on: bool) -> dict[str, Any]:
    """Put a name into what is off, or take it out; the first one makes the item."""
    terms = Placeholders()
    version = f"schema_version = {terms.value(SCHEMA_VERSION)}"
    clause = f"{'DELETE' if is_on else 'ADD'} {terms.name('off')} :switch"
    arguments = terms.arguments()
    arguments["ExpressionAttributeValues"] = {**arguments["ExpressionAttributeValues"], ":switch": {"SS": [name]}}
    return {"Key": switches_key(), "UpdateExpression": f"SET {version} {clause}", **arguments}


def move_arguments(change: AccountChange) -> dict[str, Any]:
    """Move amounts of an account that exists; no part that shrinks may fall below zero."""
    terms = Placeholders()
    amounts = {"available": change.available, "reserved": change.reserved, "captured": change.captured}
    moved = {part: amount for part, amount in amounts.items() if amount}
    enough = [f"{terms.name(part)} >= {terms.value(-amount)}" for part, amount in moved.items() if amount < 0]
    if change.is_capped:
        most = terms.name("most_in_flight")
        enough.append(f"(attribute_not_exists({most}) OR {terms.name('in_flight')} < {most})")
    if change.in_flight:
        moved["in_flight"] = change.in_flight
    adds = [f"{terms.name(part)} {terms.value(amount)}" for part, amount in moved.items()]
    # A move of nothing is still a write: the account must be there all the same.
    clause = f"ADD {', '.join(adds)}" if adds else f"SET schema_version = {terms.value(SCHEMA_VERSION)}"
    return {
        "Key": account_key(change.tenant_id),
        "UpdateExpression": clause,
        "ConditionExpression": " AND ".join(("attribute_exists(pk)", *enough)),
        **terms.arguments(),
    }


def limit_arguments(tenant_id: TenantId, most: int | None) -> dict[str, Any]:
    """Say how many jobs may be in flight on an account that exists; the count is there from then on."""
    terms = Placeholders()
    count, limit = terms.name("in_flight"), terms.name("most_in_flight")
    counted = f"SET {count} = if_not_exists({count}, {terms.value(0)})"
    clause = f"{counted} REMOVE {limit}" if most is None else f"{counted}, {limit} = {terms.value(most)}"
    return {
        "Key": account_key(tenant_id),
        "UpdateExpression": clause,
        "ConditionExpression": "attribute_exists(pk)",
        **terms.arguments(),
    }


def grant_arguments(tenant_id: TenantId, micro_usd: int) -> dict[str, Any]:
    """Add to what may be spent, and open the account if there is none: adding to what is absent begins at zero."""
    terms = Placeholders()
    amounts = {"granted": micro_usd, "available": micro_usd, "reserved": 0, "captured": 0}
    adds = [f"{terms.name(part)} {terms.value(amounts[part])}" for part in PARTS]
    version = f"SET schema_version = {terms.value(SCHEMA_VERSION)}"
    return {
        "Key": account_key(tenant_id),
        "UpdateExpression": f"{version} ADD {', '.join(adds)}",
        **terms.arguments(),
    }
