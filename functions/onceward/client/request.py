"""Every request of the SDK as data: built once, sent as often as it takes, the same bytes each time."""

from __future__ import annotations

import hashlib
import json
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any
from urllib.parse import quote, urlencode

from pydantic import BaseModel, JsonValue

from onceward.client.document import Document
from onceward.wire.idempotency_key import HEADER, read_key
from onceward.wire.responses import UploadAccepted
from onceward.wire.reviews import ResolveReview

JOBS = "/api/ai/jobs"
DOCUMENTS = "/api/ai/documents"
ACCOUNT = "/api/ai/account"
REVIEWS = "/api/ai/reviews"
CANCEL_SUFFIX = "/cancel"
HISTORY_SUFFIX = "/attempts"
RESOLVE_SUFFIX = "/resolve"

type JobInput = Mapping[str, JsonValue] | BaseModel


@dataclass(frozen=True, slots=True, kw_only=True)
class Request:
    """One request: to a path of our API, or to another's whole address, which gets no token.

    ``hold``: seconds that the server may take before it answers at all.
    """

    method: str
    path: str = ""
    url: str = ""
    headers: Mapping[str, str] = field(default_factory=dict)
    content: bytes | None = None
    fields: Mapping[str, str] | None = None
    document: Document | None = None
    hold: float = 0.0


def create_upload(document: Document) -> Request:
    """Ask for a form that lets in exactly this document."""
    sha256 = hashlib.sha256(document.content).hexdigest()
    told = {"content_type": document.content_type, "size": len(document.content), "sha256": sha256}
    return post(DOCUMENTS, told)


def post_form(form: UploadAccepted, document: Document) -> Request:
    """Send the document to the bucket: the form's fields, and the file last, as S3 wants them."""
    return Request(method="POST", url=form.url, fields=form.fields, document=document)


def create_job(kind: str, given: JobInput, key: str, *, coalesce: bool = True) -> Request:
    """Create a job; raises ``MalformedKey``. What is the server's default is not sent."""
    apart = {} if coalesce else {"coalesce": False}
    return post(JOBS, {"kind": kind, "input": plain(given), **apart}, {HEADER: quoted_key(key)})


def read_job(job_id: str, hold: float = 0.0) -> Request:
    """Read a job, at once or when it has come to rest, ``hold`` seconds later at most."""
    query = f"?wait={hold:.3f}" if hold > 0 else ""
    return Request(method="GET", path=f"{_job(job_id)}{query}", hold=hold)


def list_jobs(status: str | None, kind: str | None, limit: int | None, cursor: str | None) -> Request:
    """One page of the tenant's jobs; what is not asked for is the server's to choose."""
    return page_of(JOBS, status=status, kind=kind, limit=limit, cursor=cursor)


def read_account() -> Request:
    """Read the tenant's own account."""
    return Request(method="GET", path=ACCOUNT)


def cancel_job(job_id: str) -> Request:
    """Cancel a job; asking again changes nothing."""
    return Request(method="POST", path=_job(job_id) + CANCEL_SUFFIX)


def erase_job(job_id: str) -> Request:
    """Erase what a job holds; asking again completes it, or changes nothing."""
    return Request(method="DELETE", path=_job(job_id))


def read_history(job_id: str) -> Request:
    """Every attempt of a job."""
    return Request(method="GET", path=_job(job_id) + HISTORY_SUFFIX)


def list_reviews(limit: int | None, cursor: str | None) -> Request:
    """One page of the tenant's jobs in review."""
    return page_of(REVIEWS, limit=limit, cursor=cursor)


def read_review(job_id: str) -> Request:
    """One review and its record."""
    return Request(method="GET", path=_review(job_id))


def resolve_review(job_id: str, verdict: ResolveReview) -> Request:
    """A verdict; asking again with the same one changes nothing."""
    return post(_review(job_id) + RESOLVE_SUFFIX, verdict.model_dump(mode="json"))


def quoted_key(key: str) -> str:
    """The key as a structured-field string (RFC 8941), in which it may hold spaces; raises ``MalformedKey``."""
    escaped = key.replace("\\", "\\\\").replace('"', '\\"')
    header = f'"{escaped}"'
    read_key(header)
    return header


def plain(given: JobInput) -> dict[str, JsonValue]:
    """What a model or a mapping says, as JSON has it."""
    return given.model_dump(mode="json", by_alias=True) if isinstance(given, BaseModel) else dict(given)


def page_of(path: str, **asked: str | int | None) -> Request:
    """One page of a list."""
    query = urlencode({name: value for name, value in asked.items() if value is not None})
    return Request(method="GET", path=f"{path}?{query}" if query else path)


def post(path: str, body: Mapping[str, Any], headers: Mapping[str, str] | None = None, hold: float = 0.0) -> Request:
    """A JSON body; NaN is no JSON and raises ``ValueError`` here instead of a 400 there."""
    content = json.dumps(body, allow_nan=False).encode("ascii")
    told = {"content-type": "application/json", **(headers or {})}
    return Request(method="POST", path=path, headers=told, content=content, hold=hold)


def _job(job_id: str) -> str:
    """A job's path; whatever the id holds stays inside its one segment."""
    return f"{JOBS}/{quote(job_id, safe='')}"


def _review(job_id: str) -> str:
    """A review's path."""
    return f"{REVIEWS}/{quote(job_id, safe='')}"
