"""Each of the 86 failure modes is shown by a collected test, or it is said why not; the page is made from these."""

from __future__ import annotations

import re
import subprocess
import sys

import pytest

from tests.support.failure_modes import DATA, PAGE, ROOT, FailureMode, failure_modes, page

ROW = re.compile(r"^\| (F\d+) \| .* \| (.*) \|$", re.MULTILINE)
MODES = failure_modes()
ABSENT = {"F85"}  # the list may only shrink


@pytest.fixture(scope="module")
def made() -> str:
    """The page as it is made from the tests of today."""
    command = [sys.executable, "-m", "tests.support.failure_modes"]
    made = subprocess.run(command, cwd=ROOT, capture_output=True, text=True, check=False)
    assert made.returncode == 0, made.stderr
    return made.stdout


def test_all_modes_are_listed() -> None:
    """Eighty-six, each once, each with its sentence."""
    assert [mode.name for mode in MODES] == [f"F{number}" for number in range(1, 87)]
    assert all(mode.sentence.endswith(".") for mode in MODES)


def test_every_mode_has_a_test_or_a_reason(made: str) -> None:
    """Never neither, and never both: a mode that a test shows is absent no more."""
    shown = {name for name, cell in ROW.findall(made) if "](../tests/" in cell}

    assert len(ROW.findall(made)) == len(MODES)
    assert {mode.name for mode in MODES} - shown == ABSENT
    assert {mode.name for mode in MODES if mode.absent} == ABSENT


def test_no_test_is_marked_with_an_unknown_mode() -> None:
    """A slip in a mark would show a mode that there is not."""
    marked = {
        name
        for path in (ROOT / "tests").rglob("*.py")
        for args in re.findall(r"mark\.failure_mode\(([^)]*)\)", path.read_text(encoding="utf-8"))
        for name in re.findall(r'"(\w+)"', args)
    }

    assert marked - {mode.name for mode in MODES} == set()


def test_the_page_is_what_the_tests_say(made: str) -> None:
    """On a difference: ``python -m tests.support.failure_modes > docs/failure-modes.md``."""
    assert PAGE.read_text(encoding="utf-8") == made


def test_a_mode_that_loses_its_last_test_is_seen() -> None:
    """The page of no tests names none, so the comparison above is not blind."""
    mode = FailureMode(name="F1", sentence="It breaks.", differs="Otherwise.", absent="")

    assert "| F1 | It breaks. |  |" in page([mode], {})
    assert "| F1 | It breaks. | [test_x](../tests/test_a.py) |" in page([mode], {"F1": {("tests/test_a.py", "test_x")}})
    assert DATA.is_file()
