"""What the simulation executes by itself stays what is claimed."""

from __future__ import annotations

import re
import subprocess
import sys

import pytest

from tests.simulation.covered import FOLDERS
from tests.simulation.without import ROOT

LEAST = 90.0  # per cent of the lines


@pytest.mark.thorough
@pytest.mark.timeout(600)  # all stories, in an interpreter that watches each line's first time
def test_the_simulation_executes_nine_lines_of_ten() -> None:
    """Of the use cases and of the handlers, each; in a process of its own, which sees imports too."""
    told = subprocess.run(
        [sys.executable, "-m", "tests.simulation.covered"], cwd=ROOT, capture_output=True, text=True, check=True
    ).stdout
    found = {folder: float(share) for folder, share in re.findall(r"^(\w+): ([0-9.]+) %", told, re.MULTILINE)}

    assert set(found) == set(FOLDERS)
    assert min(found.values()) >= LEAST, told
