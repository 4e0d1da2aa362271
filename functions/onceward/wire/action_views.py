"""What the API answers about agents' actions."""

from __future__ import annotations

from datetime import datetime
from typing import Annotated

from pydantic import Field, JsonValue

from onceward.wire.responses import AttemptView, JobError, ResponseBody, Status, WaitingFor


class TargetResponse(ResponseBody):
    """What the action's target answered."""

    status: int
    body: JsonValue = None


class TransportAttempt(ResponseBody):
    """One request for the operation, as it arrived."""

    at: datetime
    came_to: Annotated[str, Field(description="created, replayed, or refused: the same key with other arguments.")]
    by: str
    attempt: int | None = None
    run_id: str | None = None
    tool_call_id: str | None = None


class ActionWordView(ResponseBody):
    """What a person said about the operation."""

    word: Annotated[str, Field(description="approve or reset.")]
    epoch: int
    by: str
    at: datetime
    why: str


class ActionAnswer(ResponseBody):
    """An operation as it stands: the same object, however often it is asked for."""

    operation_id: Annotated[str | None, Field(description="null once the operation was erased.")]
    action: str
    job_id: str
    status: Status
    waiting_for: WaitingFor | None = None
    epoch: int
    fingerprint: Annotated[str, Field(description="Of action and arguments; an approval names it.")]
    created_at: datetime
    deadline_at: datetime
    cancel_requested_at: datetime | None = None
    finished_at: datetime | None = None
    response: Annotated[
        TargetResponse | None,
        Field(description="What the target answered; null until it has. Lists, approve and reset leave it out."),
    ] = None
    error: JobError | None = None


class ActionView(ActionAnswer):
    """Everything a tenant may know of its operation."""

    arguments: Annotated[
        dict[str, JsonValue] | None,
        Field(description="As they were asked for: what an approval is about. null once the operation was erased."),
    ] = None
    attempts: tuple[AttemptView, ...]
    transport_attempts: Annotated[
        tuple[TransportAttempt, ...], Field(description="The last thousand, oldest first; all are on the record.")
    ]
    transport_attempts_seen: Annotated[int | None, Field(description="How many there were.")] = None
    words: tuple[ActionWordView, ...]


class ActionList(ResponseBody):
    """One page of a run's operations, the newest first."""

    operations: tuple[ActionAnswer, ...]
    next_cursor: Annotated[str | None, Field(description="Ask with it for the next page; null: this was the last.")]
