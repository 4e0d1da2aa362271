"""``onceward new-kind``: what it writes passes every check of the house, and nothing of yours is touched."""

from __future__ import annotations

import os
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

from tests.unit.cli.command import command

ROOT = Path(__file__).parents[3]
BIN = Path(sys.executable).parent
WRITTEN = ("functions/onceward/kinds/ticket_sort.py", "tests/unit/kinds/test_ticket_sort.py")
KNOWN_TYPES = ROOT / ".mypy_cache"
SAMPLE = "events/kind_ticket_sort.json"


@pytest.fixture
def clone(tmp_path: Path) -> Path:
    """A copy of what the command and the checks need."""
    unwanted = shutil.ignore_patterns("__pycache__")
    shutil.copytree(ROOT / "functions", tmp_path / "functions", ignore=unwanted)
    shutil.copytree(ROOT / "tests" / "unit" / "kinds", tmp_path / "tests" / "unit" / "kinds", ignore=unwanted)
    shutil.copytree(ROOT / "events", tmp_path / "events")
    shutil.copy(ROOT / "pyproject.toml", tmp_path)
    return tmp_path


def checked(clone: Path, *words: str) -> None:
    """Run a tool in the clone, on the clone's own package; it must have nothing to say against it."""
    environment = {
        **os.environ,
        "PYTHONPATH": f"{clone / 'functions'}{os.pathsep}{clone}",
        "PYTHONDONTWRITEBYTECODE": "1",
    }
    done = subprocess.run(words, cwd=clone, env=environment, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stdout + done.stderr


def test_what_it_writes_passes_the_checks(clone: Path) -> None:
    """Format, lint, types and its own test, before a line was changed."""
    ended = command("new-kind", "ticket.sort", "--in", str(clone))
    assert (ended.code, ended.out) == (0, "")

    checked(clone, str(BIN / "ruff"), "format", "--check", *WRITTEN, "functions/onceward/kinds/registered.py")
    checked(clone, str(BIN / "ruff"), "check", *WRITTEN, "functions/onceward/kinds/registered.py")
    if KNOWN_TYPES.exists():  # of everything else, from `make check`: to find them anew takes longer than all the rest
        shutil.copytree(KNOWN_TYPES, clone / KNOWN_TYPES.name)
    checked(clone, str(BIN / "mypy"), "--cache-dir", str(clone / KNOWN_TYPES.name), *WRITTEN)
    tests = ("tests/unit/kinds/test_ticket_sort.py", "tests/unit/kinds/test_registered.py")
    checked(clone, sys.executable, "-m", "pytest", "-q", "-p", "no:cacheprovider", *tests)
    assert (clone / SAMPLE).is_file()


def test_a_second_kind_of_that_name_is_refused_and_nothing_is_overwritten(clone: Path) -> None:
    """Your code is yours."""
    module = clone / WRITTEN[0]
    module.write_text("mine", encoding="utf-8")
    ended = command("new-kind", "ticket.sort", "--in", str(clone))

    assert (ended.code, module.read_text(encoding="utf-8")) == (2, "mine")
    assert not (clone / SAMPLE).exists()
    assert "ticket_sort" not in (clone / "functions/onceward/kinds/registered.py").read_text(encoding="utf-8")


@pytest.mark.parametrize(
    "name",
    [
        "",
        "Ticket.Sort",
        "ticket..sort",
        "../x",
        "1st",
        "class",
        "class.import",
        "a" * 65,
        "tick et",
        "ü",
        "ticket-sort",
    ],
)
def test_a_name_that_is_none_is_refused(clone: Path, name: str) -> None:
    """It becomes a file's, a class's and a row's."""
    assert command("new-kind", name, "--in", str(clone)).code == 2


def test_elsewhere_it_says_so(tmp_path: Path) -> None:
    """It writes into a clone of the kit only."""
    ended = command("new-kind", "ticket.sort", "--in", str(tmp_path))

    assert (ended.code, list(tmp_path.iterdir())) == (2, [])
    assert "no clone of the kit" in ended.err
