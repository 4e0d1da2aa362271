"""Where everything is in the tables: primary keys, and the keys of the two indexes.

======================  =============================  =========================
what                    ``pk``                         ``sk``
======================  =============================  =========================
job row                 ``{tenant_id}#{identity}``     ``job``
cold item               ``{tenant_id}#{job_id}``       its own ``sort_key``
account                 ``account#{tenant_id}``        ``account``
entry                   ``account#{tenant_id}``        ``entry#{entry.name}``
tally                   ``tally#{tenant_id}``          ``{tally.name}``
switches                ``switches``                   ``switches``
circuit breaker         ``breakers``                   ``{name}``
machine client          ``client#{client_id}``         ``client``
flight of a key         ``{tenant_id}#{key}``          ``flight``
flights under way       ``{tenant_id}``                ``open``
======================  =============================  =========================

The tenant comes first in every key, so that no read can leave its tenant. A row lies under its identity, alone: a
second life of a key replaces it. Cold items lie under the whole job id, so that lives never meet. What a function may
touch of the accounts table is granted by the prefixes of its keys (``infra/grants.py``).
"""

from __future__ import annotations

from collections.abc import Mapping
from datetime import datetime
from typing import Any, Final

from onceward.adapters.dynamodb.values import Item, to_item
from onceward.adapters.instants import from_ms, to_ms
from onceward.domain.names import IDENTITY_LENGTH, CoalesceKey, Identity, JobId, TenantId, identity_of
from onceward.domain.tally import Tally

ROW_SK: Final = "job"  # by which a reader of the stream tells rows from items
ACCOUNT_SK: Final = "account"
BREAKERS_PK: Final = "breakers"
DUE_INDEX: Final = "due"
TENANT_INDEX: Final = "by_tenant"


def row_key(tenant_id: TenantId, identity: Identity) -> Item:
    """The primary key of a job's row."""
    return to_item({"pk": f"{tenant_id}#{identity}", "sk": ROW_SK})


def cold_pk(tenant_id: TenantId, job_id: JobId) -> str:
    """The partition of everything beside a job's row."""
    return f"{tenant_id}#{job_id}"


def cold_key(tenant_id: TenantId, job_id: JobId, sort_key: str) -> Item:
    """The primary key of a cold item."""
    return to_item({"pk": cold_pk(tenant_id, job_id), "sk": sort_key})


def account_key(tenant_id: TenantId) -> Item:
    """The primary key of a tenant's account."""
    return to_item({"pk": f"account#{tenant_id}", "sk": ACCOUNT_SK})


def entry_key(tenant_id: TenantId, entry_name: str) -> Item:
    """The primary key of one line of a tenant's book."""
    return to_item({"pk": f"account#{tenant_id}", "sk": f"entry#{entry_name}"})


def entry_range(tenant_id: TenantId, prefix: str) -> Item:
    """What a query for the lines under a prefix compares ``pk`` and ``sk`` with."""
    return to_item({":pk": f"account#{tenant_id}", ":sk": f"entry#{prefix}"})


def tally_key(tally: Tally) -> Item:
    """The primary key of a tally; its partition is its own, so that counting never meets a settle."""
    return to_item({"pk": f"tally#{tally.tenant_id}", "sk": tally.name})


def switches_key() -> Item:
    """The primary key of the one item that says what is switched off, for all tenants."""
    return to_item({"pk": "switches", "sk": "switches"})


def breaker_key(name: str) -> Item:
    """The primary key of a circuit breaker, by its provider and model."""
    return to_item({"pk": BREAKERS_PK, "sk": name})


def client_key(client_id: str) -> Item:
    """The primary key of what a machine client may do, and for which tenant."""
    return to_item({"pk": f"client#{client_id}", "sk": "client"})


def flight_key(tenant_id: TenantId, key: CoalesceKey) -> Item:
    """The primary key of what tells which flight works under a coalesce key."""
    return to_item({"pk": f"{tenant_id}#{key}", "sk": "flight"})


def open_flights_key(tenant_id: TenantId) -> Item:
    """The primary key of the count of a tenant's flights under way."""
    return to_item({"pk": tenant_id, "sk": "open"})


def created_key(created_at: datetime, job_id: JobId) -> str:
    """The order of a tenant's list: by creation; the job's own suffix tells apart what one millisecond made."""
    return f"{to_ms(created_at):013d}{job_id[IDENTITY_LENGTH:]}"


def tenant_index_key(tenant_id: TenantId, created_at: datetime, job_id: JobId) -> Item:
    """The place of a job in its tenant's list, as a query's start."""
    index = to_item({"tenant_id": tenant_id, "created_key": created_key(created_at, job_id)})
    return row_key(tenant_id, identity_of(job_id)) | index


def owner_of(item: Mapping[str, Mapping[str, Any]]) -> tuple[TenantId, str]:
    """The tenant, and the identity or job id, that a key's ``pk`` names; a tenant's name holds no ``#``."""
    pk: str = item["pk"]["S"]
    tenant_id, _, name = pk.partition("#")
    return TenantId(tenant_id), name


def listed_job(item: Mapping[str, Mapping[str, Any]]) -> tuple[datetime, JobId]:
    """When a job of a tenant's list was created, and its id: both from the index's keys alone."""
    _, identity = owner_of(item)
    created: str = item["created_key"]["S"]
    return from_ms(int(created[:13])), JobId(identity + created[13:])
