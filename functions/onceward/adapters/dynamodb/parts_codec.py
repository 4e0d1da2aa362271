"""The stored form of the parts that rows and cold items are made of; short names, because the row holds them too."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from string import hexdigits

from onceward.adapters.dynamodb.shapes import Column, Shape
from onceward.adapters.dynamodb.values import Plain
from onceward.adapters.instants import duration_from_ms, duration_ms, from_ms, to_ms
from onceward.domain.job import AnswerRef, EarlierSend, OpenCall, PresentAttempt, ResultRef
from onceward.domain.money import Cost
from onceward.domain.names import CallFingerprint, StepKey
from onceward.domain.records import Usage
from onceward.domain.states import AttemptOutcome, CallState

LOCAL = ".l"  # after the name of a local step's answer, in the row


def instant(name: str) -> Column:
    """An instant, in epoch milliseconds."""
    return Column(name, to_ms, from_ms)


def to_cost(cost: Cost) -> Plain | None:
    """Low, high, and whether a price is missing; nothing spent is nothing stored."""
    if cost == Cost.nothing():
        return None
    return [cost.low, cost.high, 1] if cost.unpriced else [cost.low, cost.high]


def from_cost(stored: list[int]) -> Cost:
    """The bounds."""
    return Cost(low=stored[0], high=stored[1], unpriced=len(stored) > 2)  # noqa: PLR2004 (the mark is the third)


def to_digest(fingerprint: str) -> Plain:
    """The bytes that a digest's hexadecimal digits stand for, which are half as many; anything else as it is."""
    is_hex = len(fingerprint) % 2 == 0 and set(fingerprint) <= set(hexdigits.lower())
    return bytes.fromhex(fingerprint) if is_hex else fingerprint


def from_digest(stored: str | bytes) -> str:
    """The digest as it was computed."""
    return stored.hex() if isinstance(stored, bytes) else stored


def _from_asked(stored: str | bytes) -> CallFingerprint:
    """A call's fingerprint as it was computed."""
    return CallFingerprint(from_digest(stored))


def _from_most(stored: int) -> int:
    """A call's bound; one below nothing, which older code could journal, is read as nothing: the row must end."""
    return max(int(stored), 0)


USAGE = Shape(Usage, {name: Column(name) for name in ("input", "cached", "cache_write", "output", "reasoning")})

ATTEMPT = Shape(
    PresentAttempt,
    {
        "started_at": instant("b"),
        "ended_at": instant("e"),
        "outcome": Column("o", str, AttemptOutcome),
        "error_class": Column("x"),
        "error_code": Column("c"),
        "decision": Column("d"),
        "cost": Column("m", to_cost, from_cost),
        "run": Column("r"),
    },
)

EARLIER_SEND = Shape(
    EarlierSend,
    {
        "epoch": Column("e"),
        "attempt": Column("a"),
        "sent_at": instant("t"),
        "max_cost": Column("m", int, _from_most),
        "is_booked": Column("b", int, bool),
        "promised": Column("p", to_digest, from_digest),
    },
)

OPEN_CALL = Shape(
    OpenCall,
    {
        "step": Column("s"),
        "epoch": Column("e"),
        "attempt": Column("a"),
        "key": Column("k"),
        "state": Column("c", str, CallState),
        "sent_at": instant("t"),
        "first_sent_at": instant("f"),
        "hard_timeout": Column("h", duration_ms, duration_from_ms),
        "max_cost": Column("m", int, _from_most),
        "asked": Column("q", to_digest, _from_asked),
        "target": Column("g"),
        "promised": Column("p", to_digest, from_digest),
        "repeats": Column("r", EARLIER_SEND.to_plain, EARLIER_SEND.from_plain),
    },
)

RESULT_REF = Shape(ResultRef, {"epoch": Column("e"), "attempt": Column("a"), "step": Column("s")})


def to_open(calls: Iterable[OpenCall]) -> Plain | None:
    """The open calls in their order; none is nothing stored."""
    return [OPEN_CALL.to_plain(call) for call in calls] or None


def from_open(stored: list[Mapping[str, Plain]]) -> tuple[OpenCall, ...]:
    """The open calls in their order."""
    return tuple(OPEN_CALL.from_plain(call) for call in stored)


def to_accepted(accepted: Mapping[StepKey, AnswerRef]) -> Plain | None:
    """``step → epoch.attempt``, with a mark after it where the step called nobody."""
    return {step: f"{ref.epoch}.{ref.attempt}{LOCAL * ref.is_local}" for step, ref in accepted.items()} or None


def from_accepted(stored: Mapping[str, str]) -> dict[StepKey, AnswerRef]:
    """The accepted answer of each step; marks of newer code than this are let pass."""
    return {StepKey(step): _from_answer(ref) for step, ref in stored.items()}


def _from_answer(stored: str) -> AnswerRef:
    """One of them."""
    epoch, attempt, *marks = stored.split(".")
    return AnswerRef(epoch=int(epoch), attempt=int(attempt), is_local=LOCAL[1:] in marks)
