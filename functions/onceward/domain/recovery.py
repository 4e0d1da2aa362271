"""After a maybe: what is known of a call that was sent and has no accepted answer, and what may be done about it.

The order is the design's: stored answers of any attempt (a late answer is evidence); a lookup by key; a re-send that
the target dedupes, while its window lasts; then the kind's policy. "Not found" is conclusive only once the request
can no longer be on its way: ``sent_at`` + send window + hard timeout + the target's lag + twice the skew allowance.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from datetime import datetime
from enum import StrEnum

from onceward.domain.job import OpenCall
from onceward.domain.policy import Capability, OnUnknown
from onceward.domain.records import Answer
from onceward.domain.repeating import is_silent
from onceward.domain.states import CallState
from onceward.domain.timing import Timing


class LookupReply(StrEnum):
    """What a target said when it was asked for a key (a found call is an ``Answer`` instead)."""

    NOT_FOUND = "not_found"
    UNREACHABLE = "unreachable"


class PollReply(StrEnum):
    """What a provider said of work under a reference, where it is not the answer itself."""

    PENDING = "pending"
    GONE = "gone"
    UNREACHABLE = "unreachable"


@dataclass(frozen=True, slots=True)
class Adopt:
    """The answer is here: it ends the maybe."""

    answer: Answer


@dataclass(frozen=True, slots=True)
class DidFail:
    """The call was answered with a failure: it is recorded, and no maybe is left."""

    answer: Answer


@dataclass(frozen=True, slots=True)
class DidNotHappen:
    """The target would know of it by now, and does not."""


@dataclass(frozen=True, slots=True)
class LookAgain:
    """Not conclusive yet."""

    at: datetime


@dataclass(frozen=True, slots=True)
class Pending:
    """The provider works on it, and will answer under its reference."""


@dataclass(frozen=True, slots=True)
class MayResend:
    """Another send is allowed; ``is_deduped`` tells whether it can cost a second time."""

    is_deduped: bool


@dataclass(frozen=True, slots=True)
class Forbidden:
    """Nobody may guess: a person decides, or a late answer."""


type Finding = Adopt | DidFail | DidNotHappen | LookAgain | Pending | MayResend | Forbidden


def from_stored_answers(call: OpenCall, answers: Sequence[Answer]) -> Adopt | DidFail | None:
    """A successful answer of any attempt is adopted; a failed one counts only for the send it answered.

    That of a repeat may say nothing of the send before it, and then ends no maybe.
    """
    for answer in answers:
        if answer.step == call.step and answer.state is CallState.SUCCEEDED:
            return Adopt(answer)
    refusal = refusal_of(call, answers)
    return None if refusal is None or is_silent(call, refusal) else DidFail(refusal)


def refusal_of(call: OpenCall, answers: Sequence[Answer]) -> Answer | None:
    """The failed answer to this very send, if there is one."""
    place = (call.step, call.epoch, call.attempt)
    failed = (answer for answer in answers if answer.state is CallState.FAILED)
    return next((answer for answer in failed if (answer.step, answer.epoch, answer.attempt) == place), None)


def conclusive_at(call: OpenCall, capability: Capability, timing: Timing) -> datetime:
    """From when on a target's "not found" means that the call did not happen."""
    lag = capability.lookup_lag
    if lag is None:
        raise ValueError("the target answers no lookups")
    return call.sent_at + timing.send_window + call.hard_timeout + lag + 2 * timing.skew_allowance


def from_lookup(
    call: OpenCall, reply: LookupReply, capability: Capability, timing: Timing, now: datetime
) -> DidNotHappen | LookAgain:
    """What a lookup without a finding is worth now."""
    at = conclusive_at(call, capability, timing)
    if reply is LookupReply.UNREACHABLE:
        return LookAgain(max(at, now + timing.infrastructure_backoff))
    return DidNotHappen() if now >= at else LookAgain(at)


def without_lookup(
    call: OpenCall,
    capability: Capability,
    on_unknown: OnUnknown,
    timing: Timing,
    now: datetime,
    *,
    is_allowed: bool = False,
) -> MayResend | Forbidden:
    """What may be done when nothing can be found out; ``is_allowed``: a person has said that it may be repeated."""
    window = capability.dedup_window
    # The target's clock decides when its window ends, so ours gives it up early.
    if window is not None and now < call.first_sent_at + window - 2 * timing.skew_allowance - call.hard_timeout:
        return MayResend(is_deduped=True)
    return MayResend(is_deduped=False) if is_allowed or on_unknown is OnUnknown.RETRY else Forbidden()


def is_carried(call: OpenCall, epoch: int) -> bool:
    """Whether an open call is of an earlier epoch than its row: only a person's ``retry`` takes one along."""
    return call.epoch < epoch
