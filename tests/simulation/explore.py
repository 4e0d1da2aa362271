"""Execute every fault at every boundary: singles, and pairs behind each single.

The boundaries are counted by the harness in a run without faults, not listed by hand: a story that makes one port call
more has one boundary more. Counted is what was executed, and each plan once: a fault that at its instant differs in
nothing from another (``Boundary.faults``) is not tried twice, and a second fault is tried only where the run with the
first one has really come by.
"""

from __future__ import annotations

import gc
import random
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field

from tests.simulation import quick
from tests.simulation.alike import BEFORE
from tests.simulation.bug import NO_BUG, Bug
from tests.simulation.failures import Failed, commit
from tests.simulation.faults import Boundary, Fault, Plan
from tests.simulation.scenario import Scenario
from tests.simulation.scheduler import VirtualLoop
from tests.simulation.story import Run, play
from tests.simulation.tables import SimStore
from tests.simulation.world import World

quick.install()
gc.set_threshold(10_000, 10, 10)  # a run is short and lets go of all it made: looking through it so often costs a tenth


@dataclass(slots=True)
class Report:
    """What an exploration did."""

    boundaries: int = 0
    scenarios: int = 0
    faults: int = 0
    checks: int = 0
    failed: list[Failed] = field(default_factory=list)

    def add(self, other: Report) -> None:
        """Sum up."""
        self.boundaries += other.boundaries
        self.scenarios += other.scenarios
        self.faults += other.faults
        self.checks += other.checks
        self.failed += other.failed

    def __str__(self) -> str:
        """One line."""
        return (
            f"{self.boundaries} boundaries, {self.scenarios} scenarios, {self.faults} faults injected, "
            f"{self.checks} invariant checks, {len(self.failed)} violations"
        )


type Tally = Callable[[Report], list[str]]  # adds to the sums of a run and tells what was found, in lines


def anything(boundary: Boundary, fault: Fault) -> bool:
    """No restriction on which faults are tried."""
    return True


def its_own(story: Scenario) -> Callable[[Boundary, Fault], bool]:
    """The faults from where a story is no more another one: of a pair, the second fault."""
    return lambda boundary, _: boundary.at >= story.new_from


@dataclass(frozen=True, slots=True)
class Share:
    """One part of many: ``number`` of ``of``."""

    number: int
    of: int


ALL = Share(0, 1)
AT_ONCE = 10  # of the second faults behind a drawn first one, one in so many: each first one costs a run of its own
MOST_DRAWN = 1_000  # pairs of one story and share: their number grows with the square of its length


def share_of_commit(of: int) -> Share:
    """The part whose turn it is: another one with every commit."""
    name = commit()
    return Share(int(name, 16) % of if name != "unknown" else 0, of)


@dataclass(slots=True, kw_only=True)
class Explorer:
    """One exploration. ``only`` narrows the faults tried; ``stop_at`` ends it after so many failures."""

    scenario: Scenario
    seed: int = 0
    bug: Bug = NO_BUG
    only: Callable[[Boundary, Fault], bool] = anything
    stop_at: int | None = None
    tables: Callable[[VirtualLoop], SimStore] = SimStore
    deployment: type[World] = World
    report: Report = field(default_factory=Report)

    def run(self, depth: int = 1) -> Report:
        """The run without faults, then every plan of up to ``depth`` faults."""
        first = self._try(Plan())
        self.report.boundaries += len(first.trace)
        self._deeper(first, Plan(), depth)
        return self.report

    def pairs(self, part: Share = ALL) -> Report:
        """All pairs whose first fault is in a part."""
        return self.exactly(2, part)

    def exactly(self, depth: int, part: Share = ALL) -> Report:
        """All plans of so many faults, where those before the last one are in a part of all that lead there.

        Runs that only lead there are not counted.
        """
        leading = [Plan()]
        for _ in range(depth - 1):
            leading = [plan.plus(boundary.index, fault) for plan in leading for boundary, fault in self._ways(plan)]
        for plan in leading[part.number :: part.of]:
            if not self._is_stood_for(plan):
                self._deeper(self._lead(plan), plan, 1)
        return self.report

    def drawn_pairs(self, share: Share) -> Report:
        """One pair in so many, drawn alike for the same share: first any first fault, then any behind it."""
        draw = random.Random(f"{self.scenario.name}/{share}")
        ways = self._ways(Plan())
        firsts = min(-(-len(ways) * AT_ONCE // share.of), -(-MOST_DRAWN * AT_ONCE // len(ways)))
        for boundary, fault in draw.sample(ways, firsts):
            single = Plan().plus(boundary.index, fault)
            behind = self._ways(single)
            for second, strike in draw.sample(behind, min(len(behind), -(-len(behind) // AT_ONCE))):
                self._try(single.plus(second.index, strike))
        return self.report

    def sample(self, depth: int, tries: int) -> Report:
        """Drawn plans of ``depth`` faults: each try adds one fault after another, judging every run on the way."""
        draw = random.Random(f"{self.scenario.name}/{self.seed}")
        first = self._try(Plan())
        self.report.boundaries += len(first.trace)
        for _ in range(tries):
            run, plan = first, Plan()
            for _ in range(depth):
                left = [one for one in singles(run, plan) if self.only(*one)]
                if not left or run.violations:
                    break
                boundary, fault = draw.choice(left)
                plan = plan.plus(boundary.index, fault)
                run = self._try(plan)
        return self.report

    def _ways(self, plan: Plan) -> list[tuple[Boundary, Fault]]:
        """What may come on top of a plan, by a run of it that is not counted."""
        return list(singles(self._lead(plan), plan))

    def _lead(self, plan: Plan) -> Run:
        """A run that only leads to others."""
        return play(self.scenario, plan, self.seed, self.bug)

    def _is_stood_for(self, plan: Plan) -> bool:
        """Whether another run, with the last fault's like in its place, is this one."""
        if not plan.faults:
            return False
        *others, (index, fault) = plan.faults
        return fault in BEFORE and self._lead(Plan((*others, (index, BEFORE[fault])))).stands_for is fault

    def _deeper(self, run: Run, plan: Plan, depth: int) -> None:
        """Every fault behind the last one of ``plan``, at the boundaries that its run has crossed."""
        known: set[tuple[int, Fault | None]] = set()
        for boundary, fault in singles(run, plan):
            if self.stop_at is not None and len(self.report.failed) >= self.stop_at:
                return
            if (boundary.index, fault) in known or not self.only(boundary, fault):
                continue
            longer = plan.plus(boundary.index, fault)
            reached = self._try(longer)
            known.add((boundary.index, reached.stands_for))
            if depth > 1:
                self._deeper(reached, longer, depth - 1)

    def _try(self, plan: Plan) -> Run:
        """One run, into the report."""
        self.report.scenarios += 1
        self.report.faults += len(plan.faults)
        run = play(self.scenario, plan, self.seed, self.bug, tables=self.tables, deployment=self.deployment)
        self.report.checks += run.checks
        if run.violations:
            self.report.failed.append(Failed(self.scenario.name, plan, self.seed, run.violations, run.struck))
        return run


def singles(run: Run, plan: Plan) -> Iterator[tuple[Boundary, Fault]]:
    """Every fault at every boundary behind the plan's last one."""
    for boundary in run.trace[plan.last + 1 :]:
        for fault in boundary.faults:
            yield boundary, fault


def explore(scenario: Scenario, *, seed: int = 0, depth: int = 1) -> Report:
    """Every plan of up to ``depth`` faults on the code as it is, from where the story is one of its own."""
    return Explorer(scenario=scenario, seed=seed, only=its_own(scenario)).run(depth)
