"""The worker's processes from outside: which one holds a job, and what a machine can do to it."""

from __future__ import annotations

import os
import signal
from contextlib import suppress
from pathlib import Path

from tests.scenarios.stack import DeployedStack, until
from tests.support.deployed.crash_points import note_of

BOOTSTRAP = "_worker.py"  # what the local cloud starts a function's process with, in a folder named like the function


def holder_of(stack: DeployedStack, job_id: str) -> int:
    """The process that claimed a job last."""
    note = _note(stack, "holder", job_id)
    until(lambda: note.exists() or None, f"{job_id} has been claimed")
    return int(note.read_text())


def holders(stack: DeployedStack) -> set[int]:
    """All processes that have claimed a job, whether or not they still run."""
    notes = (stack.cloud.folder / "tmp").glob(note_of("holder", "*"))
    return {int(note.read_text()) for note in notes if not note.suffix}  # one with a suffix is being written


def has_reached(stack: DeployedStack, job_id: str) -> bool:
    """Whether a job is, or was, at the place that its prompt names."""
    return _note(stack, "reached", job_id).exists()


def go_on(stack: DeployedStack, job_id: str) -> None:
    """Let a job go on from its place, now or when its process can."""
    _note(stack, "go", job_id).touch()


def _note(stack: DeployedStack, what: str, job_id: str) -> Path:
    """A file by which the crash points and the tests talk."""
    return stack.cloud.folder / "tmp" / note_of(what, job_id)


def workers(stack: DeployedStack) -> list[int]:
    """All processes of the worker's function."""
    found = []
    for folder in Path("/proc").glob("[0-9]*"):
        with suppress(FileNotFoundError, ProcessLookupError):
            words = (folder / "cmdline").read_text().split("\0")
            if any(_is_worker(stack, word) for word in words):
                found.append(int(folder.name))
    return sorted(found)


def _is_worker(stack: DeployedStack, word: str) -> bool:
    """Whether this is the bootstrap of the worker's function in this cloud."""
    is_here = word.startswith(str(stack.cloud.folder)) and word.endswith(BOOTSTRAP)
    return is_here and stack.outputs["WorkerFunction"] in word


def kill(pid: int) -> None:
    """End a process like a lost machine; one that has ended is fine."""
    with suppress(ProcessLookupError):
        os.kill(pid, signal.SIGKILL)


def freeze(pid: int) -> None:
    """Stop a process with all its threads."""
    os.kill(pid, signal.SIGSTOP)


def thaw(pid: int) -> None:
    """Let a stopped process go on; one that has been ended meanwhile is fine."""
    with suppress(ProcessLookupError):
        os.kill(pid, signal.SIGCONT)


def children_of(pid: int) -> list[int]:
    """The children of a process, by all its threads; zombies too."""
    found: list[int] = []
    for thread in Path(f"/proc/{pid}/task").glob("*"):
        with suppress(FileNotFoundError, ProcessLookupError):
            found += [int(child) for child in (thread / "children").read_text().split()]
    return found


def threads_of(pid: int) -> int:
    """How many threads a process has."""
    return len(list(Path(f"/proc/{pid}/task").glob("*")))
