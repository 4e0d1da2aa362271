"""Every interleaving of the port calls of processes that race, up to so many preemptions.

Here calls take no time of their own: whoever wants to make one waits for its turn, and when nobody can go on otherwise
the schedule gives the turn to one of those who wait. Without a preemption a process goes on for as long as it can; a
preemption gives the turn to another one at one such point. All schedules with up to so many preemptions are executed,
which is what "exhaustive" means here: most races need one or two (the context bound of systematic testing).
"""

from __future__ import annotations

from collections.abc import Iterator

from tests.simulation.explore import Report
from tests.simulation.failures import Failed
from tests.simulation.faults import Plan
from tests.simulation.scenario import Scenario
from tests.simulation.story import Run, play
from tests.simulation.turns import Preemptions, Turns


def schedules(story: Scenario, most: int) -> Iterator[tuple[Preemptions, Run]]:
    """Every run with up to so many preemptions, each behind the last one of a run that was made already."""
    todo: list[Preemptions] = [()]
    while todo:
        preemptions = todo.pop()
        turns = Turns(preemptions)
        yield preemptions, play(story, turns=turns)
        if len(preemptions) < most:
            first = preemptions[-1][0] + 1 if preemptions else 0
            points = range(first, len(turns.choices))
            todo += [(*preemptions, (at, other)) for at in points for other in range(1, turns.choices[at])]


def interleave(story: Scenario, most: int) -> Report:
    """Execute all of them."""
    report = Report()
    for preemptions, run in schedules(story, most):
        report.scenarios += 1
        report.checks += run.checks
        if run.violations:
            violations = (f"preemptions {preemptions}", *run.violations)
            report.failed.append(Failed(story.name, Plan(), 0, violations))
    return report
