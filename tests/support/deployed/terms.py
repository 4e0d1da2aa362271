"""The sums and limits of the tests' kinds, for the kinds and for tests that check what became of them."""

from __future__ import annotations

from collections.abc import Mapping
from datetime import timedelta
from typing import Literal

from onceward.domain.tariff import PerToken

TARIFF = 5_000  # micro-USD that the user is charged for one result
PAGE = 700  # micro-USD for a page, the whole at most TARIFF, as for tokens
TOKENS = PerToken(input=20_000_000, output=30_000_000)
MAX_CALL_COST = 1_000  # micro-USD that a call may have cost while nobody knows
MAX_ATTEMPTS = 2
CALL = timedelta(seconds=5)  # a hard timeout that tests can wait for
LONG_CALL = timedelta(seconds=60)  # one that outlasts a lease, a takeover and a busy machine
LATER, LATER_BATCH = "test.later", "test.later_batch"  # kinds whose models answer later
BROWN_OUT = "test.brown_out"  # the kind whose model is its own
PATIENT_ATTEMPTS = 20  # of a job that lives through a brown-out

type Promise = Literal["none", "dedupes", "lookup"]

# What a target promises about repeats, and how the names of the kinds end whose target does.
PROMISES: Mapping[Promise, str] = {"none": "", "dedupes": "_deduped", "lookup": "_looked_up"}


def kind_of(name: str, promise: Promise) -> str:
    """The kind whose target promises so much about repeats."""
    return name + PROMISES[promise]
