"""The stories of resolve: each verdict of a person beside looks, late answers and other verdicts."""

from __future__ import annotations

from tests.simulation.kinds import TWO_CALLS
from tests.simulation.model import DEDUPES, LOOKUP, Script
from tests.simulation.scenario import Scenario

LOST = (Script.RESET,)
SOON, WITH_THE_LOOK = 5.0, 61.0  # seconds after the rest: the first look comes a minute after the letter

STORIES = (
    Scenario(name="accept", script=LOST, verdicts=((("accept", SOON),),)),
    Scenario(name="fail", script=LOST, verdicts=((("fail", SOON),),)),
    Scenario(name="retry", script=LOST, verdicts=((("retry", SOON),),)),
    Scenario(name="retry-unlimited", script=LOST, verdicts=((("retry", SOON),),), grant=None),
    Scenario(name="retry-second-step", kind=TWO_CALLS, script=(Script.ANSWER, *LOST), verdicts=((("retry", SOON),),)),
    Scenario(name="retry-then-fail", script=LOST * 2, verdicts=((("retry", SOON),), (("fail", SOON),))),
    Scenario(name="accept-with-the-look", script=LOST, verdicts=((("accept", WITH_THE_LOOK),),)),
    Scenario(name="all-at-once", script=LOST, verdicts=((("accept", SOON), ("fail", SOON), ("retry", SOON)),)),
    Scenario(name="retry-lookup", script=LOST, capability=LOOKUP, verdicts=((("retry", WITH_THE_LOOK),),)),
    Scenario(name="retry-dedupes", script=LOST, capability=DEDUPES, verdicts=((("retry", SOON),),)),
    # No scripted loss: only a fault leads to a review, and a frozen or killed worker's answer may come late.
    Scenario(name="late-accept", verdicts=((("accept", SOON),),)),
    Scenario(name="late-retry", verdicts=((("retry", SOON),),)),
    Scenario(name="late-fail", verdicts=((("fail", WITH_THE_LOOK),),)),
)
