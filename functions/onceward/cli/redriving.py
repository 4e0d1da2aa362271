"""Move dead letters back at a bounded rate, hold them meanwhile, and watch what comes of them."""

from __future__ import annotations

import sys
import time
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import typer

from onceward.cli.desk import Desk
from onceward.cli.selecting import Planned, counts
from onceward.cli.show import say
from onceward.domain.letters import Fate
from onceward.domain.names import JobId, TenantId, identity_of

if TYPE_CHECKING:
    from onceward.adapters.dead_letters import DeadLetters, Moved

STEP = 10  # letters between two looks at the clock: SQS's own batch
HELD = 60.0  # seconds for which a read letter is ours without asking
LONGEST_HOLD = 11 * 3_600  # seconds; SQS allows twelve hours


@dataclass(frozen=True, slots=True)
class Pace:
    """Time as a command has it, in seconds: one that never goes back, and waiting."""

    now: Callable[[], float] = time.monotonic
    sleep: Callable[[float], None] = time.sleep


REAL = Pace()


def report_of(planned: Sequence[Planned]) -> dict[str, Any]:
    """What would be done: how many open again, which are left alone and which are refused, and why."""
    return {
        "selected": len(planned),
        "would_reopen": sum(one.told.fate is Fate.REOPENS for one in planned),
        "would_wake": sum(one.told.fate is Fate.WAKES for one in planned),
        "skipped": {**counts(planned, Fate.MOVED_ON), **counts(planned, Fate.UNREADABLE)},
        "refused": counts(planned, Fate.REFUSED),
    }


def move_all(
    letters: DeadLetters, chosen: Sequence[Planned], to_url: str, rate: int | None, pace: Pace = REAL
) -> Moved:
    """Receive, send, delete, step by step and no faster than ``rate`` a second; a bar on stderr tells how far.

    No later letter leaves before its turn, and a step that took long is not made up for by hurrying.
    """
    from onceward.adapters.dead_letters import Moved  # noqa: PLC0415 - needs boto3, see ``cli/aws.py``

    if rate is not None and len(chosen) / rate > HELD / 2:
        letters.hold([one.letter for one in chosen], min(len(chosen) / rate + HELD, LONGEST_HOLD))
    sent = deleted = 0
    turn = pace.now()
    step = STEP if rate is None else min(STEP, rate)
    with _bar("moved", len(chosen)) as tell:
        for at in range(0, len(chosen), step):
            pace.sleep(max(0.0, turn - pace.now()))
            turn = pace.now() + (0.0 if rate is None else step / rate)
            moved = letters.move([one.letter for one in chosen[at : at + step]], to_url)
            sent, deleted = sent + moved.sent, deleted + moved.deleted
            tell(sent)
            if moved.error is not None:
                return Moved(found=len(chosen), sent=sent, deleted=deleted, error=moved.error)
    return Moved(found=len(chosen), sent=sent, deleted=deleted)


def watch(found: Desk, moved: Sequence[Planned], patience: float, pace: Pace = REAL) -> int:
    """How many of the moved letters' jobs were seen in a later epoch, after ``patience`` seconds at most."""
    left = [one for one in moved if one.told.fate is Fate.REOPENS]
    total, until = len(left), pace.now() + patience
    with _bar("opened again", total) as tell:
        while left:
            left = [one for one in left if not _is_open(found, one)]
            tell(total - len(left))
            if not left or pace.now() >= until:
                break
            pace.sleep(min(1.0, until - pace.now()))
    return total - len(left)


def _is_open(found: Desk, one: Planned) -> bool:
    """Whether the job has moved on from the letter's epoch."""
    place = TenantId(one.tenant or ""), identity_of(JobId(one.job_id or ""))
    row = found.ask(found.ports.store.get_job(*place))
    return row is not None and one.epoch is not None and row.epoch > one.epoch


@contextmanager
def _bar(what: str, total: int) -> Iterator[Callable[[int], None]]:
    """Tell how many are done: a bar on a terminal, whose line ends however it ends; in a log, the end alone."""
    done = 0
    if not total:
        yield lambda _: None
    elif sys.stderr.isatty():
        with typer.progressbar(length=total, label=what, file=sys.stderr, show_eta=False, show_pos=True) as bar:

            def draw(count: int) -> None:
                bar.update(count - bar.pos)

            yield draw
    else:

        def note(count: int) -> None:
            nonlocal done
            done = count

        try:
            yield note
        finally:
            say(f"{what} {done} of {total}")
