"""Start a program that outlives its starter, find it again, and end it with its children.

A process id alone does not name a program: the kernel gives it to another one later. So the time at which the
kernel started it is kept beside it, and nothing is ever signalled whose mark differs.
Each program leads its own process group; the group is what ends, so that Lambda workers do not outlive their cloud.
"""

import os
import signal
import subprocess
from collections.abc import Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass
from datetime import timedelta
from pathlib import Path

from onceward.local.waiting import wait_until

GRACE = timedelta(seconds=3)  # ministack was seen to hang after TERM for good; it has nothing to save
AFTER_KILL = timedelta(seconds=5)  # the kernel needs no more to remove a killed process


@dataclass(frozen=True, slots=True, kw_only=True)
class Program:
    """A program started here or by an earlier run; ``mark`` is the kernel's start time of that process."""

    pid: int
    mark: str

    def is_running(self) -> bool:
        """Tell whether this very process still runs; a finished child is reaped on the way."""
        with suppress(ChildProcessError):  # it is a child only in the process that started it
            os.waitpid(self.pid, os.WNOHANG)
        return start_mark(self.pid) == self.mark

    def end(self, grace: timedelta = GRACE) -> None:
        """Ask it to end, wait, then kill what is left of its group. Ending what has ended is fine."""
        if not self.is_running():
            return
        _signal_group(self.pid, signal.SIGTERM)
        wait_until(lambda: not self.is_running(), grace)
        _signal_group(self.pid, signal.SIGKILL)
        wait_until(lambda: not self.is_running(), AFTER_KILL)


def start_program(command: Sequence[str], *, environment: Mapping[str, str], folder: Path, log: Path) -> Program:
    """Start a program in its own session with exactly this environment; its output goes to the log."""
    with log.open("wb") as output:
        # No context manager and no wait: it is meant to go on when this process ends.
        process = subprocess.Popen(
            command,
            env=dict(environment),
            cwd=folder,
            stdin=subprocess.DEVNULL,
            stdout=output,
            stderr=subprocess.STDOUT,
            start_new_session=True,
        )
    process.returncode = 0  # it is known by its Program from here on; silences the warning about an unreaped child
    return Program(pid=process.pid, mark=start_mark(process.pid))


def start_mark(pid: int) -> str:
    """Say when the kernel started this process, in the kernel's own words; empty if it runs no longer."""
    stat = Path("/proc") / str(pid) / "stat"
    try:
        # The name, in brackets, may hold spaces: fields are counted after it. Then: state is 0, start time is 19.
        fields = stat.read_text(encoding="utf-8", errors="replace").rpartition(")")[2].split()
    except FileNotFoundError:
        return "" if Path("/proc/self").exists() else _start_mark_by_ps(pid)
    except ProcessLookupError:
        return ""
    return "" if fields[0] in {"Z", "X"} else fields[19]


def _start_mark_by_ps(pid: int) -> str:
    """Ask ``ps`` where there is no ``/proc`` (macOS)."""
    asked = subprocess.run(
        ["ps", "-o", "stat=", "-o", "lstart=", "-p", str(pid)], capture_output=True, text=True, check=False
    )
    state, _, started = asked.stdout.strip().partition(" ")
    return "" if state.startswith("Z") else started.strip()


def _signal_group(leader: int, number: signal.Signals) -> None:
    """Signal a whole group; one that is gone already is fine."""
    with suppress(ProcessLookupError, PermissionError):  # macOS answers EPERM for a group of zombies
        os.killpg(leader, number)
