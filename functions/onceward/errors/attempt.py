"""What ends an attempt, or a step of it."""

from __future__ import annotations

from dataclasses import dataclass
from datetime import timedelta

from onceward.errors.root import OncewardError


@dataclass(frozen=True, slots=True, kw_only=True)
class Usage:
    """Tokens as the provider counted them; ``cached`` is part of ``input``, ``reasoning`` part of ``output``."""

    input: int = 0
    cached: int = 0
    cache_write: int = 0
    output: int = 0
    reasoning: int = 0


class AttemptError(OncewardError):
    """Raised inside an attempt and turned into its outcome."""

    code = "attempt_error"


class JobFailure(AttemptError):
    """The kind's code gives up for good; its code reaches the user."""

    code = "job_failed"


class CallFailure(AttemptError):
    """A call failed; the adapter that made it says how, and whether it may have cost something."""

    code = "call_failed"

    def __init__(  # noqa: PLR0913 - what is known of a failure, each part by its name
        self,
        detail: str = "",
        *,
        code: str,
        error_class: str,
        was_sent: bool,
        retry_after: timedelta | None = None,
        usage: Usage | None = None,
        model: str | None = None,
        request_id: str | None = None,
    ) -> None:
        """``error_class`` is one of the retry decision's classes; ``was_sent``: bytes may have reached the target.

        ``usage`` and ``model``: what a failed answer was charged for all the same; ``request_id``: the provider's
        name of the call, for a person who has to ask there.
        """
        super().__init__(detail, code=code)
        self.error_class = error_class
        self.was_sent = was_sent
        self.retry_after = retry_after
        self.usage = usage
        self.model = model
        self.request_id = request_id


class LeaseLost(AttemptError):
    """A fenced write was refused: another run holds the job, or it has ended."""

    code = "lease_lost"


class StopRun(AttemptError):
    """The run may not start anything more: out of time, cancelled, or switched off."""

    code = "stopped"


class AnswerLater(AttemptError):
    """The provider works on a step; the run ends, and the job goes on when the answer is there."""

    code = "answer_later"


class MayNotSend(AttemptError):
    """A closing run came to a step without a recorded answer."""

    code = "may_not_send"
