"""The crash table of the design as data: where a process is lost, what the target can do, and what must come of it."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Literal

from onceward.domain.states import JobState
from tests.support.deployed.terms import Promise

type Place = Literal[
    "before_sent", "after_sent", "before_socket", "in_model", "before_item", "after_item", "after_settle"
]


@dataclass(frozen=True, slots=True, kw_only=True)
class End:
    """How a job ends: ``calls`` and ``computations`` as the model counts them, for the attempt that is lost and later.

    ``outcomes`` of that attempt and the later ones.
    """

    state: JobState
    outcomes: tuple[str, ...]
    calls: int
    computations: int | None = None
    error_code: str | None = None

    @property
    def computed(self) -> int:
        """How often the model worked; once for each call unless it is said otherwise."""
        return self.calls if self.computations is None else self.computations

    @property
    def has_letter(self) -> bool:
        """Whether a dead letter tells of it."""
        return self.state in {JobState.NEEDS_REVIEW, JobState.FAILED}

    @property
    def verbs(self) -> list[str]:
        """The lines of the tenant's book, in the order of their names: held once, and moved once or not yet."""
        match self.state:
            case JobState.SUCCEEDED:
                return ["capture", "reserve"]
            case JobState.NEEDS_REVIEW:
                return ["reserve"]
            case _:
                return ["release", "reserve"]


@dataclass(frozen=True, slots=True, kw_only=True)
class Crash:
    """One line: the process is lost at ``place``, in the first attempt or in the last one."""

    place: Place
    promise: Promise
    end: End
    is_last: bool = False

    @property
    def name(self) -> str:
        """What the job is called in prompts; no name is part of another."""
        return f"<{'last ' if self.is_last else ''}{self.place}>"

    @property
    def title(self) -> str:
        """What the test is called."""
        return f"{self.promise}-{'last-' if self.is_last else ''}{self.place}"


def _succeeded(*outcomes: str, calls: int, computations: int | None = None) -> End:
    return End(state=JobState.SUCCEEDED, outcomes=outcomes, calls=calls, computations=computations)


def _exhausted(*outcomes: str) -> End:
    return End(state=JobState.FAILED, outcomes=outcomes, calls=0, error_code="attempts_exhausted")


def _review(*, calls: int) -> End:
    return End(state=JobState.NEEDS_REVIEW, outcomes=("unknown",), calls=calls)


def _each(none: End, dedupes: End, lookup: End) -> dict[Promise, End]:
    return {"none": none, "dedupes": dedupes, "lookup": lookup}


def _any(end: End) -> dict[Promise, End]:
    return _each(end, end, end)


AGAIN = _succeeded("interrupted", "succeeded", calls=1)
DEDUPED = _succeeded("unknown", "succeeded", calls=2, computations=1)
BY_CLOSING_RUN = _succeeded("succeeded", calls=1)  # over the answer that was stored, or found
UNSENT, SENT = _review(calls=0), _review(calls=1)

FIRST: dict[Place, dict[Promise, End]] = {
    "before_sent": _any(AGAIN),
    "before_socket": _each(UNSENT, _succeeded("unknown", "succeeded", calls=1), AGAIN),
    "in_model": _each(SENT, DEDUPED, AGAIN),
    "before_item": _each(SENT, DEDUPED, AGAIN),
    "after_item": _any(AGAIN),
    "after_settle": _any(_succeeded("succeeded", calls=1)),
}
LAST: dict[Place, dict[Promise, End]] = {
    "before_sent": _any(_exhausted("interrupted")),
    "before_socket": _each(UNSENT, UNSENT, _exhausted("interrupted")),
    "in_model": _each(SENT, SENT, BY_CLOSING_RUN),
    "before_item": _each(SENT, SENT, BY_CLOSING_RUN),
    "after_item": _any(BY_CLOSING_RUN),
}


def crashes() -> Iterator[Crash]:
    """All lines of the table, for each of the three kinds of target."""
    for places, is_last in ((FIRST, False), (LAST, True)):
        for place, ends in places.items():
            for promise, end in ends.items():
                yield Crash(place=place, promise=promise, end=end, is_last=is_last)
