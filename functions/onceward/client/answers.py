"""What came back, read: the model that was asked for, or an exception that says what came instead.

Our API answers problems, its gateway ``{"message": ...}``, the bucket XML; whatever stands between may answer
anything. Nothing of an answer that we do not know is quoted, but a short message.
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import dataclass, field

import httpx
from pydantic import BaseModel, ConfigDict, JsonValue, TypeAdapter, ValidationError

from onceward.client.exceptions import ApiError, UploadRefused
from onceward.client.retrying import asked_delay
from onceward.client.target import Target
from onceward.wire.problem import Problem
from onceward.wire.responses import TOLERANT, JobAccepted

# What the gateway means where it answers before our code does; its bodies have no code.
GATEWAY_CODES = {
    401: "unauthorized",
    403: "forbidden",
    404: "not_found",
    413: "body_too_large",
    429: "rate_limited",
    500: "internal_error",
    503: "unavailable",
    504: "gateway_timeout",
}
REQUEST_ID_HEADERS = ("apigw-requestid", "x-amzn-requestid", "x-amz-request-id")
SUCCESS_CLASS = 2  # 2xx
LONGEST_MESSAGE = 200  # characters of a message that we did not write

_S3_CODE = re.compile(rb"<Code>(\w{1,64})</Code>")
_JSON: TypeAdapter[JsonValue] = TypeAdapter(JsonValue)


@dataclass(frozen=True, slots=True)
class Reply:
    """An answer; header names are lower case."""

    status: int
    headers: Mapping[str, str] = field(default_factory=dict)
    body: bytes = field(default=b"", repr=False)

    @property
    def is_success(self) -> bool:
        """Whether the request was done."""
        return self.status // 100 == SUCCESS_CLASS


@dataclass(frozen=True, slots=True)
class NoAnswer:
    """Nothing came back, or only a part."""

    cause: httpx.RequestError


class Job(JobAccepted):
    """A submitted job as it stood at the answer.

    ``is_replay``: the key had this job already, also when an earlier try of the same submission had made it and only
    its answer was lost.
    """

    model_config = ConfigDict(extra="ignore", frozen=True)

    idempotency_key: str
    is_replay: bool


def read_answer[Model: BaseModel](reply: Reply, model: type[Model], target: Target, **known: object) -> Model:
    """The body as a model, with what the caller ``known`` adds; raises ``ApiError``. Unknown members and words pass."""
    if not reply.is_success:
        raise api_error(reply, target)
    try:
        body = _JSON.validate_json(reply.body)
        return model.model_validate({**body, **known} if isinstance(body, dict) else body, context=TOLERANT)
    except ValidationError:
        raise ApiError(
            "the answer is not what this version of the SDK understands",
            status=reply.status,
            code="unreadable_answer",
            request_id=_request_id(reply),
        ) from None


def api_error(reply: Reply, target: Target) -> ApiError:
    """What an answer says that is not the one asked for: a problem of ours, else its status and message."""
    retry_after = asked_delay(reply.headers, target.now())
    try:
        problem = Problem.model_validate_json(reply.body)
    except ValidationError:
        return ApiError(
            _message(reply.body),
            status=reply.status,
            code=GATEWAY_CODES.get(reply.status, f"http_{reply.status}"),
            request_id=_request_id(reply),
            retry_after=retry_after,
        )
    return ApiError(
        problem.detail or problem.title,
        status=reply.status,
        code=problem.code,
        problem=problem,
        request_id=problem.request_id or _request_id(reply),
        retry_after=retry_after,
    )


def upload_refused(reply: Reply) -> UploadRefused:
    """What the bucket says where it takes no document, by its own code."""
    found = _S3_CODE.search(reply.body)
    return UploadRefused(
        "the bucket did not take the document",
        status=reply.status,
        code=found[1].decode() if found else UploadRefused.code,
        request_id=_request_id(reply),
    )


def _message(body: bytes) -> str:
    """The gateway's one sentence, if there is one."""
    try:
        found = _JSON.validate_json(body)
    except ValidationError:
        return ""
    message = found.get("message") if isinstance(found, dict) else None
    return message[:LONGEST_MESSAGE] if isinstance(message, str) else ""


def _request_id(reply: Reply) -> str | None:
    """The id under which the other side has logged it."""
    return next((reply.headers[name] for name in REQUEST_ID_HEADERS if name in reply.headers), None)
