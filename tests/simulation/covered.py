"""Which lines of ``usecases/`` and ``handlers/`` the simulation executes by itself.

``python -m tests.simulation.covered [SINGLES]``: every story without a fault and with so many drawn single faults, and
some over the wiring that is deployed. The interpreter tells of each line once, when it is first run
(``sys.monitoring``); nothing else slows down.
"""

from __future__ import annotations

import random
import sys
from pathlib import Path
from types import CodeType

SOURCE = Path(__file__).resolve().parents[2] / "functions" / "onceward"
FOLDERS = ("usecases", "handlers")
FIRST_NAMES = 12  # of the files that are least covered

_seen: dict[str, set[int]] = {}


def _line(code: CodeType, line: int) -> object:
    """Note a line; it is not told again."""
    _seen.setdefault(code.co_filename, set()).add(line)
    return sys.monitoring.DISABLE


def watch() -> None:
    """Start before anything of the code under test is imported."""
    sys.monitoring.use_tool_id(sys.monitoring.COVERAGE_ID, "covered")
    sys.monitoring.register_callback(sys.monitoring.COVERAGE_ID, sys.monitoring.events.LINE, _line)
    sys.monitoring.set_events(sys.monitoring.COVERAGE_ID, sys.monitoring.events.LINE)


def lines_of(code: CodeType) -> set[int]:
    """The lines that can be executed, of a code and all within it."""
    found = {line for _, _, line in code.co_lines() if line}
    for inner in code.co_consts:
        if isinstance(inner, CodeType):
            found |= lines_of(inner)
    return found


def report(folder: str) -> str:
    """A folder's share, and the files that miss most."""
    missing, every = {}, 0
    for path in sorted((SOURCE / folder).rglob("*.py")):
        lines = lines_of(compile(path.read_text(encoding="utf-8"), str(path), "exec"))
        every += len(lines)
        missing[path.relative_to(SOURCE)] = len(lines - _seen.get(str(path), set()))
    left = sum(missing.values())
    worst = sorted(missing.items(), key=lambda one: -one[1])[:FIRST_NAMES]
    names = ", ".join(f"{path} {count}" for path, count in worst if count)
    return f"{folder}: {100 * (every - left) / max(every, 1):.1f} % of {every:,} lines; most are missing in {names}"


def main(singles: int) -> None:
    """Play, and tell."""
    watch()
    from tests.simulation.catalogue import all_stories  # noqa: PLC0415  # after the watch, so that imports are seen too
    from tests.simulation.explore import singles as ways_of  # noqa: PLC0415
    from tests.simulation.faults import Plan  # noqa: PLC0415
    from tests.simulation.sdk import real_sdk  # noqa: PLC0415
    from tests.simulation.story import play  # noqa: PLC0415
    from tests.simulation.wired import STORIES, WiredWorld  # noqa: PLC0415

    for story in all_stories():
        first, draw = play(story), random.Random(story.name)
        ways = list(ways_of(first, Plan()))
        for boundary, fault in draw.sample(ways, min(singles, len(ways))):
            play(story, Plan().plus(boundary.index, fault))
    with real_sdk() as tables:
        for story in STORIES:
            play(story, tables=tables, deployment=WiredWorld)
    for folder in FOLDERS:
        print(report(folder))


if __name__ == "__main__":
    main(int(sys.argv[1]) if len(sys.argv) > 1 else 20)
