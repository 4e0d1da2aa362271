"""``make run`` twice and ``make stop``, by the commands themselves, in a copy of this checkout.

The copy has folders and ports of its own, so that a stack that somebody runs here is left alone. What ``make setup``
installs is lent to it, and `make` is told to leave that as it is.
"""

from __future__ import annotations

import json
import os
import re
import shutil
import subprocess
from collections.abc import Iterator
from contextlib import suppress
from pathlib import Path

import httpx
import pytest

from onceward.local.places import ROOT
from onceward.local.server import free_port

pytestmark = pytest.mark.thorough  # a cloud and a deploy of its own take a minute of both cores

LENT = (".venv", ".local/cloud-venv", "infra/node_modules")
SET_UP = (".venv/.locked", ".venv/.package", ".local/cloud-venv/.compiled", "infra/node_modules/.locked")
LEFT_OUT = (".git", ".local", ".venv", "node_modules", "cdk.out", "__pycache__", ".*_cache", ".hypothesis")
QUICK = 30.0  # seconds for a second run, where nothing is left to do but to ask; it takes five on an idle machine
SHAPE = {"api_url", "aws_endpoint_url", "region", "model_url", "tokens", "tables", "queues", "bucket"}


class Checkout:
    """A copy of this checkout in which its commands are typed."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder
        self.port = free_port()
        shutil.copytree(ROOT, folder, ignore=shutil.ignore_patterns(*LEFT_OUT), symlinks=True)
        (folder / ".local").mkdir()
        for name in LENT:
            (folder / name).symlink_to(ROOT / name)

    def make(self, target: str, *, seconds: float = 300) -> str:
        """Type a target; what it says. A real model of the user's, and whatever pytest set, has no part in it."""
        shell = {
            name: value for name, value in os.environ.items() if not name.startswith(("PYTEST", "ONCEWARD", "MAKE"))
        }
        for key in ("OPENAI_API_KEY", "ANTHROPIC_API_KEY"):
            shell.pop(key, None)
        done = subprocess.run(
            ["make", "--no-print-directory", *(f"--assume-old={one}" for one in SET_UP), target, f"PORT={self.port}"],
            cwd=self.folder,
            env={
                **shell,
                "PYTHONPATH": str(self.folder / "functions"),
            },  # the lent environment knows the other checkout
            capture_output=True,
            text=True,
            timeout=seconds,
            check=False,
        )
        assert done.returncode == 0, done.stdout + done.stderr
        return done.stdout

    def processes(self) -> list[str]:
        """The command lines of all processes that stand in the copy or were started from it."""
        found = []
        for process in Path("/proc").glob("[0-9]*"):
            with suppress(OSError):
                command = (process / "cmdline").read_bytes().replace(b"\0", b" ").decode(errors="replace")
                if str(self.folder) in f"{(process / 'cwd').readlink()} {command}":
                    found.append(command)
        return found


@pytest.fixture(scope="module")
def checkout(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Checkout]:
    """The copy, with nothing running in it before and after."""
    made = Checkout(tmp_path_factory.mktemp("copy") / "onceward")
    yield made
    with suppress(AssertionError):
        made.make("stop")


def test_two_runs_are_one_stack_and_stop_ends_all_of_it(checkout: Checkout) -> None:
    """The first brings everything up and shows the analysis, the second replays it, and then nothing is left."""
    first = checkout.make("run")
    stack_file = checkout.folder / ".local" / "stack.json"
    stack = json.loads(stack_file.read_text(encoding="utf-8"))
    assert set(stack) == SHAPE
    assert {"acme", "globex", "operator"} == set(stack["tokens"])
    assert re.search(r"deploying the stacks .*\n?.*2 stacks stand", first)
    assert "succeeded" in first
    assert "title: " in first
    assert "(replayed)" not in first

    second = checkout.make("run", seconds=QUICK)
    again = json.loads(stack_file.read_text(encoding="utf-8"))
    assert {**again, "tokens": None} == {**stack, "tokens": None}
    assert second.count("runs already") == 3  # the cloud, the actions' target and the model server
    assert [word for word in ("unchanged", "is there already", "(replayed)") if word not in second] == []
    listed = httpx.get(
        f"{again['api_url']}/api/ai/jobs",
        headers={"authorization": f"Bearer {again['tokens']['acme']}"},
        timeout=QUICK,
        trust_env=False,
    )
    assert len(listed.json()["jobs"]) == 1

    assert checkout.processes()
    assert checkout.make("stop") == "stopped: the local cloud, the model server, the tracker\n"
    assert checkout.processes() == []
    assert not stack_file.exists()
    assert checkout.make("stop") == "nothing was running\n"
