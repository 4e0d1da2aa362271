"""The story of an agent's action: ask under one key until the record answers, with a rising attempt.

Whatever becomes of a request, repeating it is safe: the operation's id is its key. A lost answer, a refusal for load
and "in progress" alike are asked again; a conflict, a failure and a missing permission are not.
"""

from __future__ import annotations

import json
from urllib.parse import quote

from onceward.client.answers import NoAnswer, Reply, api_error, read_answer
from onceward.client.exceptions import ActionCancelled, ActionFailed, ActionParked, ActionUnfinished
from onceward.client.request import JobInput, Request, page_of, plain, post, quoted_key
from onceward.client.results import SETTLED
from onceward.client.retrying import asked_delay
from onceward.client.stories import LONGEST_HOLD, UNASKED_PAUSE, Send, Story, after_failure, exchange
from onceward.client.target import Target
from onceward.wire.action_views import ActionAnswer, ActionList, ActionView
from onceward.wire.idempotency_key import HEADER

ACTIONS = "/agent-actions"
IN_PROGRESS = "operation_in_progress"
CONFLICT = 409


def act(
    target: Target, action: str, arguments: JobInput, operation_id: str, run_id: str | None, timeout: float | None
) -> Story[ActionAnswer]:
    """Let it be done once, and tell how it ended.

    Raises ``ActionFailed``, ``ActionParked``, ``ActionUnfinished`` when the time is over (it goes on), and what a
    request raises.
    """
    end = None if timeout is None else target.monotonic() + timeout
    attempt, failures, pause = 0, 0, 0.0
    while True:
        attempt += 1
        left = LONGEST_HOLD if end is None else max(0.0, end - target.monotonic() - pause)
        hold = min(LONGEST_HOLD, left)
        request = perform(action, arguments, operation_id, run_id, attempt, hold)
        came = yield Send(request, pause)
        told = _standing(came, target)
        if told is not None and told.status in SETTLED:
            return _ended(told)
        if told is None and not _is_in_progress(came):
            failures += 1
            decided = after_failure(target, request, came, failures, end)
            if isinstance(decided, Reply):
                raise api_error(decided, target)
            pause = decided
            continue
        failures = 0
        if end is not None and target.monotonic() >= end:
            raise ActionUnfinished(operation_id)
        asked = asked_delay(came.headers, target.now()) if isinstance(came, Reply) else None
        pause = UNASKED_PAUSE if asked is None else asked.total_seconds()
        pause = pause if end is None else min(pause, max(0.0, end - target.monotonic()))


def get_action(target: Target, operation_id: str) -> Story[ActionView]:
    """How an operation stands, each transport attempt included."""
    request = Request(method="GET", path=_path(operation_id))
    return read_answer((yield from exchange(target, request)), ActionView, target)


def list_actions(target: Target, run_id: str, limit: int | None, cursor: str | None) -> Story[ActionList]:
    """One page of a run's operations, newest first."""
    request = page_of(ACTIONS, run_id=run_id, limit=limit, cursor=cursor)
    return read_answer((yield from exchange(target, request)), ActionList, target)


def approve_action(
    target: Target, operation_id: str, fingerprint: str, why: str, epoch: int | None
) -> Story[ActionAnswer]:
    """Let an operation that waits for it be sent; takes the scope ``ops``."""
    which = {} if epoch is None else {"epoch": epoch}
    request = post(f"{_path(operation_id)}/approve", {"fingerprint": fingerprint, "why": why, **which})
    return read_answer((yield from exchange(target, request)), ActionAnswer, target)


def reset_action(target: Target, operation_id: str, epoch: int, why: str) -> Story[ActionAnswer]:
    """Run an operation that failed in this epoch again, in a new one; takes the scope ``ops``."""
    request = post(f"{_path(operation_id)}/reset", {"epoch": epoch, "why": why})
    return read_answer((yield from exchange(target, request)), ActionAnswer, target)


def perform(
    action: str, arguments: JobInput, operation_id: str, run_id: str | None, attempt: int, hold: float
) -> Request:
    """One request for an action; raises ``MalformedKey``."""
    body = {"operation_id": operation_id, "attempt": attempt, "action": action, "arguments": plain(arguments)}
    body |= {} if run_id is None else {"run_id": run_id}
    headers = {HEADER: quoted_key(operation_id)}
    headers |= {"prefer": f"wait={int(hold)}"} if hold >= 1 else {}
    return post(ACTIONS, body, headers, hold)


def _standing(came: Reply | NoAnswer, target: Target) -> ActionAnswer | None:
    """The operation, if that is what was answered."""
    return read_answer(came, ActionAnswer, target) if isinstance(came, Reply) and came.is_success else None


def _is_in_progress(came: Reply | NoAnswer) -> bool:
    """Whether the server says that the operation is known and has not ended."""
    if not isinstance(came, Reply) or came.status != CONFLICT:
        return False
    try:
        told = json.loads(came.body)
    except ValueError:
        return False
    return isinstance(told, dict) and told.get("code") == IN_PROGRESS


def _ended(told: ActionAnswer) -> ActionAnswer:
    """A success as it is; raises ``ActionParked`` where nobody knows, ``ActionFailed`` for any other end."""
    match told.status:
        case "succeeded":
            return told
        case "cancelled":
            raise ActionCancelled(told)
        case "needs_review":
            raise ActionParked(told)
        case _:
            raise ActionFailed(told)


def _path(operation_id: str) -> str:
    """An operation's path; whatever its id holds stays inside its one segment."""
    return f"{ACTIONS}/{quote(operation_id, safe='')}"
