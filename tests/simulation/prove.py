"""The long proofs: every pair of every story, or new seeds for as long as asked; the result becomes a page.

``python -m tests.simulation.prove pairs [STORY ...]`` and ``... seeds MINUTES``; ``make prove`` calls it. Work is cut
into parts that two processes take one after the other. A failure is shrunk and kept in ``regressions/``, and the exit
status is 1.
"""

from __future__ import annotations

import argparse
import multiprocessing
import sys
import time
from collections.abc import Iterable, Iterator, Sequence
from datetime import UTC, datetime
from pathlib import Path

from tests.simulation.catalogue import all_stories, story_of
from tests.simulation.explore import Explorer, Report, Share
from tests.simulation.failures import commit, keep

PROCESSES = 2
PARTS = 24  # of a story's pairs
TRIES = 4  # plans of one seed and story
PAGES = Path(__file__).resolve().parents[2] / "docs" / "proof"

type Work = tuple[str, int, int]


def pairs_of(work: Work) -> Report:
    """One part of a story's pairs."""
    name, part, parts = work
    return Explorer(scenario=story_of(name)).pairs(part=Share(part, parts))


def seeds_of(work: Work) -> Report:
    """Drawn runs of 3 to 6 faults of one story under one seed."""
    name, seed, depth = work
    return Explorer(scenario=story_of(name), seed=seed).sample(depth=depth, tries=TRIES)


def all_parts(names: Sequence[str]) -> list[Work]:
    """Every part of every story, the stories in turn, so that an early end has seen all of them."""
    return [(name, part, PARTS) for part in range(PARTS) for name in names]


def new_seeds(until: float, first: int) -> Iterator[Work]:
    """Story after story, seed after seed, depths 3 to 6, until the time is over."""
    seed = first
    while True:
        for story in all_stories():
            if time.time() >= until:
                return
            yield story.name, seed, 3 + seed % 4
        seed += 1


def prove(title: str, stories: str, reports: Iterable[Report]) -> int:
    """Sum up as parts come in; the page, and the exit status."""
    began, total = time.time(), Report()
    for report in reports:
        total.add(report)
        for one in report.failed:
            print(one, flush=True)
            print(f"kept as {keep(one, story_of(one.story))}", flush=True)
    minutes = (time.time() - began) / 60
    text = page(title, stories, total, minutes)
    PAGES.mkdir(parents=True, exist_ok=True)
    (PAGES / f"{title.split(maxsplit=1)[0].lower()}.md").write_text(text, encoding="utf-8")
    print(text)
    return 1 if total.failed else 0


def page(title: str, stories: str, total: Report, minutes: float) -> str:
    """What was done, on which commit, when."""
    return f"""# {title}

Commit {commit()}, {datetime.now(UTC):%Y-%m-%d %H:%M} UTC, {PROCESSES} processes, {minutes:.1f} minutes.
Stories: {stories}.

| | |
|---|---:|
| scenarios executed | {total.scenarios:,} |
| faults injected | {total.faults:,} |
| invariant checks | {total.checks:,} |
| violations | {len(total.failed):,} |
"""


def main(arguments: list[str]) -> int:
    """Run what was asked for."""
    parser = argparse.ArgumentParser(description=__doc__)
    proofs = parser.add_subparsers(dest="proof", required=True)
    proofs.add_parser("pairs").add_argument("stories", nargs="*", metavar="STORY", help="all of them without a name")
    proofs.add_parser("seeds").add_argument("minutes", type=float)
    given = parser.parse_args(arguments)
    every = f"all {len(all_stories())}"
    with multiprocessing.get_context("spawn").Pool(PROCESSES) as pool:
        if given.proof == "pairs":
            names = [story_of(name).name for name in given.stories] or [story.name for story in all_stories()]
            title = "Pairs of faults at every boundary"
            return prove(title, ", ".join(given.stories) or every, pool.imap_unordered(pairs_of, all_parts(names)))
        now = time.time()
        works = new_seeds(now + given.minutes * 60, int(now))
        return prove("Seeds of runs of 3 to 6 drawn faults", every, _as_it_goes(pool, works))


def _as_it_goes(pool: multiprocessing.pool.Pool, works: Iterator[Work]) -> Iterator[Report]:
    """Hand out a seed only when a process is free: ``imap`` would take all of an endless list at once."""
    running = [pool.apply_async(seeds_of, (work,)) for _, work in zip(range(PROCESSES * 2), works, strict=False)]
    while running:
        yield running.pop(0).get()
        running += [pool.apply_async(seeds_of, (work,)) for _, work in zip(range(1), works, strict=False)]


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
