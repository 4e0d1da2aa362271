"""Secrets from Secrets Manager: read when first needed, kept for five minutes, never written anywhere.

Kept in this process's memory only, so that a rotated secret is used everywhere within ``KEPT`` and without a deploy.
"""

from __future__ import annotations

import threading
from dataclasses import dataclass
from datetime import timedelta
from typing import TYPE_CHECKING, Final

from botocore.config import Config

from onceward.adapters.aws_errors import translated
from onceward.adapters.threads import Threads
from onceward.errors import SecretUnavailable
from onceward.usecases.ports import Clock

if TYPE_CHECKING:  # stubs exist for the checker only
    from mypy_boto3_secretsmanager import SecretsManagerClient

CONFIG: Final = Config(
    connect_timeout=1,  # seconds
    read_timeout=3,
    retries={"mode": "standard", "total_max_attempts": 3},
)
KEPT = timedelta(minutes=5)  # at most this long a rotated secret is still used; and one read per process costs nothing


@dataclass(frozen=True, slots=True)
class _Kept:
    """A secret and the monotonic second after which it is read again."""

    value: str
    until: float

    def __repr__(self) -> str:
        return "_Kept(…)"  # a traceback's locals must not show it


class Secrets:
    """Reads secrets by name or ARN. Usable from several threads and event loops at once."""

    def __init__(self, client: SecretsManagerClient, threads: Threads, clock: Clock) -> None:
        """Use a client that was configured with ``CONFIG``; nothing is read yet."""
        self._client = client
        self._threads = threads
        self._clock = clock
        self._kept: dict[str, _Kept] = {}
        self._reading = threading.Lock()  # held by pool threads only, never by an event loop

    async def get(self, secret_id: str) -> str:
        """The secret's present value; raises ``SecretUnavailable``, also for one that has no text value."""
        kept = self._fresh(secret_id)
        if kept is not None:
            return kept
        with translated("secretsmanager"):
            return await self._threads.call(self._read, secret_id=secret_id)

    def _read(self, *, secret_id: str) -> str:
        """Read and keep it, in a thread: the jobs of a batch that all need it wait for the first one's read."""
        with self._reading:
            kept = self._fresh(secret_id)
            if kept is not None:
                return kept
            value = self._client.get_secret_value(SecretId=secret_id).get("SecretString")
            if not value:
                raise SecretUnavailable("the secret has no text value")
            self._kept[secret_id] = _Kept(value, self._clock.monotonic() + KEPT.total_seconds())
            return value

    def _fresh(self, secret_id: str) -> str | None:
        """The kept value, unless it has been kept long enough."""
        kept = self._kept.get(secret_id)
        return kept.value if kept is not None and self._clock.monotonic() < kept.until else None
