"""The stories of redrive: dead letters that come back, once or twice, in the first life's place or after it."""

from __future__ import annotations

from tests.simulation.kinds import TWO_CALLS
from tests.simulation.model import Script
from tests.simulation.scenario import Scenario

BUSY = (Script.BUSY,) * 3  # as many as there are attempts
TWICE = BUSY[:2]  # of two attempts, where what comes between them and the redrive says nothing new

STORIES = (
    Scenario(name="redrive-doubled", script=BUSY, redrives=1, copies=2),
    Scenario(name="redrive-unlimited", script=BUSY, redrives=1, grant=None),
    Scenario(name="redrive-twice", script=TWICE * 2, most_attempts=2, redrives=2),
    Scenario(name="redrive-second-step", kind=TWO_CALLS, script=(Script.ANSWER, *TWICE), most_attempts=2, redrives=1),
    Scenario(name="redrive-review", script=(Script.RESET,), redrives=2),
)
