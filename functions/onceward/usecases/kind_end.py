"""How a kind's code ended, read from whatever it returned or raised; what it said goes no further.

All that can be raised passes through here, so that no other place has to mistrust it: codes are checked for being
codes, groups are searched for the failure that tells most, and what is none of our errors is a fault of the code.
"""

from __future__ import annotations

import re
from dataclasses import dataclass

from pydantic import BaseModel, ValidationError

from onceward.domain.retry import RETRYABLE, ErrorClass, Failure
from onceward.errors import (
    AnswerLater,
    CallFailure,
    InfrastructureError,
    JobFailure,
    LeaseLost,
    MayNotSend,
    OncewardError,
    StopRun,
)
from onceward.usecases.place import place_of

CODE = re.compile(r"[a-z][a-z0-9_]{0,63}")


@dataclass(frozen=True, slots=True)
class Finished:
    """The kind's code returned an output of its own model, which is JSON."""

    output: BaseModel


@dataclass(frozen=True, slots=True)
class Failed:
    """It did not; the retry decision, or the closing rule, says what follows.

    ``fault``: where a bug in the kind's code is, without what it said.
    """

    failure: Failure
    fault: str | None = None


@dataclass(frozen=True, slots=True)
class Stopped:
    """It came to something that this run may not do."""

    code: str


type KindEnd = Finished | Failed | Stopped


def end_of(raised: BaseException) -> Failed | Stopped:
    """What the raised error says of the attempt.

    Raises ``LeaseLost`` and ``InfrastructureError``: those are no fault of the attempt.
    """
    try:
        return _read(min(_leaves(raised), key=_rank))
    except (LeaseLost, InfrastructureError):
        raise
    except Exception:  # noqa: BLE001  # an error of a class of the kind's own, which lacks what ours have
        return _fault(raised)


def _read(error: BaseException) -> Failed | Stopped:
    """One error, by its class."""
    match error:
        case LeaseLost() | InfrastructureError():
            error.code = _code_of(error)
            raise error
        case ValidationError():
            return Failed(Failure(error_class=ErrorClass.INVALID_OUTPUT, code="invalid_output"))
        case CallFailure():
            known = ErrorClass(error.error_class)  # raises for a class that a kind's own code made up
            return Failed(Failure(error_class=known, code=_code_of(error), retry_after=error.retry_after))
        case StopRun() | MayNotSend() | AnswerLater():
            return Stopped(_code_of(error))
        case OncewardError():
            return Failed(Failure(error_class=ErrorClass.PERMANENT, code=_code_of(error)))
        case _:
            return _fault(error)


def _fault(error: BaseException) -> Failed:
    """A bug in the kind's code may be mended by a deploy: it is tried again, then redriven as a dead letter."""
    return Failed(Failure(error_class=ErrorClass.TRANSIENT, code="kind_error"), place_of(error))


def _code_of(error: OncewardError) -> str:
    """The error's code: a kind chooses its own, and what is no code could be content, on its way to rows and logs."""
    told: tuple[object, ...] = (error.code, type(error).code, JobFailure.code)
    return next(code for code in told if isinstance(code, str) and CODE.fullmatch(code))


def _leaves(raised: BaseException) -> list[BaseException]:
    """What a group, as a ``TaskGroup`` raises it, is made of, in its order; a lone error is its own leaf."""
    leaves: list[BaseException] = []
    left = [raised]
    while left:
        error = left.pop()
        if isinstance(error, BaseExceptionGroup):
            left.extend(reversed(error.exceptions))
        else:
            leaves.append(error)
    return leaves


def _rank(error: BaseException) -> int:
    """Which of several failures decides; the lower, the more it says.

    A final failure comes before an outage beside it: with the attempt given back, the paid step would be asked again.
    What is told to come back later comes before a bug: its floor is kept.
    """
    match error:
        case LeaseLost():
            return 0
        case CallFailure() if error.error_class == ErrorClass.OUTCOME_UNKNOWN:
            return 2
        case InfrastructureError():
            return 3
        case StopRun() | MayNotSend():
            return 4
        case CallFailure() if error.error_class in RETRYABLE:
            return 5
        case AnswerLater():
            return 6
        case OncewardError() | ValidationError():
            return 1
        case _:
            return 7
