"""What a test asks of the tracker: to be slow, to hang up, to refuse, before or after it has done the work."""

import threading
from collections.abc import Mapping
from dataclasses import dataclass, fields
from typing import Any, Literal


class UnreadableBehaviour(ValueError):
    """The control request named an unknown field."""


@dataclass(slots=True, kw_only=True)
class Behaviour:
    """What is done to the next ``times`` requests (all, if ``None``) whose body holds ``text``.

    ``stage``: before the task is made (nothing happened), or after it (it did, and the caller may never know).
    """

    text: str = ""
    times: int | None = 1
    stage: Literal["before", "after"] = "before"
    hold: str | None = None  # a gate: wait until it is released
    delay_s: float = 0.0
    drop: bool = False  # end the connection without an answer
    status: int | None = None  # answer this instead
    retry_after: str | None = None


class Behaviours:
    """What is in force, in the order in which it was asked for."""

    def __init__(self) -> None:
        self._lock = threading.Lock()
        self._asked: list[Behaviour] = []

    def ask(self, body: Mapping[str, Any]) -> Behaviour:
        """Put one in force; an unknown name is refused, so that no test asks in vain."""
        known = {field.name for field in fields(Behaviour)}
        if unknown := set(body) - known:
            raise UnreadableBehaviour(f"unknown: {', '.join(sorted(unknown))}")
        made = Behaviour(**body)
        with self._lock:
            self._asked.append(made)
        return made

    def spend(self, raw: str) -> Behaviour:
        """The first that is about this request and not used up; else nothing special."""
        with self._lock:
            for one in self._asked:
                if one.text in raw and one.times != 0:
                    if one.times is not None:
                        one.times -= 1
                    return one
        return Behaviour(times=None)

    def forget(self) -> None:
        """Nothing special any more."""
        with self._lock:
            self._asked.clear()
