"""Traces: which one a request belongs to, and which part of it an attempt is.

A trace is W3C's ``traceparent``: a job keeps the one that its create came with, or one that we begin, and every message
carries it on. We export no spans; the ids stand in log lines, so that a request, its job, its messages and its attempts
are found by one search. An attempt's span id is made from its name: lines of one attempt agree in whichever process
they were written.

Source: https://www.w3.org/TR/trace-context/
"""

from __future__ import annotations

import hashlib
import re

from onceward.domain.names import JobId

# Version 00 has exactly four parts; a later one may have more after them. All zeros are no id, ff is no version.
_TRACEPARENT = re.compile(
    r"(?!ff)(?P<version>[0-9a-f]{2})-(?P<trace>(?!0{32})[0-9a-f]{32})-(?P<span>(?!0{16})[0-9a-f]{16})"
    r"-(?P<flags>[0-9a-f]{2})(?P<more>-.*)?"
)
SAMPLED = "01"  # a trace that we begin is meant to be looked at
_TRACE, _SPAN = 32, 16  # hexadecimal characters


def read_traceparent(header: str | None) -> str | None:
    """The trace that a header names, in the version that we write; ``None`` for one that is absent or malformed."""
    found = None if header is None else _TRACEPARENT.fullmatch(header.strip(" \t"))
    if found is None or (found["version"] == "00" and found["more"]):
        return None
    return f"00-{found['trace']}-{found['span']}-{found['flags']}"


def new_traceparent(token: str) -> str:
    """The beginning of a trace; ``token`` is its randomness and is not to be read from it."""
    digest = hashlib.sha256(token.encode()).hexdigest()
    return f"00-{digest[:_TRACE]}-{digest[_TRACE : _TRACE + _SPAN]}-{SAMPLED}"


def trace_id_of(traceparent: str | None) -> str | None:
    """The trace's id, as log lines have it."""
    known = read_traceparent(traceparent)
    return None if known is None else known.split("-")[1]


def attempt_span(job_id: JobId, epoch: int, attempt: int) -> str:
    """The span id of an attempt: new with each one, the same in all of its runs."""
    return hashlib.sha256(f"{job_id}#{epoch}#{attempt}".encode()).hexdigest()[:_SPAN]
