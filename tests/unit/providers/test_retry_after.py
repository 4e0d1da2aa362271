"""What providers say about when to come back, as they were seen to say it."""

from __future__ import annotations

import os
import time
from collections.abc import Iterator
from datetime import UTC, datetime, timedelta

import pytest

from onceward.providers.retry_after import LONGEST, asked_delay, forbids_retry

NOW = datetime(2025, 1, 15, 12, 0, tzinfo=UTC)


@pytest.fixture(params=["UTC", "America/New_York"], autouse=True)
def time_zone(request: pytest.FixtureRequest) -> Iterator[None]:
    """Every case holds in any time zone of the machine."""
    before = os.environ.get("TZ")
    os.environ["TZ"] = request.param
    time.tzset()
    yield
    if before is None:
        del os.environ["TZ"]
    else:
        os.environ["TZ"] = before
    time.tzset()


@pytest.mark.failure_mode("F28")
@pytest.mark.parametrize(
    ("headers", "seconds"),
    [
        pytest.param({"retry-after": "120"}, 120, id="RA-01 whole seconds"),
        pytest.param({"retry-after": "0"}, 0, id="RA-02 zero is a value"),
        pytest.param({"retry-after": "-1"}, None, id="RA-03 negative"),
        pytest.param({"retry-after": "1m0s"}, None, id="RA-05 a duration of another language"),
        pytest.param({"retry-after": "Wed, 15 Jan 2025 12:02:00 GMT"}, 120, id="RA-06 an HTTP-date is GMT"),
        pytest.param({"retry-after": "Wednesday, 15-Jan-25 12:02:00 GMT"}, 120, id="an RFC 850 date"),
        pytest.param({"retry-after": "Wed Jan 15 12:02:00 2025"}, 120, id="an asctime date"),
        pytest.param({"retry-after": "Wed, 15 Jan 2025 11:59:00 GMT"}, 0, id="RA-08 a date that is past"),
        pytest.param({"retry-after": "Fri, 29 Sep 100000 16:26:57 GMT"}, None, id="RA-13 the year 100000"),
        pytest.param({"retry-after": "Fri, 99 Sep 2025 16:26:57 GMT"}, None, id="no such day"),
        pytest.param({"retry-after": "inf"}, None, id="RA-14 infinity"),
        pytest.param({"retry-after": "1e3"}, None, id="an exponent"),
        pytest.param({"retry-after": "60"}, 60, id="RA-17 at a usual ceiling"),
        pytest.param({"retry-after-ms": "4321", "retry-after": "5"}, 4.321, id="RA-18 the exact one wins"),
        pytest.param({"retry-after-ms": "soon", "retry-after": "5"}, 5, id="an unreadable exact one does not"),
        pytest.param(
            {"anthropic-ratelimit-unified-status": "rejected", "anthropic-ratelimit-unified-reset": "1736942430"},
            30,
            id="RA-21 epoch seconds",
        ),
        pytest.param(
            {"anthropic-ratelimit-unified-status": "rejected", "anthropic-ratelimit-unified-reset": "1736942390"},
            None,
            id="RA-21 a reset that is past",
        ),
        pytest.param(
            {
                "x-ratelimit-remaining-requests": "0",
                "x-ratelimit-reset-requests": "6m0s",
                "x-ratelimit-remaining-tokens": "120",
                "x-ratelimit-reset-tokens": "17ms",
            },
            360,
            id="RA-22 the limit that is used up",
        ),
        pytest.param(
            {
                "anthropic-ratelimit-input-tokens-remaining": "0",
                "anthropic-ratelimit-input-tokens-reset": "2025-01-15T12:00:40Z",
                "anthropic-ratelimit-requests-remaining": "9",
                "anthropic-ratelimit-requests-reset": "2025-01-15T13:00:00Z",
            },
            40,
            id="Anthropic's limit that is used up",
        ),
        pytest.param(
            {"anthropic-ratelimit-tokens-remaining": "0", "anthropic-ratelimit-tokens-reset": "2025-01-15T11:00:00Z"},
            None,
            id="a refill that is past",
        ),
        pytest.param(
            {"anthropic-ratelimit-tokens-remaining": "0", "anthropic-ratelimit-tokens-reset": "soon"},
            None,
            id="a refill at no known time",
        ),
        pytest.param({"x-ratelimit-reset-tokens": "1h2m3.5s"}, 3723.5, id="a long duration"),
        pytest.param({"x-ratelimit-reset": "42"}, 42, id="RA-25 relative seconds"),
        pytest.param({"x-ratelimit-reset": "1736942442"}, 42, id="RA-25 epoch seconds"),
        pytest.param({"x-ratelimit-reset": "1736942442000"}, 42, id="RA-26 epoch milliseconds"),
        pytest.param({"retry-after": "7"}, 7, id="RA-28 whatever the status"),
        pytest.param({"retry-after": "20abc"}, None, id="RA-29 partly a number"),
        pytest.param({"retry-after": "Thu, 16 Jan 2025 12:00:00 GMT"}, 86_400, id="RA-31 a day ahead"),
        pytest.param({}, None, id="RA-32 nothing but text in the body"),
        pytest.param({"retry-after": "  20  "}, 20, id="RA-35 spaces around"),
        pytest.param({"retry-after": ""}, None, id="empty"),
        pytest.param({"x-ratelimit-reset": ""}, None, id="an empty reset"),
    ],
)
def test_each_way_to_ask_for_a_wait_is_read_as_meant(headers: dict[str, str], seconds: float | None) -> None:
    """A well-formed wish is kept to the millisecond, a malformed one is as if it were absent."""
    expected = None if seconds is None else timedelta(seconds=seconds)

    assert expected == asked_delay(headers, NOW)


@pytest.mark.failure_mode("F28")
@pytest.mark.parametrize("asked", ["9999999999", "999999999999999", "Fri, 31 Dec 9999 23:59:59 GMT"])
def test_a_wait_of_centuries_is_cut_to_one_that_no_deadline_outlasts(asked: str) -> None:
    """RA-11: nothing overflows, and the cut wait is still longer than any job may live."""
    delay = asked_delay({"retry-after": asked}, NOW)

    assert delay is not None
    assert timedelta(days=7) < delay <= LONGEST


@pytest.mark.parametrize(("said", "forbidden"), [("false", True), ("FALSE", True), ("true", False), ("", False)])
def test_an_explicit_refusal_is_heard(said: str, forbidden: bool) -> None:
    """RA-27: only the word false forbids."""
    assert forbidden == forbids_retry({"x-should-retry": said})
    assert not forbids_retry({})
