"""The page of the 86 failure modes, made from the tests that are marked with them: nobody types which test shows what.

``failure_modes.tsv`` has a line for each mode: its name, what goes wrong and what is right, where the design decided
otherwise than the catalogue of modes, and, for a mode that no test shows, why not. A test is marked
``@pytest.mark.failure_mode("F4")``. ``python -m tests.support.failure_modes`` collects the marked tests, as pytest
itself finds them, and prints ``docs/failure-modes.md``.
"""

from __future__ import annotations

import contextlib
import csv
import io
import sys
from collections import defaultdict
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parents[2]
DATA = Path(__file__).with_suffix(".tsv")
PAGE = ROOT / "docs" / "failure-modes.md"
CONTRACT = ROOT / "tests" / "contract"  # its promises are marked where they are written, and collected for each store
# what runs tests, remembers them or draws for them
WITHOUT = [f"-pno:{plugin}" for plugin in ("cacheprovider", "hypothesispytest", "xdist")]
HEAD = """# Failure modes

What can go wrong with a job that must neither be lost nor be paid for twice, what is right then, and the tests that
show it. This page is made from the collected tests: `python -m tests.support.failure_modes > docs/failure-modes.md`.

| mode | what goes wrong, and what is right | shown by |
|---|---|---|
"""
DIFFERENCES = """
## Where the design decided otherwise

The catalogue that these modes were taken from proposes another way; the design holds.

| mode | what is done instead |
|---|---|
"""


@dataclass(frozen=True, slots=True, kw_only=True)
class FailureMode:
    """One mode: ``differs`` and ``absent`` are empty where the catalogue is followed, and where a test shows it."""

    name: str
    sentence: str
    differs: str
    absent: str


class Collector:
    """Notes which collected tests are marked with which modes: ``names[mode]`` holds (path, function) of each."""

    def __init__(self) -> None:
        self.names: defaultdict[str, set[tuple[str, str]]] = defaultdict(set)

    def pytest_ignore_collect(self, collection_path: Path) -> bool | None:
        """Import no file without a mark; ``None``: as pytest would have it."""
        is_read = collection_path.is_dir() or CONTRACT in collection_path.parents
        return None if is_read or b"failure_mode(" in collection_path.read_bytes() else True

    def pytest_collection_finish(self, session: pytest.Session) -> None:
        """Read the marks of everything that is left after deselection."""
        for item in session.items:
            for mark in item.iter_markers("failure_mode"):
                for name in mark.args:
                    function = getattr(item, "originalname", item.name)
                    self.names[name].add((item.path.relative_to(ROOT).as_posix(), function))


def failure_modes() -> tuple[FailureMode, ...]:
    """All of them, in their order."""
    with DATA.open(encoding="utf-8", newline="") as file:
        _, *lines = csv.reader(file, delimiter="\t", quoting=csv.QUOTE_NONE)
    return tuple(FailureMode(name=name, sentence=said, differs=other, absent=why) for name, said, other, why in lines)


def collected() -> Mapping[str, set[tuple[str, str]]]:
    """The marked tests by mode; pytest collects them in this process, so it is to be run in one of its own."""
    collector = Collector()
    options = ["--collect-only", "-m", "", *WITHOUT, "--rootdir", str(ROOT)]
    told = io.StringIO()
    with contextlib.redirect_stdout(told), contextlib.redirect_stderr(told):
        code = pytest.main([*options, str(ROOT / "tests")], plugins=[collector])
    if code is not pytest.ExitCode.OK:
        raise RuntimeError(f"the tests cannot be collected:\n{told.getvalue()}")
    return collector.names


def page(modes: Iterable[FailureMode], shown: Mapping[str, set[tuple[str, str]]]) -> str:
    """The whole page."""
    lines, others = [HEAD], [DIFFERENCES]
    for mode in modes:
        tests = [f"[{function}](../{path})" for path, function in sorted(shown.get(mode.name, ()))]
        lines.append(f"| {mode.name} | {mode.sentence} | {', '.join(tests) or mode.absent} |\n")
        if mode.differs:
            others.append(f"| {mode.name} | {mode.differs} |\n")
    return "".join([*lines, *others])


if __name__ == "__main__":
    sys.stdout.write(page(failure_modes(), collected()))
