"""Traces by W3C's rules: what is read, what is begun, and what an attempt's part is called."""

from __future__ import annotations

import pytest

from onceward.domain.tracing import attempt_span, new_traceparent, read_traceparent, trace_id_of
from tests.support.builders import JOB_ID

TRACE, SPAN = "4bf92f3577b34da6a3ce929d0e0e4736", "00f067aa0ba902b7"
GOOD = f"00-{TRACE}-{SPAN}-01"


@pytest.mark.parametrize(
    ("header", "read"),
    [
        pytest.param(GOOD, GOOD, id="as specified"),
        pytest.param(f" {GOOD}\t", GOOD, id="white space around a field"),
        pytest.param(f"00-{TRACE}-{SPAN}-00", f"00-{TRACE}-{SPAN}-00", id="not sampled"),
        pytest.param(f"cc-{TRACE}-{SPAN}-01-what-the-future-will-be-like", GOOD, id="a later version"),
        pytest.param(f"cc-{TRACE}-{SPAN}-01.what", None, id="a later version that is none"),
        pytest.param(f"{GOOD}-more", None, id="more than version 00 has"),
        pytest.param(f"ff-{TRACE}-{SPAN}-01", None, id="no version"),
        pytest.param(f"00-{'0' * 32}-{SPAN}-01", None, id="no trace"),
        pytest.param(f"00-{TRACE}-{'0' * 16}-01", None, id="no span"),
        pytest.param(f"00-{TRACE.upper()}-{SPAN}-01", None, id="upper case"),
        pytest.param(f"{GOOD},{GOOD}", None, id="sent twice"),
        pytest.param("garbage", None, id="garbage"),
        pytest.param("", None, id="empty"),
        pytest.param(None, None, id="absent"),
    ],
)
def test_header_is_read_by_the_rules_or_not_at_all(header: str | None, read: str | None) -> None:
    """What is malformed is as if it were absent, and is never refused."""
    assert read_traceparent(header) == read


def test_trace_that_we_begin_is_well_formed_and_its_own() -> None:
    """Another token, another trace; the token cannot be read from it."""
    one, other = new_traceparent("A" * 26), new_traceparent("B" * 26)

    assert read_traceparent(one) == one
    assert trace_id_of(one) != trace_id_of(other)
    assert "A" * 8 not in one.upper().replace("-", "")


def test_span_is_an_attempts_own() -> None:
    """New with each attempt and epoch, the same in each of its runs."""
    spans = {attempt_span(JOB_ID, epoch, attempt) for epoch in (1, 2) for attempt in (1, 2, 3)}

    assert len(spans) == 6
    assert attempt_span(JOB_ID, 1, 1) in spans
    assert all(len(span) == 16 for span in spans)
