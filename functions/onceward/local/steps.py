"""Tell a person what is being done while it is done, and how long it took."""

import time
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass

from onceward.local.failure import LocalError


@dataclass(slots=True)
class Outcome:
    """What a step adds to its line when it is over."""

    words: str = ""


@contextmanager
def step(doing: str) -> Iterator[Outcome]:
    """Print what begins, then its outcome and seconds on the same line; a failure ends the line, no more."""
    print(f"{doing} ... ", end="", flush=True)
    began = time.monotonic()
    outcome = Outcome()
    try:
        yield outcome
    except (LocalError, KeyboardInterrupt):
        print("no", flush=True)
        raise
    taken = f"{time.monotonic() - began:.1f} s"
    print(f"{outcome.words} ({taken})" if outcome.words else taken, flush=True)
