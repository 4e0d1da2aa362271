"""Parsers of what strangers send, fuzzed by what they execute: no crash, no hang, no flood, and an answer as agreed."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

import pytest

from tests.support.tree import ROOT

SECONDS = int(os.environ.get("ONCEWARD_FUZZ_SECONDS", "4"))
TARGETS = ("body", "message", "pdf", "docx", "html", "text")


@pytest.mark.skipif(sys.platform != "linux", reason="atheris has wheels for Linux only")
def test_no_input_that_new_code_leads_to_breaks_a_parser(tmp_path: Path) -> None:
    """As many inputs as their seconds allow; one that breaks a parser is kept, and told in hexadecimal."""
    command = [sys.executable, "-m", "tests.fuzz.guided", str(SECONDS), str(tmp_path)]
    ran = subprocess.run(command, cwd=ROOT, capture_output=True, text=True, check=False)
    kept = {path.name: path.read_bytes().hex() for path in tmp_path.glob("*/*") if path.is_file()}

    assert (ran.returncode, kept) == (0, {}), f"{kept}\n{ran.stdout[-2000:]}{ran.stderr[-4000:]}"
    assert set(ran.stdout.splitlines()) == {f"{name}: 0" for name in TARGETS}
    assert ran.stderr.count("Done") == len(TARGETS)
