"""The stories of cancel: a wish at every phase of a job."""

from __future__ import annotations

from tests.simulation.model import LOOKUP, Script
from tests.simulation.scenario import Scenario

LONG = 100.0  # seconds of a call during which the heartbeat hears of the cancel

STORIES = (
    Scenario(name="cancel-queued", cancel_at=0.0),
    Scenario(name="cancel-before-settle", cancel_at=2.0),
    Scenario(name="cancel-after-settle", cancel_at=9.0),
    Scenario(name="cancel-while-calling", call_seconds=LONG, cancel_at=10.0),
    Scenario(name="cancel-while-retrying", script=(Script.BUSY,), cancel_at=0.15),
    Scenario(name="cancel-while-looking-up", script=(Script.RESET,), capability=LOOKUP, cancel_at=8.0),
    Scenario(name="cancel-in-review", script=(Script.RESET,), cancel_at=20.0),
)
