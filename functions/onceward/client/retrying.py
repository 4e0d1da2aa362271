"""Whether to send the same request again, and how much later: a decision over data.

Every request may be sent again: reads and cancels change nothing more, a create has its key, a document its checksum.
"""

from __future__ import annotations

from collections.abc import Mapping
from datetime import UTC, datetime, timedelta
from email.utils import parsedate_to_datetime

RETRYABLE = frozenset({408, 429, 502, 503, 504})
FIRST_BACKOFF = 0.5  # seconds, doubled by each try
LONGEST_BACKOFF = 8.0  # seconds
# Nobody should sleep longer inside a call than this. Who is asked to wait longer is told, and decides.
MOST_PATIENCE = timedelta(minutes=1)


def decide_retry(
    *, status: int | None, headers: Mapping[str, str], tries: int, max_retries: int, draw: float, now: datetime
) -> float | None:
    """Seconds until the next try, or ``None``: no more.

    ``status`` is ``None`` where there was no answer; ``tries`` were made so far. Backoff has full jitter (``draw`` in
    [0, 1)), so that clients which failed together do not come back together; what the server asks for is a floor
    below it.
    """
    if tries > max_retries:
        return None
    if status is not None and (status not in RETRYABLE or forbids_retry(headers)):
        return None
    asked = asked_delay(headers, now) or timedelta(0)
    if asked > MOST_PATIENCE:
        return None
    backoff = min(LONGEST_BACKOFF, FIRST_BACKOFF * 2.0 ** (tries - 1))
    return asked.total_seconds() + draw * backoff


def forbids_retry(headers: Mapping[str, str]) -> bool:
    """Whether the server says outright that the same request will never do better."""
    return headers.get("x-should-retry", "").strip().lower() == "false"


def asked_delay(headers: Mapping[str, str], now: datetime) -> timedelta | None:
    """What ``Retry-After`` asks for: whole seconds or an HTTP-date (RFC 9110); what is malformed is as if absent."""
    text = headers.get("retry-after", "").strip()
    if text.isascii() and text.isdigit():
        return timedelta(seconds=min(int(text[:9]), timedelta(days=365).total_seconds()))
    try:
        at = parsedate_to_datetime(text)
    except (ValueError, OverflowError, TypeError):
        return None
    return max(timedelta(0), (at if at.tzinfo else at.replace(tzinfo=UTC)) - now)
