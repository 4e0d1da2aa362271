"""A run that broke an invariant: told so that it can be played again, shrunk, and kept as a file for ever.

A kept file names each fault by its *address*: the how-manieth time which process made which call. Numbers of
boundaries change with the code, addresses mostly do not; one that the code no longer comes by strikes nothing.
"""

from __future__ import annotations

import subprocess
from collections.abc import Callable
from dataclasses import dataclass
from functools import cache
from pathlib import Path
from zlib import crc32

from tests.simulation.catalogue import story_of
from tests.simulation.faults import Boundary, Fault, Plan
from tests.simulation.scenario import Scenario
from tests.simulation.story import Run, play

MOST_SHOWN = 5
KEPT = Path(__file__).parent / "regressions"

type Judge = Callable[[Plan], Run]


@dataclass(frozen=True, slots=True)
class Failed:
    """One run that broke an invariant, and how to play it again."""

    story: str
    plan: Plan
    seed: int
    violations: tuple[str, ...]
    struck: tuple[tuple[Boundary, Fault], ...] = ()

    def __str__(self) -> str:
        """Everything needed to replay: story, seed, plan, commit."""
        where = "".join(f"\n    {fault} at {boundary}" for boundary, fault in self.struck)
        what = "".join(f"\n    {violation}" for violation in self.violations[:MOST_SHOWN])
        return f"story={self.story} seed={self.seed} plan={self.plan} commit={commit()}{where}{what}"


@dataclass(frozen=True, slots=True)
class Strike:
    """One fault by its address."""

    process: str
    name: str
    ordinal: int
    fault: Fault

    def __str__(self) -> str:
        """One line of a kept file."""
        return f"{self.process} {self.name} {self.ordinal} {self.fault}"

    @classmethod
    def parse(cls, line: str) -> Strike:
        """Read what ``str`` wrote."""
        process, name, ordinal, fault = line.split()
        return cls(process, name, int(ordinal), Fault(fault))


def shrink(plan: Plan, judge: Judge) -> Plan:
    """The fewest of its faults that still break something; the numbers of later ones hold where they still do."""
    for left_out in range(len(plan.faults)):
        fewer = Plan(plan.faults[:left_out] + plan.faults[left_out + 1 :])
        if judge(fewer).violations:
            return shrink(fewer, judge)
    return plan


def addressed(run: Run) -> tuple[Strike, ...]:
    """The faults that struck, by address."""
    return tuple(
        Strike(at.process, at.name, sum(_is_alike(at, one) for one in run.trace[: at.index]), fault)
        for at, fault in run.struck
    )


def plan_of(strikes: tuple[Strike, ...], judge: Judge) -> Plan:
    """The plan in numbers of today's code: each fault is placed in the run that has those before it."""
    plan = Plan()
    for strike in strikes:
        alike = [at for at in judge(plan).trace if (at.process, at.name) == (strike.process, strike.name)]
        if strike.ordinal < len(alike):
            plan = plan.plus(alike[strike.ordinal].index, strike.fault)
    return plan


def keep(failed: Failed, scenario: Scenario, folder: Path = KEPT) -> Path:
    """Shrink a failure and write it down as a file that is played with every test run from now on."""

    def judge(plan: Plan) -> Run:
        return play(scenario, plan, failed.seed)

    run = judge(shrink(failed.plan, judge))
    lines = [f"story {failed.story}", f"seed {failed.seed}", *map(str, addressed(run))]
    lines += [f"# commit {commit()}", *(f"# {violation}" for violation in run.violations[:MOST_SHOWN])]
    folder.mkdir(exist_ok=True)
    path = folder / f"{failed.story}-{crc32(chr(10).join(lines[:-1]).encode()):08x}.txt"
    path.write_text("\n".join(lines) + "\n", encoding="utf-8")
    return path


def replay(path: Path) -> Run:
    """Play a kept failure on the code as it is."""
    lines = [line for line in path.read_text(encoding="utf-8").splitlines() if not line.startswith("#")]
    story, seed = lines[0].removeprefix("story "), int(lines[1].removeprefix("seed "))
    strikes = tuple(map(Strike.parse, lines[2:]))

    def judge(plan: Plan) -> Run:
        return play(story_of(story), plan, seed)

    return judge(plan_of(strikes, judge))


def _is_alike(one: Boundary, other: Boundary) -> bool:
    return (one.process, one.name) == (other.process, other.name)


@cache
def commit() -> str:
    """The commit that a failing run was made on."""
    try:
        here = Path(__file__).parent
        made = subprocess.run(
            ["git", "rev-parse", "--short", "HEAD"], cwd=here, capture_output=True, text=True, check=True
        )
        return made.stdout.strip()
    except (OSError, subprocess.CalledProcessError):
        return "unknown"
