"""What every test of the system adapter ends with: nothing is left of what it started."""

import gc
import threading
from collections.abc import Iterator
from pathlib import Path

import pytest


@pytest.fixture(autouse=True)
def nothing_left() -> Iterator[None]:
    """Compare threads, children and open files before and after."""
    gc.collect()  # what an earlier test left is none of ours to close
    before = leftovers()
    yield
    gc.collect()

    assert leftovers() == before


def leftovers() -> tuple[set[str], list[int], int]:
    """Threads by name, children (zombies too) by id, and how many files are open."""
    tasks = Path("/proc/self/task")
    children = {int(pid) for task in tasks.iterdir() for pid in (task / "children").read_text().split()}
    threads = {thread.name for thread in threading.enumerate() if not thread.name.startswith("pytest_timeout")}
    return threads, sorted(children), len(list(Path("/proc/self/fd").iterdir()))
