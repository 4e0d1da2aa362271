"""The stories whose clients come through the API's own handler, and whose worker and sweeper are Lambda's."""

from __future__ import annotations

from tests.simulation.http_door import HttpDoor
from tests.simulation.model import Script
from tests.simulation.scenario import Scenario

HTTP = HttpDoor()
SOON = 5.0  # seconds after the rest until a person decides

STORIES = (
    Scenario(name="http-one-call", door=HTTP, by_handlers=True),
    Scenario(name="http-same-key", door=HTTP, by_handlers=True, requests=("key-1", "key-1", "key-1/another body")),
    Scenario(name="http-cancel", door=HTTP, by_handlers=True, cancel_at=2.0),
    Scenario(name="http-review", door=HTTP, by_handlers=True, script=(Script.RESET,), verdicts=((("accept", SOON),),)),
)
