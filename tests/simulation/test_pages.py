"""The page of pairs keeps a line per story: its last whole run, on the commit that was run."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.simulation import prove
from tests.simulation.explore import Report
from tests.simulation.pages import PAIRS, Proved, read_pairs, write_pairs

NAMES = ("one", "two", "three")


def test_a_story_that_was_run_again_has_its_new_line_alone(tmp_path: Path) -> None:
    """The others' lines stay as they are, and the sums are those of the lines."""
    for name, code, scenarios in (("two", "aaa", 1_000), ("one", "bbb", 200), ("two", "ccc", 3_000)):
        write_pairs(Proved.now(name, code, Report(scenarios=scenarios, faults=7)), NAMES, tmp_path)

    lines = read_pairs(tmp_path)

    assert [(line.story, line.commit, line.scenarios) for line in lines.values()] == [
        ("one", "bbb", "200"),
        ("two", "ccc", "3,000"),
    ]
    assert "2 stories, of 3: 3,200 scenarios, 14 faults" in (tmp_path / PAIRS).read_text(encoding="utf-8")


def test_a_story_that_is_no_more_has_no_line(tmp_path: Path) -> None:
    """A proof of what cannot be run again shows nothing."""
    for name in NAMES:
        write_pairs(Proved.now(name, "aaa", Report()), NAMES, tmp_path)

    write_pairs(Proved.now("one", "bbb", Report()), NAMES[:2], tmp_path)

    assert list(read_pairs(tmp_path)) == ["one", "two"]


def test_what_was_never_run_comes_first_then_the_oldest(monkeypatch: pytest.MonkeyPatch) -> None:
    """So that a run that is ended early, and begun again, comes to all of them."""
    known = {name: Proved(name, "aaa", ended, "1", "1", "1", "0") for name, ended in (("one", "2"), ("two", "1"))}
    monkeypatch.setattr(prove, "read_pairs", lambda: known)

    assert prove.due_first(NAMES) == ["three", "two", "one"]
