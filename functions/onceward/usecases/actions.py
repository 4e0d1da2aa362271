"""Agent actions: what one is declared as, and the job kind that it becomes.

An action is a job whose kind has one operation on an HTTP target. Nothing of lease, calls, retry or books is its own.
"""

from __future__ import annotations

import re
from collections.abc import Callable
from dataclasses import dataclass, field
from datetime import timedelta

from pydantic import BaseModel, ConfigDict, JsonValue

from onceward.domain.endpoint import Endpoint, Nothing
from onceward.domain.policy import KindPolicy, OnUnknown, RetryPolicy
from onceward.errors import RegistrationError
from onceward.usecases.context import Context

PREFIX = "action."  # of the job kind's name
STEP = "act"  # the one operation
CALL_TIMEOUT = timedelta(seconds=20)
RETRY = RetryPolicy(
    max_attempts=5,
    initial_delay=timedelta(seconds=0.5),
    max_delay=timedelta(seconds=15),
    on_unknown=OnUnknown.REVIEW,
)
PREPARATION = timedelta(seconds=10)  # of an attempt, beside its call
DEADLINE = timedelta(hours=1)  # an action is waited for; what has not happened in an hour should not happen later
APPROVAL_DEADLINE = timedelta(days=7)  # a person approves

_NAME = re.compile(r"[a-z][a-z0-9_]{0,31}")

type Refusal = str
type Check[A: BaseModel] = Callable[[A], Refusal | None]


class ActionOutput(BaseModel):
    """What the target answered: exactly the stored answer, so that it is kept once."""

    model_config = ConfigDict(frozen=True)

    status: int
    body: JsonValue


@dataclass(frozen=True, slots=True, kw_only=True)
class Action[A: BaseModel]:
    """One action: its arguments, where it happens, who may be asked first.

    ``identified_by``: the arguments that make two calls one intention, for callers that have no id of their own.
    ``irreversible`` must be said of a target that promises nothing: after a maybe it is parked, never repeated.
    ``check``: why the arguments are not admissible, or ``None``; asked before anything is stored.
    """

    name: str
    description: str
    arguments: type[A]
    endpoint: Endpoint
    identified_by: tuple[str, ...]
    irreversible: bool = False
    requires_approval: bool = False
    per_minute: int | None = None
    check: Check[A] = lambda _: None
    retry: RetryPolicy = field(default_factory=lambda: RETRY)
    call_timeout: timedelta = CALL_TIMEOUT

    def __post_init__(self) -> None:
        """Refuse what contradicts itself, at import."""
        fields = sent_names(self.arguments)
        if _NAME.fullmatch(self.name) is None or self.name != self.endpoint.name:
            raise RegistrationError(f"action {self.name}: a name is 1-32 of [a-z0-9_], and its endpoint's too")
        if not self.identified_by or not set(self.identified_by) <= fields:
            raise RegistrationError(f"action {self.name}: identified_by names arguments, at least one")
        if not self.endpoint.needs <= fields:
            raise RegistrationError(f"action {self.name}: its address names an argument that it does not have")
        if isinstance(self.endpoint.dedupe, Nothing) != self.irreversible:
            raise RegistrationError(f"action {self.name}: irreversible is said of targets that promise nothing, only")
        if self.retry.on_unknown is not OnUnknown.REVIEW:
            raise RegistrationError(f"action {self.name}: what may have changed the world is not repeated on a guess")

    @property
    def kind(self) -> str:
        """The name of its job kind."""
        return PREFIX + self.name

    @property
    def policy(self) -> KindPolicy:
        """Its job kind's rules."""
        return KindPolicy(
            name=self.kind,
            timeout=self.call_timeout + PREPARATION,
            call_timeout=self.call_timeout,
            deadline=APPROVAL_DEADLINE if self.requires_approval else DEADLINE,
            retry=self.retry,
            has_outside_effect=True,
            requires_approval=self.requires_approval,
        )

    async def run(self, context: Context, given: A) -> ActionOutput:
        """The kind's code: one request."""
        answer = await context.http.request(STEP, self.endpoint.name, given.model_dump(mode="json", by_alias=True))
        return ActionOutput(status=answer.status, body=answer.body)


def sent_names(model: type[BaseModel]) -> frozenset[str]:
    """The names that a model's members have where they are sent: the aliases, where it has some."""
    return frozenset(one.serialization_alias or name for name, one in model.model_fields.items())


type AnyAction = Action[BaseModel]
