"""Run tests with one guard switched off: they must fail.

``python -m tests.simulation.without`` does it for every guard that the registry (``guards.tsv``) says a test holds,
and exits with the number of those that no test missed; with names as arguments it says which test holds each.
"""

from __future__ import annotations

import contextlib
import io
import sys
from pathlib import Path

import pytest

from tests.simulation.guards import Guard, all_guards, switched_off

REGISTRY = Path(__file__).with_name("guards.tsv")
ROOT = Path(__file__).resolve().parents[2]
SEARCHED = (ROOT / "tests/unit/domain", ROOT / "tests/unit/usecases")


def registry() -> dict[str, str]:
    """What holds each guard, by the guard's name: ``cases``, ``test <id>`` or ``story <name> <plan>``."""
    lines = REGISTRY.read_text(encoding="utf-8").splitlines()
    return dict(line.split("\t", 1) for line in lines)


class First:
    """The first test that failed."""

    def __init__(self) -> None:
        self.failed: str | None = None

    def pytest_runtest_logreport(self, report: pytest.TestReport) -> None:
        """Remember it."""
        if report.failed and self.failed is None:
            self.failed = report.nodeid


def first_failed(guard: Guard, tests: list[str]) -> str | None:
    """Which of the tests misses the guard, if any."""
    first = First()
    options = ["-x", "-q", "-p", "no:cacheprovider", "-p", "no:xdist", "--rootdir", str(ROOT)]
    with switched_off(guard), contextlib.redirect_stdout(io.StringIO()), contextlib.redirect_stderr(io.StringIO()):
        pytest.main([*options, *tests], plugins=[first])
    return first.failed


def main(names: list[str]) -> int:
    """Check the registry, or search for guards that are new to it."""
    held = registry()
    unmissed = 0
    for guard in all_guards():
        kind, _, node = held.get(guard.name, "pending").partition(" ")
        if names and guard.name in names:
            print(f"{guard.name}\ttest {first_failed(guard, [str(folder) for folder in SEARCHED])}")
        elif not names and kind == "test" and first_failed(guard, [node]) is None:
            print(f"not missed: {guard.name}")
            unmissed += 1
    return unmissed


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
