"""A child for tests: does what the first word of its input says."""

import os
import resource
import subprocess
import sys
import time
from pathlib import Path


def main() -> None:
    """Do it."""
    what, _, rest = sys.stdin.buffer.read().partition(b" ")
    match what.decode():
        case "echo":
            sys.stdout.buffer.write(rest)
        case "exit":
            sys.exit(int(rest))
        case "complain":
            print("a sentence of the document", file=sys.stderr)
        case "family":
            start_a_child(then_leave=rest == b"orphan")
        case "environment" | "limits" | "arguments":
            describe(what.decode())
        case _:
            misbehave(what.decode(), int(rest or b"0"))


def describe(what: str) -> None:
    """Tell what the child was given."""
    names = ("AS", "CPU", "FSIZE", "NPROC", "CORE", "NOFILE")
    match what:
        case "environment":
            print(sorted(os.environ))
        case "limits":
            print({name: resource.getrlimit(getattr(resource, f"RLIMIT_{name}")) for name in names})
        case "arguments":
            print(sys.argv, __name__, Path.cwd())


def misbehave(what: str, amount: int) -> None:
    """Take memory, output or time without end."""
    match what:
        case "allocate":
            print(len(bytes(amount)))
        case "flood":
            while True:
                sys.stdout.buffer.write(bytes(1 << 16))
        case "hang":
            time.sleep(600)


def start_a_child(*, then_leave: bool) -> None:
    """Start a child that would outlive this one, and tell its id."""
    below = subprocess.Popen([sys.executable, "-c", "import time; time.sleep(600)"])
    print(below.pid, flush=True)
    if then_leave:
        os._exit(0)
    time.sleep(600)


if __name__ == "__main__":
    main()
