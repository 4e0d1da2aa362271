"""What a declared target's answer means, by its status alone: no target's bodies are known to us.

429 and 503 are answers of a door that stayed shut: nothing was done. After 408 and any other 5xx it may have been.
"""

from __future__ import annotations

import json
from collections.abc import Iterable, Mapping
from datetime import datetime

from pydantic import JsonValue

from onceward.domain.endpoint import spelt
from onceward.domain.retry import ErrorClass
from onceward.errors import CallFailure
from onceward.providers.http import HttpReply
from onceward.providers.meaning import Meaning, failure_from

SUCCESSES = range(200, 300)
CONFLICT = 409
NOT_FOUND = 404
_CLIENT_FAULTS = range(400, 500)

_REFUSED = Meaning(ErrorClass.PERMANENT, "target_refused")
_UNKNOWN = Meaning(ErrorClass.OUTCOME_UNKNOWN, "target_error")
BY_STATUS: Mapping[int, Meaning] = {
    # A redirect is never followed: a request and its credential go where the declaration says. 302 and 303 are what a
    # form answers after it was done, so they stay a maybe.
    **dict.fromkeys((301, 307, 308), Meaning(ErrorClass.PERMANENT, "target_redirects")),
    **dict.fromkeys((302, 303), Meaning(ErrorClass.OUTCOME_UNKNOWN, "target_redirects")),
    401: Meaning(ErrorClass.PERMANENT, "target_auth"),
    403: Meaning(ErrorClass.PERMANENT, "target_forbidden"),
    408: Meaning(ErrorClass.OUTCOME_UNKNOWN, "target_timed_out"),
    CONFLICT: Meaning(ErrorClass.PERMANENT, "target_conflict"),
    425: Meaning(ErrorClass.TRANSIENT, "target_unavailable"),
    429: Meaning(ErrorClass.RATE_LIMITED, "rate_limited"),
    503: Meaning(ErrorClass.TRANSIENT, "target_unavailable"),
    504: Meaning(ErrorClass.OUTCOME_UNKNOWN, "target_timed_out"),
}


def failure_of(reply: HttpReply, now: datetime) -> CallFailure:
    """The failure that an answer without success stands for."""
    default = _REFUSED if reply.status in _CLIENT_FAULTS else _UNKNOWN
    return failure_from(BY_STATUS.get(reply.status, default), reply, (), now, reply.headers.get("x-request-id"))


def says_absent(reply: HttpReply, absent_code: str | None) -> bool:
    """Whether a 404 is the lookup's own word, and not that of a wrong address."""
    if reply.status != NOT_FOUND:
        return False
    if absent_code is None:
        return True
    body = reply.json_object() or {}
    error = body.get("error")
    told = error.get("code") if isinstance(error, dict) else body.get("code")
    return told == absent_code


def tells_of(reply: HttpReply, names: Iterable[JsonValue], field: str | None = None) -> bool:
    """Whether one of these stands in the answer as a value, in whatever case: an empty list tells of nothing.

    ``field``: whose value it is to be; a search that says what it was asked for has found nothing by that.
    """
    told = _values(reply.body, field)
    return any(spelt(name).casefold() in told for name in names)


def _values(body: bytes, field: str | None) -> frozenset[str]:
    """The texts and numbers of a body's members of that name, as they are spelt in an address; ``None``: of all."""
    try:
        rest: list[tuple[str | None, object]] = [(None, json.loads(body))]
    except (ValueError, RecursionError):
        return frozenset()
    found: set[str] = set()
    while rest:
        match rest.pop():
            case (_, dict() as members):
                rest += members.items()
            case (name, list() as items):
                rest += [(name, item) for item in items]
            case (name, scalar) if scalar is not None and field in (None, name):
                found.add(spelt(scalar).casefold())
            case _:
                pass
    return frozenset(found)
