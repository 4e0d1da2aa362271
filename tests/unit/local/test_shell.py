"""The shell lines that ``make run`` prints work as they are pasted, and show no token."""

import json
import subprocess
import sys
from pathlib import Path

from onceward.local.places import SAMPLE
from onceward.local.shell import shell_lines


def test_pasted_lines_name_address_and_token_out_of_the_stack_s_file(tmp_path: Path) -> None:
    """Run in a checkout, they set what the client reads."""
    (tmp_path / ".local").mkdir()
    (tmp_path / ".local" / "stack.json").write_text(json.dumps({"api_url": "http://a/$x", "tokens": {"acme": "t-1"}}))
    (tmp_path / ".venv" / "bin").mkdir(parents=True)
    (tmp_path / ".venv" / "bin" / "python").symlink_to(sys.executable)
    _, url, token = shell_lines("acme", SAMPLE)

    shown = 'echo "$ONCEWARD_URL $ONCEWARD_TOKEN"'
    ran = subprocess.run(
        ["bash", "-c", f"{url}\n{token}\n{shown}"], cwd=tmp_path, capture_output=True, text=True, check=False
    )

    assert (ran.stdout, ran.stderr) == ("http://a/$x t-1\n", "")


def test_command_s_line_names_the_sample() -> None:
    """A newcomer has no document at hand."""
    assert next(shell_lines("acme", SAMPLE)) == (
        ".venv/bin/onceward --stack .local/stack.json --as acme submit document.analyze"
        " --document functions/onceward/local/samples/contract.pdf --wait"
    )
