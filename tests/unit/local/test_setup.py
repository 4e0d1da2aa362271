"""What sets the checkout up says what is missing in one line, on a machine that has next to nothing."""

from __future__ import annotations

import shutil
import subprocess
from pathlib import Path

import pytest

from onceward.local.places import ROOT

NEEDS = "setup: needs uv or a Python 3.9+ with venv and pip on PATH; install one of them (3.13 is best) and run again\n"
OLD_PYTHON = "#!/bin/sh\nexit 1\n"  # what any Python before 3.9 answers when it is asked for its version


@pytest.fixture
def checkout(tmp_path: Path) -> Path:
    """As it is cloned: the scripts and what they read, nothing installed."""
    for name in (".ci/uv", ".ci/python", ".python-version", "locks/dev.txt"):
        (tmp_path / name).parent.mkdir(exist_ok=True)
        shutil.copy2(ROOT / name, tmp_path / name)
    return tmp_path


def typed(checkout: Path, script: str, path: str) -> tuple[int, str, str]:
    """Run a script with this PATH: how it ends, and what it prints and complains of."""
    done = subprocess.run(
        [str(checkout / ".ci" / script), "--version"], env={"PATH": path}, capture_output=True, text=True, check=False
    )
    return done.returncode, done.stdout, done.stderr


def test_without_uv_and_python_setup_says_what_to_install(checkout: Path) -> None:
    """One line, though even the tools of a shell are missing; nothing is left behind."""
    assert typed(checkout, "uv", "") == (1, "", NEEDS)
    assert not (checkout / ".local").exists()


def test_python_that_is_too_old_is_as_good_as_none(checkout: Path) -> None:
    """It is tried, and not tried for long."""
    (checkout / "bin").mkdir()
    for name in ("python3", "python"):
        (checkout / "bin" / name).write_text(OLD_PYTHON, encoding="utf-8")
        (checkout / "bin" / name).chmod(0o755)

    assert typed(checkout, "uv", str(checkout / "bin")) == (1, "", NEEDS)


def test_without_a_python_of_our_version_uv_is_given_its_number(checkout: Path) -> None:
    """Which lets uv look further, or fetch one."""
    version = (ROOT / ".python-version").read_text(encoding="utf-8").strip()

    assert typed(checkout, "python", "") == (0, f"{version}\n", "")
