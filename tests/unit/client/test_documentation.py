"""Every snippet of ``docs/client.md`` runs, in the order of the page."""

import re
import subprocess
import sys
from pathlib import Path

import pytest

from tests.unit.client.live_api import TOKEN, LiveApi

ROOT = Path(__file__).parents[3]
PAGE = (ROOT / "docs" / "client.md").read_text(encoding="utf-8")


def snippets(language: str) -> list[str]:
    """The page's snippets in a language."""
    return re.findall(rf"^```{language}\n(.*?)^```$", PAGE, re.MULTILINE | re.DOTALL)


@pytest.fixture
def environment(live: LiveApi, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> dict[str, str]:
    """What the page supposes: a file, an address and a token."""
    (tmp_path / "contract.pdf").write_bytes(b"%PDF-1.7")
    monkeypatch.chdir(tmp_path)
    told = {"ONCEWARD_URL": live.url, "ONCEWARD_TOKEN": TOKEN, "PYTHONPATH": str(ROOT / "functions")}
    for name, value in told.items():
        monkeypatch.setenv(name, value)
    return told


def test_python_snippets_run(environment: dict[str, str], capsys: pytest.CaptureFixture[str]) -> None:
    """One after the other, in one program, and each prints what it promises."""
    names: dict[str, object] = {}
    for snippet in snippets("python"):
        exec(compile(snippet, "docs/client.md", "exec"), names)

    lines = capsys.readouterr().out.splitlines()
    assert lines[0] == "{'text': '8 bytes of application/pdf'}"
    assert lines[1].endswith(" queued False")
    assert lines[2] == "{'text': 'SAY HELLO.'} 5000"
    assert lines[3].endswith(" succeeded")
    assert lines[4] == "1 1 accepted succeeded 0"
    assert lines[5:] == ["[{'text': 'GREET ADA.'}, {'text': 'GREET GRACE.'}]"]


def test_shell_snippets_run(environment: dict[str, str]) -> None:
    """Line by line, and no line fails."""
    command = f'set -eu -o pipefail\nonceward() {{ "{sys.executable}" -m onceward.cli "$@"; }}\n'
    program = command + "".join(snippets("sh"))
    done = subprocess.run(["bash", "-c", program], capture_output=True, text=True, timeout=300, check=False)

    assert done.returncode == 0, done.stderr
    assert done.stdout.count('"text": "SAY HELLO."') == 3
    assert done.stdout.endswith("succeeded\nerased\n")
