"""Read a provider's wish when to come back, from whichever header says it.

The most exact header wins: ``retry-after-ms``, then ``Retry-After`` (RFC 9110: whole seconds or an HTTP-date; a
fraction is taken too), then the reset headers of rate limits, which providers fill with durations, epoch seconds or
epoch milliseconds alike. What is malformed is as if it were absent: the policy's own backoff then holds. Nothing here
sleeps, and nothing is negative.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from datetime import UTC, datetime, timedelta
from email.utils import parsedate_to_datetime

# Beyond every job's deadline, so the answer is to give up; and now + this never overflows.
LONGEST = timedelta(days=365)
_EPOCH_SECONDS = 1e9  # a number this large is an instant (2001 and later), not a wait of 31 years
_EPOCH_MILLISECONDS = 1e11  # and this large it counts milliseconds, not seconds of the year 5138

_NUMBER = re.compile(r"[0-9]{1,15}(?:\.[0-9]{1,9})?")
_HTTP_DATE = re.compile(r"[A-Za-z]{3,9}, ?[0-9]{1,2}[ -]|[A-Za-z]{3} [A-Za-z]{3} ")
_DURATION = re.compile(
    r"(?:(?P<days>\d{1,4})d)?(?:(?P<hours>\d{1,5})h)?(?:(?P<minutes>\d{1,6})m(?!s))?"
    r"(?:(?P<seconds>\d{1,9}(?:\.\d{1,9})?)s)?(?:(?P<milliseconds>\d{1,9}(?:\.\d{1,9})?)ms)?"
)
_LIMITS = ("requests", "tokens")
_CLAUDE_LIMITS = ("requests", "tokens", "input-tokens", "output-tokens")


def asked_delay(headers: Mapping[str, str], now: datetime) -> timedelta | None:
    """The least wait that the answer asks for; ``None``: it asks for none. Header names are lower case."""
    milliseconds = _number(headers.get("retry-after-ms"))
    if milliseconds is not None:
        return _bounded(milliseconds / 1000)
    asked = headers.get("retry-after", "").strip()
    seconds = _number(asked)
    if seconds is not None:
        return _bounded(seconds)
    at = _http_date(asked)
    if at is not None:
        return _bounded((at - now).total_seconds())
    return max(_resets(headers, now), default=None)


def forbids_retry(headers: Mapping[str, str]) -> bool:
    """Whether the provider says outright that the same request will never do better."""
    return headers.get("x-should-retry", "").strip().lower() == "false"


def _resets(headers: Mapping[str, str], now: datetime) -> Iterator[timedelta]:
    """When each limit that is used up is refilled; a limit with something left is no reason to wait."""
    plain = _instant_or_wait(headers.get("x-ratelimit-reset"), now)
    if plain is not None:
        yield plain
    for limit in _LIMITS:
        if headers.get(f"x-ratelimit-remaining-{limit}", "0").strip() == "0":
            wait = _instant_or_wait(headers.get(f"x-ratelimit-reset-{limit}"), now)
            if wait is not None:
                yield wait
    for limit in _CLAUDE_LIMITS:
        if headers.get(f"anthropic-ratelimit-{limit}-remaining", "").strip() == "0":
            at = _instant(headers.get(f"anthropic-ratelimit-{limit}-reset", "").strip())
            if at is not None and at > now:
                yield _bounded((at - now).total_seconds())
    if headers.get("anthropic-ratelimit-unified-status", "").strip() == "rejected":
        wait = _instant_or_wait(headers.get("anthropic-ratelimit-unified-reset"), now)
        if wait is not None:
            yield wait


def _instant_or_wait(text: str | None, now: datetime) -> timedelta | None:
    """A duration (``6m0s``), a few seconds, or an instant since 1970; an instant that is past says nothing."""
    number = _number(text)
    if number is None:
        return _duration((text or "").strip())
    if number < _EPOCH_SECONDS:
        return _bounded(number)
    since_epoch = number if number < _EPOCH_MILLISECONDS else number / 1000
    wait = since_epoch - now.timestamp()
    return _bounded(wait) if wait > 0 else None


def _duration(text: str) -> timedelta | None:
    """Read ``1h2m3.5s`` and ``17ms``."""
    found = _DURATION.fullmatch(text)
    if not text or found is None:
        return None
    parts = {unit: float(value) for unit, value in found.groupdict().items() if value is not None}
    return min(timedelta(**parts), LONGEST)


def _number(text: str | None) -> float | None:
    """A non-negative decimal number and nothing else: no sign, exponent, ``inf`` or unit."""
    stripped = (text or "").strip()
    return float(stripped) if _NUMBER.fullmatch(stripped) else None


def _http_date(text: str) -> datetime | None:
    """An HTTP-date in any of its three forms, always GMT, whatever the machine's time zone."""
    if not _HTTP_DATE.match(text):
        return None
    try:
        at = parsedate_to_datetime(text)
    except (ValueError, OverflowError, TypeError):  # a year or a day that no calendar has
        return None
    return at if at.tzinfo is not None else at.replace(tzinfo=UTC)


def _instant(text: str) -> datetime | None:
    """An RFC 3339 instant with its zone, as Anthropic's limits name their refill."""
    try:
        at = datetime.fromisoformat(text)
    except ValueError:
        return None
    return at if at.tzinfo is not None else None


def _bounded(seconds: float) -> timedelta:
    """Seconds as a duration between nothing and ``LONGEST``."""
    return timedelta(seconds=min(max(seconds, 0.0), LONGEST.total_seconds()))
