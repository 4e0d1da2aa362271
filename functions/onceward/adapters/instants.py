"""Instants as stored: epoch milliseconds, and whole seconds for what expires, because that is what TTL reads."""

from __future__ import annotations

from datetime import UTC, datetime, timedelta

EPOCH = datetime(1970, 1, 1, tzinfo=UTC)
_MS = timedelta(milliseconds=1)
_SECOND = timedelta(seconds=1)


def to_ms(at: datetime) -> int:
    """Epoch milliseconds, cut; integer arithmetic, because a float of this size loses them."""
    return (at - EPOCH) // _MS


def from_ms(ms: int) -> datetime:
    """The aware instant of epoch milliseconds."""
    return EPOCH + ms * _MS


def duration_ms(duration: timedelta) -> int:
    """A duration in milliseconds, cut."""
    return duration // _MS


def duration_from_ms(ms: int) -> timedelta:
    """The duration of that many milliseconds."""
    return ms * _MS


def to_expiry(at: datetime) -> int:
    """Epoch seconds rounded up: what expires lives at least as long as promised, and less than a second longer."""
    return -((EPOCH - at) // _SECOND)


def from_expiry(seconds: int) -> datetime:
    """The instant of a stored expiry."""
    return EPOCH + seconds * _SECOND


def seconds_passed(now: datetime) -> int:
    """Epoch seconds cut: an expiry in whole seconds is past at ``now`` exactly if it is at most this."""
    return (now - EPOCH) // _SECOND
