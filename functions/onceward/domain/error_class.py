"""What kinds of failure there are: the words that adapters classify by and policies speak of."""

from __future__ import annotations

from enum import StrEnum


class ErrorClass(StrEnum):
    """What kind of failure it was; decided by the adapter that saw it, from structured codes."""

    TRANSIENT = "transient"
    RATE_LIMITED = "rate_limited"
    PERMANENT = "permanent"
    INVALID_OUTPUT = "invalid_output"
    POLICY_REJECTED = "policy_rejected"
    QUOTA_EXHAUSTED = "quota_exhausted"
    OUTCOME_UNKNOWN = "outcome_unknown"


RETRYABLE = frozenset({ErrorClass.TRANSIENT, ErrorClass.RATE_LIMITED})  # what another attempt may well mend
# What a policy may name at all: a full purse may be filled, while the others would fail again, or pay again.
MAY_BE_RETRIED = RETRYABLE | {ErrorClass.QUOTA_EXHAUSTED}
