"""What is kept of an agent's action beside its job: each transport attempt seen, each run's list, each person's word.

They are cold items: however often an agent asks, the hot row stays as it is. None holds an argument.
"""

from __future__ import annotations

import base64
import hashlib
from dataclasses import dataclass
from datetime import datetime
from enum import StrEnum

from onceward.domain.names import JobId, TenantId

SCHEMA_VERSION = 1  # as of every item
_DIGITS = 26  # base32 characters of a SHA-256: 130 bits


class Seen(StrEnum):
    """What a transport attempt came to."""

    CREATED = "created"
    REPLAYED = "replayed"
    REFUSED = "refused"


class Word(StrEnum):
    """What a person said about an action."""

    APPROVE = "approve"
    RESET = "reset"


@dataclass(frozen=True, slots=True, kw_only=True)
class SeenAttempt:
    """One request for an action as it arrived; ``token`` tells apart what one millisecond brought.

    ``attempt``, ``run_id`` and ``tool_call_id`` are the caller's words, recorded and never compared.
    """

    tenant_id: TenantId
    job_id: JobId
    at: datetime
    token: str
    came_to: Seen
    by: str
    attempt: int | None = None
    run_id: str | None = None
    tool_call_id: str | None = None
    schema_version: int = SCHEMA_VERSION

    @property
    def sort_key(self) -> str:
        """In the order of their arrival."""
        return f"{seen_prefix()}{_instant(self.at)}#{self.token[:8]}"


@dataclass(frozen=True, slots=True, kw_only=True)
class ActionWord:
    """Who approved or reset an action in an epoch, when and why; ``fingerprint``: of the arguments that were meant."""

    tenant_id: TenantId
    job_id: JobId
    epoch: int
    word: Word
    by: str
    at: datetime
    why: str
    fingerprint: str
    schema_version: int = SCHEMA_VERSION

    @property
    def sort_key(self) -> str:
        """One of each per epoch: an approval starts it, a reset ends it."""
        return word_place(self.epoch, self.word)


@dataclass(frozen=True, slots=True, kw_only=True)
class RunEntry:
    """One operation in the list of a run; it lies under the run (``run_place``) in a job's stead."""

    tenant_id: TenantId
    job_id: JobId
    operation: JobId
    created_at: datetime
    schema_version: int = SCHEMA_VERSION

    @property
    def sort_key(self) -> str:
        """In the order of the operations' creation; writing it again changes nothing."""
        return f"{run_prefix()}{_instant(self.created_at)}#{self.operation}"


def run_place(run_id: str) -> JobId:
    """The partition of a run, as a job's id would name one; no job's id has this shape."""
    digest = base64.b32encode(hashlib.sha256(run_id.encode()).digest()).decode()
    return JobId(f"run-{digest[:_DIGITS]}")


def seen_prefix() -> str:
    """Where all transport attempts of an action are found, oldest first."""
    return "seen#"


def run_prefix() -> str:
    """Where all operations of a run are found, oldest first."""
    return "operation#"


def word_prefix() -> str:
    """Where all words about an action are found, oldest epoch first."""
    return "word#"


def word_place(epoch: int, word: Word) -> str:
    """Where a word about an epoch is kept."""
    return f"{word_prefix()}{epoch:04d}#{word}"


def _instant(at: datetime) -> str:
    """An instant whose text sorts as time does."""
    return at.strftime("%Y%m%dT%H%M%S.%f")
