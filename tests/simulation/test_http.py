"""The stories behind the API's own handler use every route, and what a handler only tells is found."""

from __future__ import annotations

import json
from dataclasses import replace

import pytest

from onceward.handlers.routes import ROUTES
from tests.simulation.entrances import TOLD_BUG, Function, SimContext
from tests.simulation.faults import Counter, Plan
from tests.simulation.invariants import Checker
from tests.simulation.process import Process
from tests.simulation.scenario import Scenario
from tests.simulation.scheduler import VirtualLoop, simulate
from tests.simulation.stories_http import STORIES
from tests.simulation.story import play


def test_every_route_is_in_a_story() -> None:
    """The API's own log says which were asked."""
    assert {route.name for route in ROUTES} - set().union(*map(routes_asked_in, STORIES)) == set()


def routes_asked_in(story: Scenario) -> set[str]:
    """The names of the routes that a story's clients asked."""
    asked: set[str] = set()

    def note(checker: Checker) -> None:
        asked.update(json.loads(line).get("route", "") for line in checker.world.lines if line.startswith("{"))

    assert play(replace(story, judge=note)).violations == ()
    return asked


def test_a_bug_that_a_handler_only_logs_is_an_error() -> None:
    """The worker goes on after one, as it must; the simulation does not."""
    function: Function[None] = Function(lambda _, logger: lambda *_: logger.error(TOLD_BUG))

    async def main(loop: VirtualLoop) -> None:
        context = SimContext(Process(loop, "worker#1", Counter(Plan())), 60.0)
        await function.invoke(None, {}, context, [])

    with pytest.raises(AssertionError, match=TOLD_BUG):
        simulate(main)
