"""What a client may send. Unknown members are refused: a misspelt option must not be ignored in silence."""

from __future__ import annotations

from typing import Annotated

from pydantic import BaseModel, ConfigDict, Field, JsonValue

from onceward.domain.names import KIND, KIND_LENGTH

ACTION = r"^[a-z][a-z0-9_]{0,31}$"
# It stands in a path, so it has the characters of one segment, and is none of the two that a client may resolve.
OPERATION_ID = r"^[A-Za-z0-9~!$&'()*+;=:@_-][A-Za-z0-9.~!$&'()*+;=:@_-]{0,254}$"
RUN_ID = r"^[!-~]{1,128}$"
MAX_DOCUMENT_BYTES = 10 * 1024 * 1024  # a worker holds ten jobs' documents in 512 MB, and parses them in children
# A charset is the one parameter that says something of a document: text in an old encoding may not tell it by itself.
CHARSET = r"; ?charset=[A-Za-z0-9][A-Za-z0-9_.:-]{1,39}"
CONTENT_TYPE = rf"^[a-z0-9][a-z0-9!#$&^_.+-]*/[a-z0-9][a-z0-9!#$&^_.+-]*({CHARSET})?$"


class RequestBody(BaseModel):
    """Base of all request bodies."""

    model_config = ConfigDict(extra="forbid", frozen=True)


class CreateJob(RequestBody):
    """A new job: its kind, and the input that the kind's own model describes."""

    kind: Annotated[
        str,
        Field(pattern=KIND, max_length=KIND_LENGTH, description="Name of a job kind.", examples=["document.analyze"]),
    ]
    input: Annotated[
        dict[str, JsonValue], Field(description="The kind's input, as its model describes it; at most 256 KB.")
    ]
    coalesce: Annotated[
        bool,
        Field(
            strict=True,
            description="False: compute this one apart, also if its kind shares equal questions (another variant). "
            "No part of the request's fingerprint.",
        ),
    ] = True


class PerformAction(RequestBody):
    """An agent's action. ``operation_id`` is the intention; the other ids and the attempt are recorded only."""

    action: Annotated[str, Field(pattern=ACTION, description="Name of a declared action.", examples=["create_task"])]
    arguments: Annotated[
        dict[str, JsonValue], Field(description="The action's arguments, as its model describes them.")
    ]
    operation_id: Annotated[
        str | None,
        Field(
            pattern=OPERATION_ID,
            description="The same for each retry of one intention; without an Idempotency-Key it is the key.",
            examples=["ticket-481:create-task:v1"],
        ),
    ] = None
    run_id: Annotated[str | None, Field(pattern=RUN_ID, description="The agent's run, to list its operations by.")] = (
        None
    )
    attempt: Annotated[int | None, Field(strict=True, ge=1, le=1_000_000, description="Counted by the caller.")] = None
    tool_call_id: Annotated[
        str | None, Field(max_length=255, description="The framework's own id of this call; it makes nothing the same.")
    ] = None


class ApproveAction(RequestBody):
    """A person's approval of exactly these arguments."""

    fingerprint: Annotated[
        str, Field(pattern=r"^[0-9a-f]{64}$", description="The operation's ``fingerprint``, as it was looked at.")
    ]
    epoch: Annotated[
        int | None,
        Field(strict=True, ge=1, description="The ``epoch`` that was looked at; without it the present one."),
    ] = None
    why: Annotated[str, Field(min_length=1, max_length=500, description="For the record.")]


class ResetAction(RequestBody):
    """A person's wish to run a failed operation again, in a new epoch."""

    epoch: Annotated[int, Field(strict=True, ge=1, description="The epoch in which it failed.")]
    why: Annotated[str, Field(min_length=1, max_length=500, description="For the record.")]


class CreateUpload(RequestBody):
    """A document that will be uploaded: its form lets in exactly this file."""

    content_type: Annotated[
        str,
        Field(
            pattern=CONTENT_TYPE,
            max_length=127,
            description="Of a text, its charset may be named.",
            examples=["application/pdf", "text/plain; charset=windows-1251"],
        ),
    ]
    size: Annotated[int, Field(strict=True, ge=1, le=MAX_DOCUMENT_BYTES, description="Bytes.")]
    sha256: Annotated[str, Field(pattern=r"^[0-9a-f]{64}$", description="SHA-256 of the file, lower-case hexadecimal.")]
    filename: Annotated[
        str | None, Field(max_length=255, description="For the client's own use; it is not stored.")
    ] = None
