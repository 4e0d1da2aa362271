"""Parsers of what strangers send, fuzzed by what they execute: no crash, no hang, no flood, and an answer as agreed."""

from __future__ import annotations

import re
import subprocess
import sys
from pathlib import Path

import pytest

from tests.fuzz.runs import GUIDED, short_and_long
from tests.support.tree import ROOT


@pytest.mark.skipif(sys.platform != "linux", reason="atheris has wheels for Linux only")
@short_and_long
def test_no_input_that_new_code_leads_to_breaks_a_parser(tmp_path: Path, times: int) -> None:
    """As many inputs as stated; one that breaks a parser is kept, and told in hexadecimal."""
    command = [sys.executable, "-m", "tests.fuzz.guided", str(times), str(tmp_path)]
    ran = subprocess.run(command, cwd=ROOT, capture_output=True, text=True, check=False)
    kept = {path.name: path.read_bytes().hex() for path in tmp_path.glob("*/*") if path.is_file()}

    assert (ran.returncode, kept) == (0, {}), f"{kept}\n{ran.stdout[-2000:]}{ran.stderr[-4000:]}"
    assert set(ran.stdout.splitlines()) == {f"{name}: 0" for name in GUIDED}
    made = [int(runs) for runs in re.findall(r"^Done (\d+) runs", ran.stderr, re.MULTILINE)]
    assert sorted(made) == sorted(times * runs for runs in GUIDED.values())
