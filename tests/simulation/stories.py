"""The stories of create, run and crash: each a scenario whose every boundary meets every fault."""

from __future__ import annotations

from onceward.domain.policy import OnUnknown
from onceward.domain.tally import Limits
from tests.simulation.kinds import AT_ONCE, TARIFF, TWO_CALLS
from tests.simulation.model import DEDUPES, LOOKUP, Script
from tests.simulation.scenario import Scenario

ONE_A_MINUTE = Limits.of(creates_per_minute=1, documents_per_day=0)
LEASES = 70.0  # seconds of a call that outlasts its first lease

STORIES = (
    Scenario(name="one-call"),
    Scenario(name="one-call-retry", on_unknown=OnUnknown.RETRY),
    Scenario(name="one-call-lookup", capability=LOOKUP),
    Scenario(name="one-call-dedupes", capability=DEDUPES),
    Scenario(name="slow", call_seconds=LEASES),
    Scenario(name="slow-lookup", call_seconds=LEASES, capability=LOOKUP),
    Scenario(name="slow-dedupes", call_seconds=LEASES, capability=DEDUPES),
    Scenario(name="two-calls", kind=TWO_CALLS, grant=None),
    Scenario(name="two-calls-lookup", kind=TWO_CALLS, capability=LOOKUP),
    Scenario(name="at-once", kind=AT_ONCE),
    Scenario(name="at-once-busy", kind=AT_ONCE, script=(Script.BUSY,), capability=LOOKUP),
    Scenario(name="at-once-busy-retry", kind=AT_ONCE, script=(Script.BUSY,), on_unknown=OnUnknown.RETRY),
    Scenario(name="at-once-busy-dedupes", kind=AT_ONCE, script=(Script.ANSWER, Script.BUSY), capability=DEDUPES),
    Scenario(name="at-once-rejected", kind=AT_ONCE, script=(Script.REJECTED,)),
    Scenario(name="at-once-reset", kind=AT_ONCE, script=(Script.ANSWER, Script.RESET)),
    Scenario(name="tariff-raised", worker_tariff=2 * TARIFF, grant=TARIFF),
    Scenario(name="tariff-lowered", worker_tariff=TARIFF // 2, grant=TARIFF),
    Scenario(name="busy-once", script=(Script.BUSY,)),
    Scenario(name="exhausted", script=(Script.BUSY,) * 3),
    Scenario(name="rejected", script=(Script.REJECTED,)),
    Scenario(name="reset", script=(Script.RESET,)),
    Scenario(name="reset-lookup", script=(Script.RESET,), capability=LOOKUP),
    Scenario(name="reset-odd-lookups", script=(Script.RESET,), capability=LOOKUP, odd_lookups=2),
    Scenario(name="reset-retry", script=(Script.RESET,) * 2, most_attempts=2, on_unknown=OnUnknown.RETRY),
    Scenario(name="same-key", requests=("key-1", "key-1", "key-1/another body")),
    Scenario(name="rate-limited", requests=("key-1", "key-2", "key-2"), limits=ONE_A_MINUTE),
    Scenario(name="batch-over-budget", requests=("key-1", "key-2", "key-3"), grant=2_500),
)
