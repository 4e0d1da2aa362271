"""``create_task``: the demonstration action, and the one to copy. It opens a task in a tracker for a ticket.

The tracker that ships (``python -m onceward.local.tracker``) dedupes by Idempotency-Key. On a stage of your own, put
your tracker's address and hosts here, or its origin into the stage's ``target_origins``.
"""

from __future__ import annotations

from pydantic import BaseModel, ConfigDict, Field

from onceward.domain.endpoint import Auth, Endpoint, IdempotencyHeader
from onceward.kinds.catalog import KINDS
from onceward.usecases.actions import Action


class CreateTask(BaseModel):
    """A task for a ticket."""

    model_config = ConfigDict(frozen=True, extra="forbid")

    source_ticket: str = Field(min_length=1, max_length=64, description="The ticket that the task is for.")
    title: str = Field(min_length=1, max_length=200, description="What is to be done.")


CREATE_TASK = KINDS.action(
    Action(
        name="create_task",
        description="Open a task in the tracker for a ticket.",
        arguments=CreateTask,
        endpoint=Endpoint(
            name="create_task",
            method="POST",
            url="https://tracker.example/by-header/tasks",
            allowed_hosts=("tracker.example",),
            dedupe=IdempotencyHeader(),
            auth=Auth(secret="tracker"),  # noqa: S106 - the name of a member of the secret
        ),
        identified_by=("source_ticket",),
        per_minute=60,
    )
)
