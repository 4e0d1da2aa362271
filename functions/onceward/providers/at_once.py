"""What a provider that answers at once says of work under a reference: it never gave one."""

from __future__ import annotations

from datetime import timedelta

from onceward.domain.names import DownstreamKey
from onceward.domain.recovery import PollReply
from onceward.domain.states import ProviderCancel
from onceward.usecases.ports import ModelReply


class AnswersAtOnce:
    """The part of the ``Provider`` port that has no use here."""

    async def poll(self, reference: str, key: DownstreamKey, timeout: timedelta) -> ModelReply | PollReply:  # noqa: ARG002
        """A reference that an earlier configuration was given: nobody here knows it."""
        return PollReply.GONE

    async def stop(self, reference: str, timeout: timedelta) -> ProviderCancel:  # noqa: ARG002
        """There is nothing to stop."""
        return ProviderCancel.UNSUPPORTED

    async def forget(self, reference: str, timeout: timedelta) -> None:
        """There is nothing to delete."""
