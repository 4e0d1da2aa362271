"""The stories of the kill switch: everything is off for a while, before, between or after what is sent."""

from __future__ import annotations

from onceward.domain.policy import OnUnknown
from tests.simulation.kinds import TWO_CALLS
from tests.simulation.model import DEDUPES
from tests.simulation.scenario import Scenario

STORIES = (
    Scenario(name="off-before", off=(0.0, 50.0)),
    Scenario(name="off-between-steps", kind=TWO_CALLS, call_seconds=8.0, off=(1.0, 50.0)),
    Scenario(name="off-dedupes", capability=DEDUPES, off=(0.03, 50.0)),
    Scenario(name="off-retry", on_unknown=OnUnknown.RETRY, off=(0.03, 60.0)),
)
