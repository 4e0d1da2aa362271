"""The stored form of cold items: attributes are called like the fields; tenant and job are in the key.

``item`` tells which class it is. A class that only newer code knows reads as ``None``: it is no item of ours, and it
stays where it is.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import fields
from datetime import datetime
from typing import Any, Final

from onceward.adapters.dynamodb.keys import cold_key, owner_of
from onceward.adapters.dynamodb.parts_codec import ATTEMPT, USAGE, from_cost, from_open, instant, to_cost, to_open
from onceward.adapters.dynamodb.shapes import Column, Shape
from onceward.adapters.dynamodb.values import Item, to_item
from onceward.adapters.instants import to_expiry
from onceward.domain.action_records import ActionWord, RunEntry, Seen, SeenAttempt, Word
from onceward.domain.job import SCHEMA_VERSION
from onceward.domain.money import Cost
from onceward.domain.names import JobId
from onceward.domain.records import (
    Answer,
    ColdItem,
    Input,
    Participant,
    PastAttempt,
    ProviderReference,
    Result,
    ReviewRecord,
    Standing,
)
from onceward.domain.states import CallState, JobState, Resolution

OWNER: Final = frozenset({"tenant_id", "job_id"})  # in the key, and nowhere else

_BODY = Column("body", absent=None)  # large ones are in the blob store

# A state of a call that only newer code knows settles nothing for this code.
_CALL_STATE = Column("state", str, CallState, unreadable=CallState.UNKNOWN)


def _columns(whole: type, **particular: Column) -> dict[str, Column]:
    """A table in which only the particular columns differ from their fields."""
    names = (field.name for field in fields(whole) if field.name not in OWNER)
    return {name: particular.get(name) or Column(name) for name in names}


_COST = Column("cost", to_cost, from_cost, absent=Cost.nothing())
_OPEN = Column("open", to_open, from_open)

STANDING: Final = Shape(
    Standing,
    _columns(
        Standing,
        state=Column("state", str, JobState),
        spent=Column("spent", to_cost, from_cost, absent=Cost.nothing()),
        open=_OPEN,
    ),
)


SHAPES: Final[Mapping[str, Shape[Any]]] = {
    "input": Shape(Input, _columns(Input, body=_BODY)),
    "answer": Shape(
        Answer,
        _columns(
            Answer,
            state=_CALL_STATE,
            answered_at=instant("answered_at"),
            usage=Column("usage", USAGE.to_plain, USAGE.from_plain),
            cost=_COST,
        ),
    ),
    "reference": Shape(ProviderReference, _columns(ProviderReference, submitted_at=instant("submitted_at"))),
    "participant": Shape(Participant, _columns(Participant, joined_at=instant("joined_at"))),
    "result": Shape(Result, _columns(Result, body=_BODY)),
    "attempt": Shape(
        PastAttempt, _columns(PastAttempt, attempt=Column("attempt", ATTEMPT.to_plain, ATTEMPT.from_plain), open=_OPEN)
    ),
    "review": Shape(
        ReviewRecord,
        _columns(
            ReviewRecord,
            resolution=Column("resolution", str, Resolution),
            at=instant("at"),
            before=Column("before", STANDING.to_plain, STANDING.from_plain),
            after=Column("after", STANDING.to_plain, STANDING.from_plain),
        ),
    ),
    "seen": Shape(SeenAttempt, _columns(SeenAttempt, at=instant("at"), came_to=Column("came_to", str, Seen))),
    "word": Shape(ActionWord, _columns(ActionWord, at=instant("at"), word=Column("word", str, Word))),
    "operation": Shape(RunEntry, _columns(RunEntry, created_at=instant("created_at"))),
}

_NAMES: Final = {shape.whole: name for name, shape in SHAPES.items()}


def to_cold(item: ColdItem, expires_at: datetime) -> Item:
    """A whole item with its key; it expires with its job."""
    name = _NAMES[type(item)]
    plain = SHAPES[name].to_plain(item) | {"item": name, "expires_at": to_expiry(expires_at)}
    return cold_key(item.tenant_id, item.job_id, item.sort_key) | to_item(plain)


def from_cold(item: Mapping[str, Mapping[str, Any]]) -> ColdItem | None:
    """The record of an item; ``None`` for a class of newer code."""
    shape = SHAPES.get(item["item"]["S"])
    if shape is None:
        return None
    tenant_id, job_id = owner_of(item)
    is_newer = int(item["schema_version"]["N"]) > SCHEMA_VERSION
    read: ColdItem = shape.from_item(item, is_lenient=is_newer, tenant_id=tenant_id, job_id=JobId(job_id))
    return read
