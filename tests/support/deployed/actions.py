"""Actions for tests: one for each promise that the tracker makes; on the deployed stack, with times to wait out."""

from __future__ import annotations

from dataclasses import replace
from datetime import timedelta
from typing import Any

from pydantic import BaseModel, ConfigDict, Field

from onceward.domain.endpoint import Dedupe, Endpoint, IdempotencyHeader, Lookup, NaturalKey, Nothing
from onceward.domain.policy import RetryPolicy
from onceward.usecases.actions import Action
from onceward.usecases.registry import Registry

HOST = "tracker.example"
PROMISES = ("header", "natural", "lookup", "nothing")
PATHS = {"header": "by-header", "natural": "by-natural-key", "lookup": "by-lookup", "nothing": "plain"}


class Task(BaseModel):
    """The arguments of every action here."""

    model_config = ConfigDict(extra="forbid")

    source_ticket: str = Field(min_length=1)
    title: str = Field(min_length=1)


def dedupe_of(promise: str) -> Dedupe:
    """What the tracker promises below the path of that name."""
    base = f"https://{HOST}/{PATHS[promise]}/tasks"
    match promise:
        case "header":
            return IdempotencyHeader()
        case "natural":
            return NaturalKey(read_back=f"{base}/{{source_ticket}}")
        case "lookup":
            return Lookup(
                address=f"{base}/{{key}}",
                id_field="external_id",
                absent_code="task_not_found",
                lag=timedelta(milliseconds=100),
            )
        case _:
            return Nothing()


def an_action(promise: str = "header", name: str | None = None, **fields: Any) -> Action[Task]:
    """An action of the tracker."""
    known = name or f"create_{promise}"
    action = Action(
        name=known,
        description="Open a task.",
        arguments=Task,
        endpoint=Endpoint(
            name=known,
            method="POST",
            url=f"https://{HOST}/{PATHS[promise]}/tasks",
            allowed_hosts=(HOST,),
            dedupe=dedupe_of(promise),
        ),
        identified_by=("source_ticket",),
        irreversible=promise == "nothing",
    )
    return replace(action, **fields)


def declared(registry: Registry, *actions: Action[Task]) -> Registry:
    """The registry with these actions too."""
    for action in actions:
        registry.action(action)
    return registry


CALL = timedelta(seconds=4)  # longer than the lease: an answer that is held outlasts it
RETRY = RetryPolicy(max_attempts=5, initial_delay=timedelta(seconds=0.2), max_delay=timedelta(seconds=1))


def declare_for_tests(registry: Registry) -> None:
    """The tracker's four promises, and one that needs approval."""
    for promise in PROMISES:
        registry.action(an_action(promise, f"test_{promise}", call_timeout=CALL, retry=RETRY))
    registry.action(an_action("header", "test_approved", call_timeout=CALL, retry=RETRY, requires_approval=True))
