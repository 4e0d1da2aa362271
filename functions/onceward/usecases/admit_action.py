"""What an action asks for beyond what every job does, before it is stored: its own rule, its address, its rate."""

from __future__ import annotations

from datetime import timedelta

from pydantic import BaseModel

from onceward.domain.tally import Counted, Limit
from onceward.errors import NotAdmissible
from onceward.usecases.registry import AnyKind

MINUTE = timedelta(minutes=1)


def admit_action(kind: AnyKind, arguments: BaseModel) -> None:
    """Ask an action's own rule about its arguments, and its address; raises ``NotAdmissible`` with what they say."""
    action = kind.action
    if action is None:
        return
    refusal = action.check(arguments)
    if refusal is not None:
        raise NotAdmissible(refusal)
    if not action.endpoint.may_carry(arguments.model_dump(mode="json", by_alias=True)):
        raise NotAdmissible("an argument cannot stand in the target's address")


def limit_of(kind: AnyKind) -> Limit | None:
    """How often a tenant may ask for this action; ``None``: there is no limit, or it is no action."""
    action = kind.action
    if action is None or action.per_minute is None:
        return None
    return Limit(Counted.ACTIONS, action.per_minute, MINUTE, of=action.name)
