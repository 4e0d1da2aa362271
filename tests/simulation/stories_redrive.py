"""The stories of redrive: dead letters that come back, once or twice, in the first life's place or after it."""

from __future__ import annotations

from tests.simulation.kinds import TWO_CALLS
from tests.simulation.model import Script
from tests.simulation.scenario import Scenario

BUSY = (Script.BUSY,)  # and one attempt, where what comes between more of them and the redrive says nothing new

STORIES = (
    Scenario(name="redrive-doubled", script=BUSY, most_attempts=1, redrives=1, copies=2),
    Scenario(name="redrive-unlimited", script=BUSY, most_attempts=1, redrives=1, grant=None),
    Scenario(name="redrive-twice", script=BUSY * 2, most_attempts=1, redrives=2),
    Scenario(name="redrive-second-step", kind=TWO_CALLS, script=(Script.ANSWER, *BUSY), most_attempts=1, redrives=1),
    Scenario(name="redrive-review", script=(Script.RESET,), redrives=2),
)
