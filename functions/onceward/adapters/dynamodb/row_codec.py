"""The one table of a job row's attributes: every field, its short stored name and its stored form.

The row is written a dozen times in a job's life and each started KB is paid for, so names are short and what is absent
is not stored. Long names are those that the table itself knows: its keys, the indexes' keys, and TTL's.
Newer code may add attributes and values of enumerations; it never drops or retypes one that is required here.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from typing import Any, Final

from onceward.adapters.dynamodb.keys import created_key, owner_of, row_key
from onceward.adapters.dynamodb.parts_codec import (
    ATTEMPT,
    RESULT_REF,
    from_accepted,
    from_cost,
    from_digest,
    from_open,
    instant,
    to_accepted,
    to_cost,
    to_digest,
    to_open,
)
from onceward.adapters.dynamodb.shapes import Column, Shape
from onceward.adapters.dynamodb.values import Item, Plain, to_item
from onceward.adapters.instants import from_expiry, to_expiry
from onceward.domain.due import shard_of_row
from onceward.domain.job import FLIGHT_SCHEMA, Job, OpenCall
from onceward.domain.names import IDENTITY_LENGTH, DownstreamKey, Fingerprint, JobId
from onceward.domain.states import JobState, ProviderCancel, WaitingFor


def _to_provider_cancel(said: ProviderCancel) -> Plain | None:
    """Nothing asked is nothing stored."""
    return None if said is ProviderCancel.NONE else str(said)


def _to_count(number: int) -> Plain | None:
    """None is nothing stored, so that a row of older code, which never counted, compares as one that counted none."""
    return number or None


def _to_mark(is_so: bool) -> Plain | None:  # noqa: FBT001 - a column's encoder takes the field's value
    """A number where it is so, nothing where it is not."""
    return 1 if is_so else None


def _from_digest(stored: str | bytes) -> Fingerprint:
    """The fingerprint as it was computed."""
    return Fingerprint(from_digest(stored))


def _to_suffix(job_id: JobId) -> Plain:
    """What tells this life of a key from others under the same identity."""
    return job_id[IDENTITY_LENGTH:]


COLUMNS: Final[Mapping[str, Column]] = {
    "tenant_id": Column("tenant_id"),
    "job_id": Column("j", _to_suffix),  # the rest is in the key
    "create_token": Column("ct"),
    "fingerprint": Column("f", to_digest, _from_digest),
    "kind": Column("k"),
    "kind_version": Column("kv"),
    "schema_version": Column("schema_version"),
    "created_at": instant("ca"),
    "created_by": Column("cb"),
    "deadline_at": instant("dl"),
    "expires_at": Column("expires_at", to_expiry, from_expiry),
    "traceparent": Column("tp"),
    "seq": Column("n"),
    "journals": Column("v", _to_count),
    # A state that only newer code knows: not terminal, and not free for this code.
    "state": Column("s", str, JobState, unreadable=JobState.RUNNING),
    "waiting_for": Column("w", str, WaitingFor),
    "wake_at": instant("wa"),
    "due": instant("due"),
    "review_until": instant("ru"),
    "epoch": Column("e"),
    "attempts": Column("a"),
    "lost": Column("l"),
    "run_token": Column("t"),
    "lease_until": instant("lu"),
    "attempt": Column("p", ATTEMPT.to_plain, ATTEMPT.from_plain),
    "open": Column("o", to_open, from_open),
    "accepted": Column("d", to_accepted, from_accepted),
    "spent": Column("m", to_cost, from_cost),
    "reserved_micro_usd": Column("r"),
    "in_flight": Column("fl", _to_mark, bool),
    "charge_micro_usd": Column("c"),
    "cancel_requested_at": instant("x"),
    "cancelled_at": instant("xa"),
    "provider_cancel": Column("xp", _to_provider_cancel, ProviderCancel),
    "result": Column("y", RESULT_REF.to_plain, RESULT_REF.from_plain),
    "error_code": Column("ec"),
    "finished_at": instant("fa"),
    "erased_at": instant("er"),
    "flight": Column("g"),
    "participants": Column("gp"),
}

OWN: Final = "~"  # stands for the job's id; no downstream key holds this character
ROW: Final = Shape(Job, COLUMNS)


def to_row(job: Job) -> Item:
    """A whole row with its keys. ``due_shard`` is always there, so that a later write may set ``due`` alone."""
    index = {"due_shard": shard_of_row(job)}
    if not job.is_flight:  # hidden: a flight is in no tenant's list
        index["created_key"] = created_key(job.created_at, job.job_id)
    packed = replace(job, open=pack(job.open, job.job_id))
    return row_key(job.tenant_id, job.identity) | to_item(index | ROW.to_plain(packed))


def from_row(item: Mapping[str, Mapping[str, Any]]) -> Job:
    """The job of a row; one of newer code is read as far as this code can, and tells so by ``schema_version``."""
    read = ROW.from_item(item, is_lenient=int(item["schema_version"]["N"]) > FLIGHT_SCHEMA)
    job_id = JobId(owner_of(item)[1] + read.job_id)
    return replace(read, job_id=job_id, open=_unpack(read.open, job_id))


def pack(calls: tuple[OpenCall, ...], job_id: JobId) -> tuple[OpenCall, ...]:
    """Leave out of each call's key what the row says anyway: its job's id, with which nearly every key begins."""
    return tuple(replace(call, key=_with_prefix(call.key, job_id, OWN)) for call in calls)


def _unpack(calls: tuple[OpenCall, ...], job_id: JobId) -> tuple[OpenCall, ...]:
    """Give each call its whole key again."""
    return tuple(replace(call, key=_with_prefix(call.key, OWN, job_id)) for call in calls)


def _with_prefix(key: DownstreamKey, old: str, new: str) -> DownstreamKey:
    """Exchange the beginning of a key that has it."""
    return DownstreamKey(new + key.removeprefix(old)) if key.startswith(old) else key
