"""Runs one child process for bytes that nobody vouches for, and ends it and its group in every case.

Input and output are unlinked files, not pipes: there is nothing to pump, so nothing blocks, fills or is left open,
and the kernel's own limit on file sizes bounds the output. The child gets no environment of ours, so no credentials;
``child_start.py`` limits it before its module runs. It runs as the same user and with the same network: this holds
in bytes that crash, hang or eat memory, it is no sandbox for hostile machine code.
"""

from __future__ import annotations

import asyncio
import math
import os
import signal
import subprocess
import sys
import tempfile
from contextlib import suppress
from datetime import timedelta
from typing import IO

from onceward.usecases.ports import ChildEnd

OUTPUT_LIMIT = 16 * 1024 * 1024  # bytes: the text of a thousand dense pages; more is a flood
POLL = 0.01  # seconds between looks at a child: small beside the start of an interpreter, and no thread or pidfd
LIMITER = "onceward.adapters.child_start"


async def run_child(module: str, stdin: bytes, *, timeout: timedelta, memory_bytes: int) -> ChildEnd:
    """Run ``python -m module``, feed it ``stdin``, and give back its end; it is gone when this returns or raises.

    ``timeout`` is wall-clock time, its start included. ``is_timed_out`` says that this limit, or the CPU limit that
    stands in for it, ended the child; a flood ends it by ``SIGXFSZ``, memory by whatever its code makes of
    ``MemoryError``. Nothing is awaited between its start and the ``try`` that ends it.
    """
    with tempfile.TemporaryFile() as source, tempfile.TemporaryFile() as sink:
        source.write(stdin)
        source.seek(0)
        child = _start(module, source, sink, timeout, memory_bytes)
        try:
            await _wait_for(child, timeout)
        finally:
            has_ended = _has_ended(child)  # asked once more: a starved loop may see the timeout first
            code = _end_group(child)
        sink.seek(0)
        return ChildEnd(
            code=code,
            stdout=sink.read(OUTPUT_LIMIT),
            is_timed_out=not has_ended or -code in {signal.SIGXCPU, signal.SIGALRM},
        )


def _start(
    module: str, source: IO[bytes], sink: IO[bytes], timeout: timedelta, memory_bytes: int
) -> subprocess.Popen[bytes]:
    """Start the limiter, which becomes the module.

    ``-P`` keeps the working directory out of the module path; ``-B`` writes no bytecode, which the limit on file
    sizes could cut short. Standard error is dropped: a parser's complaints may quote the document.
    """
    seconds = math.ceil(timeout.total_seconds()) + 1  # rounded up: the wall clock here is to be first
    limits = [str(limit) for limit in (memory_bytes, seconds, OUTPUT_LIMIT)]
    return subprocess.Popen(  # noqa: S603 - our own interpreter, and a module named in our own code
        [sys.executable, "-P", "-B", "-m", LIMITER, module, *limits],
        env={"PYTHONPATH": os.pathsep.join(filter(None, sys.path)), "LANG": "C.UTF-8"},
        cwd="/",
        stdin=source,
        stdout=sink,
        stderr=subprocess.DEVNULL,
        start_new_session=True,  # a group of its own, so that all of it can be ended at once
    )


async def _wait_for(child: subprocess.Popen[bytes], timeout: timedelta) -> None:
    """Wait for its end, ``timeout`` at most."""
    with suppress(TimeoutError):
        async with asyncio.timeout(timeout.total_seconds()):
            while not _has_ended(child):  # noqa: ASYNC110 - only the kernel could set an event, through a thread
                await asyncio.sleep(POLL)


def _has_ended(child: subprocess.Popen[bytes]) -> bool:
    """Ask without reaping: until it is reaped its id, and its group's, are no one else's."""
    return os.waitid(os.P_PID, child.pid, os.WEXITED | os.WNOHANG | os.WNOWAIT) is not None


def _end_group(child: subprocess.Popen[bytes]) -> int:
    """Kill what is left of its group, then reap it: no zombie. Blocks for as long as the kernel needs to clear it."""
    with suppress(ProcessLookupError, PermissionError):  # macOS answers EPERM for a group of zombies
        os.killpg(child.pid, signal.SIGKILL)
    return child.wait()
