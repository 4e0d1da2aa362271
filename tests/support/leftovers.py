"""What a process has running: compared before and after whatever must leave nothing behind."""

from __future__ import annotations

import asyncio
import gc
import threading
from dataclasses import dataclass
from pathlib import Path


@dataclass(frozen=True, slots=True)
class Running:
    """Threads by name, unfinished tasks of all loops by name, children (zombies too) by process id."""

    threads: frozenset[str]
    tasks: frozenset[str]
    children: frozenset[int]


def running() -> Running:
    """What runs in this process now; pytest's own watchdog is not ours."""
    tasks = [one for one in gc.get_objects() if isinstance(one, asyncio.Task) and not one.done()]
    of_threads = Path("/proc/self/task").iterdir()
    return Running(
        threads=frozenset(
            thread.name for thread in threading.enumerate() if not thread.name.startswith("pytest_timeout")
        ),
        tasks=frozenset(task.get_name() for task in tasks),
        children=frozenset(int(pid) for one in of_threads for pid in (one / "children").read_text().split()),
    )
