"""The first code of every child: sets limits that nothing after it can raise, then becomes the module it was given.

Run as ``python -m onceward.adapters.child_start <module> <memory bytes> <seconds> <output bytes>``. A program of its
own because code between fork and exec is unsafe in a parent with threads. Hard limits equal soft ones, so only a
privileged user could raise them, and a Lambda is none. Standard library only: its imports are the child's start-up.
"""

from __future__ import annotations

import resource
import runpy
import signal
import sys

MOST_FILES = 64  # open at once: modules and fonts are read one after the other
NO_CHILDREN = 0  # neither threads nor processes; the kernel counts per user, so no other number would be exact


def main() -> None:
    """Limit this process, then run the module as ``__main__``."""
    module, memory_bytes, seconds, output_bytes = sys.argv[1:]
    limit(memory_bytes=int(memory_bytes), seconds=int(seconds), output_bytes=int(output_bytes))
    sys.argv = [module]
    runpy.run_module(module, run_name="__main__", alter_sys=True)


def limit(*, memory_bytes: int, seconds: int, output_bytes: int) -> None:
    """Bound memory, processor time, file sizes, files, threads and processes of this process.

    The alarm and the processor time end a child whose parent died and can end it no longer; the alarm is a courtesy,
    since the module could clear it. Python ignores ``SIGXFSZ``; the default action ends a flood at its limit.
    """
    signal.signal(signal.SIGXFSZ, signal.SIG_DFL)
    signal.alarm(seconds)
    limits = {
        resource.RLIMIT_CPU: seconds + 1,
        resource.RLIMIT_FSIZE: output_bytes,
        resource.RLIMIT_NOFILE: MOST_FILES,
        resource.RLIMIT_CORE: 0,  # a core file would hold the document
        resource.RLIMIT_NPROC: NO_CHILDREN,
    }
    if sys.platform == "linux":  # macOS knows the name and refuses the limit
        limits[resource.RLIMIT_AS] = memory_bytes
    for what, value in limits.items():
        _soft, hard = resource.getrlimit(what)
        most = value if hard == resource.RLIM_INFINITY else min(value, hard)  # a limit never rises
        # At the hard limit of processor time the kernel kills without a word; one below it says which limit it was.
        resource.setrlimit(what, (most - 1 if what == resource.RLIMIT_CPU else most, most))


if __name__ == "__main__":
    main()
