"""The proofs' pages under ``docs/proof``: what was run, on which commit, when, and what came of it.

The pairs of all stories take days of a processor, so their page is a line per story: each tells of the last time that
all pairs of its story were run, and a run writes its line when its story is done.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import astuple, dataclass
from datetime import UTC, datetime
from pathlib import Path

from tests.simulation.explore import Report

PAGES = Path(__file__).resolve().parents[2] / "docs" / "proof"
PAIRS, SEEDS = "pairs.md", "seeds.md"
LINE = "| {:<25} | {:<7} | {:<16} | {:>9} | {:>9} | {:>11} | {:>10} |"
HEADS = ("story", "commit", "ended (UTC)", "scenarios", "faults", "checks", "violations")


@dataclass(frozen=True, slots=True)
class Proved:
    """One line of the page of pairs: all pairs of a story, when they were last run."""

    story: str
    commit: str
    ended: str
    scenarios: str
    faults: str
    checks: str
    violations: str

    @classmethod
    def now(cls, story: str, code: str, report: Report) -> Proved:
        """A story that was done at this moment; ``code``: the commit that was run, which may be the last no more."""
        figures = (report.scenarios, report.faults, report.checks, len(report.failed))
        return cls(story, code, f"{datetime.now(UTC):%Y-%m-%d %H:%M}", *(f"{one:,}" for one in figures))


def read_pairs(folder: Path = PAGES) -> dict[str, Proved]:
    """The lines of the page, by story; none without a page."""
    path = folder / PAIRS
    text = path.read_text(encoding="utf-8") if path.exists() else ""
    cells = [[cell.strip() for cell in line.strip("|").split("|")] for line in text.splitlines() if line[:2] == "| "]
    return {row[0]: Proved(*row) for row in cells[1:]}


def write_pairs(one: Proved, names: Sequence[str], folder: Path = PAGES) -> None:
    """Set a story's line; lines of stories that are not among ``names``, all there are, go."""
    known = {**read_pairs(folder), one.story: one}
    lines = [known[name] for name in names if name in known]
    sums = [f"{sum(int(getattr(line, name).replace(',', '')) for line in lines):,}" for name in HEADS[3:]]
    text = "\n".join(
        [
            "# Pairs of faults at every boundary",
            "",
            f"Every pair of faults of {len(lines)} stories, of {len(names)}: {sums[0]} scenarios, {sums[1]} faults",
            f"injected, {sums[2]} invariant checks, {sums[3]} violations. Each line is a story's last whole run, by",
            '`make prove STORIES="a b"`, or by `make prove ALL=1`, which begins with what was never run or is oldest.',
            "",
            LINE.format(*HEADS),
            "|" + "---|" * 3 + "---:|" * 4,
            *(LINE.format(*astuple(line)) for line in lines),
            "",
        ]
    )
    folder.mkdir(parents=True, exist_ok=True)
    (folder / PAIRS).write_text(text, encoding="utf-8")


def write_seeds(code: str, stories: int, first: int, total: Report, minutes: float, folder: Path = PAGES) -> str:
    """The page of runs of drawn faults; its text."""
    text = f"""# Seeds of runs of 3 to 6 drawn faults

Commit {code}, {datetime.now(UTC):%Y-%m-%d %H:%M} UTC, {minutes:.1f} minutes, {stories} stories, seeds from {first}.

| | |
|---|---:|
| scenarios executed | {total.scenarios:,} |
| faults injected | {total.faults:,} |
| invariant checks | {total.checks:,} |
| violations | {len(total.failed):,} |
"""
    folder.mkdir(parents=True, exist_ok=True)
    (folder / SEEDS).write_text(text, encoding="utf-8")
    return text
