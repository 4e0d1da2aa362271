"""A program started here is found again, and ends with its children and nobody else."""

import os
import sys
from collections.abc import Iterator
from datetime import timedelta
from pathlib import Path

import pytest

from onceward.local.programs import Program, start_mark, start_program
from onceward.local.waiting import wait_until

SOON = timedelta(seconds=10)
STUBBORN_PARENT = """
import pathlib, signal, subprocess, sys, time
signal.signal(signal.SIGTERM, signal.SIG_IGN)
child = subprocess.Popen([sys.executable, "-c", "import time; time.sleep(600)"])
pathlib.Path("child").write_text(str(child.pid))
time.sleep(600)
"""


@pytest.fixture
def parent(tmp_path: Path) -> Iterator[Program]:
    """Start a program that ignores TERM and has a child; its child's id is in the file ``child``."""
    program = start_program(
        [sys.executable, "-c", STUBBORN_PARENT],
        environment={"PATH": os.environ["PATH"]},
        folder=tmp_path,
        log=tmp_path / "log",
    )
    assert wait_until(lambda: (tmp_path / "child").exists() and (tmp_path / "child").read_text() != "", SOON)
    yield program
    program.end(grace=timedelta(0))


def test_program_that_ignores_term_is_killed_with_its_child(parent: Program, tmp_path: Path) -> None:
    """Ending a program leaves nothing of it, whatever it does with TERM."""
    child = int((tmp_path / "child").read_text())

    parent.end(grace=timedelta(seconds=0.2))

    assert not parent.is_running()
    assert wait_until(lambda: start_mark(child) == "", SOON)


def test_process_id_given_to_another_program_is_not_touched(parent: Program) -> None:
    """A record of an earlier run never ends a program that merely has its number."""
    stranger = Program(pid=parent.pid, mark="another start")

    stranger.end(grace=timedelta(0))

    assert not stranger.is_running()
    assert parent.is_running()


def test_program_sees_exactly_the_environment_it_is_given(tmp_path: Path) -> None:
    """Nothing of the starter's environment reaches a program."""
    log = tmp_path / "log"
    program = start_program(
        [sys.executable, "-c", "import os; print(sorted(set(os.environ) - {'LC_CTYPE'}))"],
        environment={"ONLY": "this"},
        folder=tmp_path,
        log=log,
    )

    assert wait_until(lambda: not program.is_running(), SOON)
    assert log.read_text() == "['ONLY']\n"
