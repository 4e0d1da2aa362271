"""What is left of a call's hard timeout.

It counts from the moment that the call was handed over, whatever is done before the request leaves: recovery trusts a
"not found" once the journal's send window and the hard timeout have passed, so no request may be on its way after it.
"""

from __future__ import annotations

from datetime import timedelta

from onceward.domain.retry import ErrorClass
from onceward.errors import CallFailure
from onceward.usecases.ports import Clock


class TimeLeft:
    """One call's time, from now on. Both clocks are asked: a frozen process stops one, a corrected one is set back."""

    def __init__(self, clock: Clock, hard_timeout: timedelta) -> None:
        """It runs at once."""
        self._clock = clock
        self._whole = hard_timeout
        self._wall, self._monotonic = clock.now(), clock.monotonic()

    def left(self) -> timedelta:
        """By the clock that has gone further; nothing, or less, when it is used up."""
        wall = self._clock.now() - self._wall
        monotonic = timedelta(seconds=self._clock.monotonic() - self._monotonic)
        return self._whole - max(wall, monotonic)

    def for_request(self) -> timedelta:
        """What the request may take; raises ``CallFailure`` (not sent) if there is nothing left for it."""
        left = self.left()
        if left <= timedelta(0):
            raise CallFailure(
                "its time was used up before it left",
                code="held_up",
                error_class=ErrorClass.TRANSIENT,
                was_sent=False,
            )
        return left
