"""The bodies of SQS messages: wake-ups, dead letters, and what is kept of a body that nobody can read.

A wake-up names a job and nothing else (claim check): no content is ever in a queue, except in the dead letter of an
unreadable body. Either may arrive at the worker: a redriven dead letter comes back through the jobs queue. Reasons
given here name rules and fields, never what was in the body.
"""

from __future__ import annotations

import json
from dataclasses import dataclass
from typing import Annotated

from pydantic import AfterValidator, BaseModel, ConfigDict, Field, ValidationError

from onceward.domain.job import SCHEMA_VERSION
from onceward.domain.names import JobId, TenantId, is_job_id, is_tenant_id
from onceward.errors import MalformedJson
from onceward.wire.ijson import read_json

LONGEST_BODY = 16 * 1024  # characters; a dead letter of ours has some 300, so nothing longer is worth parsing
LONGEST_REASON = 200  # characters
LARGEST_COUNT = 1_000_000  # of versions and epochs: none of ours comes near, and no log line or key shall be digits
LONGEST_KEPT = 16 * 1024  # characters of an unreadable body; escaped twelvefold it still fits SQS's 256 KiB


def _tenant(text: str) -> TenantId:
    """Refuse what cannot name a tenant."""
    if not is_tenant_id(text):
        raise ValueError("not a tenant id")
    return TenantId(text)


def _job(text: str) -> JobId:
    """Refuse what has not the shape of a job id."""
    if not is_job_id(text):
        raise ValueError("not a job id")
    return JobId(text)


class _Body(BaseModel):
    """What all bodies of this version share: strict, and nothing beyond their fields."""

    model_config = ConfigDict(frozen=True, extra="forbid", strict=True)

    schema_version: int = Field(default=SCHEMA_VERSION, ge=1, le=LARGEST_COUNT)


class _Head(BaseModel):
    """The version, which every body of every version has, and what tells a dead letter from a wake-up."""

    model_config = ConfigDict(extra="ignore", strict=True)

    schema_version: int = Field(ge=1, le=LARGEST_COUNT)
    epoch: object = None


class WakeupBody(_Body):
    """Look at this job."""

    tenant_id: Annotated[TenantId, AfterValidator(_tenant)]
    job_id: Annotated[JobId, AfterValidator(_job)]


class DeadLetterBody(WakeupBody):
    """A job exhausted or in review, in one epoch; redriven, it may re-open the job if that still holds."""

    epoch: int = Field(ge=1, le=LARGEST_COUNT)
    reason: str = Field(max_length=LONGEST_REASON)


class UnreadableBody(_Body):
    """A body that named no job, cut if it was long, kept for a person in the dead letters only."""

    reason: str = Field(max_length=LONGEST_REASON)
    unreadable: str = Field(max_length=LONGEST_KEPT)
    is_cut: bool


@dataclass(frozen=True, slots=True)
class Newer:
    """A body of a later version of this code: put it back, a neighbour can read it."""

    schema_version: int


@dataclass(frozen=True, slots=True)
class Unreadable:
    """A body that no version of this code has written; ``reason`` holds nothing of it."""

    reason: str


type Message = WakeupBody | DeadLetterBody | Newer | Unreadable


def parse_message(body: str) -> Message:
    """Say what a message asks for. The version is looked at first: a newer body may have any fields.

    Read as strictly as a request: a body that another parser would understand differently asks for nothing.
    """
    if len(body) > LONGEST_BODY:
        return Unreadable("longer than any message of ours")
    try:
        given = read_json(body.encode("utf-8", "surrogatepass"))
        head = _Head.model_validate(given)
        if head.schema_version > SCHEMA_VERSION:
            return Newer(head.schema_version)
        return (WakeupBody if head.epoch is None else DeadLetterBody).model_validate(given)
    except MalformedJson:
        return Unreadable("not I-JSON")
    except ValidationError as error:
        return Unreadable(_reason(error))


def wakeup_body(tenant_id: TenantId, job_id: JobId) -> str:
    """Write a wake-up."""
    return WakeupBody(tenant_id=tenant_id, job_id=job_id).model_dump_json()


def dead_letter_body(tenant_id: TenantId, job_id: JobId, epoch: int, reason: str) -> str:
    """Write a dead letter; a reason that is too long is cut."""
    letter = DeadLetterBody(tenant_id=tenant_id, job_id=job_id, epoch=epoch, reason=reason[:LONGEST_REASON])
    return letter.model_dump_json()


def unreadable_body(body: str, reason: str) -> str:
    """Wrap an unreadable body for the dead letters; one that was redriven is wrapped already and stays as it is."""
    try:
        letter = UnreadableBody.model_validate_json(body)
    except ValidationError:
        kept = body[:LONGEST_KEPT].encode("utf-8", "replace").decode()  # half a surrogate pair has no UTF-8
        letter = UnreadableBody(reason=reason[:LONGEST_REASON], unreadable=kept, is_cut=len(kept) < len(body))
    return json.dumps(letter.model_dump())  # in ASCII: SQS refuses some characters in a body


def _reason(error: ValidationError) -> str:
    """The first broken rule and where; a field that we do not know is content and is not named."""
    first = error.errors(include_url=False, include_context=False, include_input=False)[0]
    known = DeadLetterBody.model_fields.keys()
    place = ".".join(str(part) if part in known else "?" for part in first["loc"])
    return f"{first['type']} at {place or 'the top'}"
