"""The long proofs: every pair of every story, or new seeds for as long as asked; the result becomes a page.

``python -m tests.simulation.prove pairs [STORY ...]`` and ``... seeds MINUTES [FIRST]``; ``make prove`` calls it. Work
is cut into parts that two processes take one after the other. A failure is shrunk and kept in ``regressions/``, and the
exit status is 1.
"""

from __future__ import annotations

import argparse
import multiprocessing
import sys
import time
from collections import Counter
from collections.abc import Iterable, Iterator, Sequence

from tests.simulation.catalogue import all_stories, story_of
from tests.simulation.explore import Explorer, Report, Share, its_own
from tests.simulation.failures import commit, keep
from tests.simulation.pages import Proved, read_pairs, write_pairs, write_seeds

PROCESSES = 2
PARTS = 24  # of a story's pairs
TRIES = 4  # plans of one seed and story

type Work = tuple[str, int, int]


def pairs_of(work: Work) -> tuple[str, Report]:
    """One part of a story's pairs, and whose."""
    name, part, parts = work
    story = story_of(name)
    return name, Explorer(scenario=story, only=its_own(story)).pairs(part=Share(part, parts))


def seeds_of(work: Work) -> Report:
    """Drawn runs of 3 to 6 faults of one story under one seed."""
    name, seed, depth = work
    return Explorer(scenario=story_of(name), seed=seed).sample(depth=depth, tries=TRIES)


def due_first(names: Sequence[str]) -> list[str]:
    """The stories in the order in which their pairs are run: never run, then the longest ago."""
    known = read_pairs()
    return sorted(names, key=lambda name: known[name].ended if name in known else "")


def all_parts(names: Sequence[str]) -> list[Work]:
    """Every part of one story after the other, so that an early end has whole stories."""
    return [(name, part, PARTS) for name in names for part in range(PARTS)]


def new_seeds(until: float, first: int) -> Iterator[Work]:
    """Story after story, seed after seed, depths 3 to 6, until the time is over."""
    seed = first
    while True:
        for story in all_stories():
            if time.time() >= until:
                return
            yield story.name, seed, 3 + seed % 4
        seed += 1


def prove_pairs(code: str, reports: Iterable[tuple[str, Report]]) -> bool:
    """Write a story's line as soon as all its parts have come in; whether all kept every invariant."""
    totals: dict[str, Report] = {}
    parts: Counter[str] = Counter()
    for name, report in reports:
        _tell(report)
        totals.setdefault(name, Report()).add(report)
        parts[name] += 1
        if parts[name] == PARTS:
            write_pairs(Proved.now(name, code, totals[name]), [story.name for story in all_stories()])
            print(f"{name}: {totals[name]}", flush=True)
    return not any(total.failed for total in totals.values())


def prove_seeds(code: str, reports: Iterable[Report], first: int) -> bool:
    """Sum up, and write the page; whether all kept every invariant."""
    began, total = time.time(), Report()
    for report in reports:
        _tell(report)
        total.add(report)
    print(write_seeds(code, len(all_stories()), first, total, (time.time() - began) / 60))
    return not total.failed


def _tell(report: Report) -> None:
    """Print what broke an invariant, as it comes, and keep it."""
    for one in report.failed:
        print(one, flush=True)
        print(f"kept as {keep(one, story_of(one.story))}", flush=True)


def main(arguments: list[str]) -> int:
    """Run what was asked for."""
    parser = argparse.ArgumentParser(description=__doc__)
    proofs = parser.add_subparsers(dest="proof", required=True)
    proofs.add_parser("pairs").add_argument("stories", nargs="*", metavar="STORY", help="all of them without a name")
    seeds = proofs.add_parser("seeds")
    seeds.add_argument("minutes", type=float)
    seeds.add_argument("first", type=int, nargs="?", default=int(time.time()), help="the first seed; new ones without")
    given = parser.parse_args(arguments)
    code = commit()
    with multiprocessing.get_context("spawn").Pool(PROCESSES) as pool:
        if given.proof == "pairs":
            names = [story_of(name).name for name in given.stories] or [story.name for story in all_stories()]
            return 0 if prove_pairs(code, pool.imap_unordered(pairs_of, all_parts(due_first(names)))) else 1
        works = new_seeds(time.time() + given.minutes * 60, given.first)
        return 0 if prove_seeds(code, _as_it_goes(pool, works), given.first) else 1


def _as_it_goes(pool: multiprocessing.pool.Pool, works: Iterator[Work]) -> Iterator[Report]:
    """Hand out a seed only when a process is free: ``imap`` would take all of an endless list at once."""
    running = [pool.apply_async(seeds_of, (work,)) for _, work in zip(range(PROCESSES * 2), works, strict=False)]
    while running:
        yield running.pop(0).get()
        running += [pool.apply_async(seeds_of, (work,)) for _, work in zip(range(1), works, strict=False)]


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
