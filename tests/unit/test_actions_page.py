"""The page about actions: its declaration is the one that ships, and its agent loop runs as it stands."""

from __future__ import annotations

import re
import subprocess
import sys
from pathlib import Path

from tests.unit.client.live_api import TOKEN, LiveApi, live

__all__ = ["live"]

ROOT = Path(__file__).parents[2]
PAGE = (ROOT / "docs" / "actions.md").read_text(encoding="utf-8")
DECLARATION, LOOP = re.findall(r"```python\n(.*?)```", PAGE, re.DOTALL)


def test_the_declaration_is_the_one_that_ships() -> None:
    """But for what the file says besides: comments and descriptions."""
    shipped = (ROOT / "functions" / "onceward" / "kinds" / "create_task.py").read_text(encoding="utf-8")
    plain = re.sub(r', description="[^"]*"\)', ")", re.sub(r"  # noqa[^\n]*", "", shipped))

    assert DECLARATION.strip() in plain


def test_the_loop_runs_as_it_is_printed_and_opens_one_task_for_each_ticket(live: LiveApi, tmp_path: Path) -> None:
    """A program of its own over the real API and worker; run again it tells the same and changes nothing more."""
    program = tmp_path / "agent.py"
    program.write_text(LOOP, encoding="utf-8")
    known = {"PYTHONPATH": str(ROOT / "functions"), "ONCEWARD_URL": live.url, "ONCEWARD_TOKEN": TOKEN}
    runs = [
        subprocess.run([sys.executable, program], env=known, capture_output=True, text=True, check=False, timeout=240)
        for _ in range(2)
    ]

    assert [run.stderr for run in runs] == ["", ""]
    assert {run.stdout for run in runs} == {"ticket 481: task 1\nticket 482: task 2\n"}
    assert [given["source_ticket"] for _, given in live.targets[0].effects] == ["481", "482"]
