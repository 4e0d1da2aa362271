"""What a model server promises about repeats, as the deployment declares it.

OpenAI's chat completions promise nothing (``none``), unless they are stored there (``stored``); a gateway in front of a
model may dedupe by Idempotency-Key or answer lookups. Declare only what its documentation says: a window that is not
kept is a second payment.
"""

from __future__ import annotations

from datetime import timedelta
from typing import Literal, assert_never

from onceward.domain.policy import Capability

type Declared = Literal["none", "dedupes", "lookup", "stored"]

DEDUP_WINDOW = timedelta(hours=24)  # what services that dedupe by key commonly state
STORED_LAG = timedelta(minutes=1)  # OpenAI states none; a stored completion is listed within seconds
LOOKUP_LAG = timedelta(seconds=1)  # the local model server finds an answer at once; this is for its clock


def capability_of(declared: Declared, *, lookup_lag: timedelta = LOOKUP_LAG) -> Capability:
    """The declared word as what recovery reads."""
    match declared:
        case "none":
            return Capability()
        case "dedupes":
            return Capability(dedup_window=DEDUP_WINDOW)
        case "lookup":
            return Capability(lookup_lag=lookup_lag)
        case "stored":
            return Capability(lookup_lag=max(lookup_lag, STORED_LAG))
        case _:
            assert_never(declared)
