"""A redrive's pace and its bar, by a clock and a terminal of the test's own."""

from __future__ import annotations

import io
from collections.abc import Sequence
from contextlib import redirect_stderr
from dataclasses import dataclass, field
from datetime import timedelta
from types import SimpleNamespace
from typing import Any

import pytest

from onceward.adapters.dead_letters import Letter, Moved
from onceward.cli.redriving import HELD, LONGEST_HOLD, Pace, move_all, watch
from onceward.cli.selecting import Planned
from onceward.domain.letters import Fate, Foretold
from onceward.domain.states import JobState
from onceward.errors import StoreUnavailable
from tests.support.builders import JOB_ID, NOW, TENANT, a_job

URL = "jobs"


class Terminal(io.StringIO):
    """A person looks at it."""

    def isatty(self) -> bool:
        """Yes."""
        return True

    @property
    def lines(self) -> list[str]:
        """What a line showed last before it ended."""
        shown = self.getvalue().replace("\x1b[?25l", "").replace("\x1b[?25h", "")
        return [line.rpartition("\r")[2] for line in shown.split("\n")]


@dataclass
class Clock:
    """Moves when it is waited for."""

    at: float = 100.0

    def now(self) -> float:
        """The instant."""
        return self.at

    def sleep(self, seconds: float) -> None:
        """Let it pass."""
        assert seconds >= 0
        self.at += seconds

    @property
    def pace(self) -> Pace:
        """As a command has it."""
        return Pace(self.now, self.sleep)


@dataclass
class Letters:
    """A queue that takes as long as ``takes`` says for each move; ``fails_at``: the move that is cut short."""

    clock: Clock
    takes: Sequence[float] = ()
    fails_at: int | None = None
    moves: list[tuple[float, int]] = field(default_factory=list)
    held: list[tuple[int, float]] = field(default_factory=list)

    def hold(self, letters: Sequence[Letter], seconds: float) -> None:
        """Note it."""
        self.held.append((len(letters), seconds))

    def move(self, letters: Sequence[Letter], to_url: str) -> Moved:
        """Note when, and how many."""
        assert to_url == URL
        number = len(self.moves)
        self.moves.append((self.clock.at, len(letters)))
        self.clock.at += self.takes[number] if number < len(self.takes) else 0.0
        if number == self.fails_at:
            return Moved(found=len(letters), sent=1, deleted=0, error=StoreUnavailable("sqs"))
        return Moved(found=len(letters), sent=len(letters), deleted=len(letters))


def planned(count: int, fate: Fate = Fate.REOPENS) -> list[Planned]:
    """So many letters of exhausted jobs."""
    letter = Letter(message_id="m", receipt="r", body="{}", sent_at=NOW, group=None, source_arn=None, attributes={})
    one = Planned(
        letter=letter,
        reason="attempts_exhausted",
        tenant=TENANT,
        job_id=JOB_ID,
        epoch=1,
        job=None,
        told=Foretold(fate, "why"),
    )
    return [one] * count


def moved(letters: Any, count: int, rate: int | None) -> Moved:
    """Move so many."""
    return move_all(letters, planned(count), URL, rate, letters.clock.pace)


@pytest.mark.parametrize(
    ("rate", "count", "moves"),
    [
        (None, 25, [(0, 10), (0, 10), (0, 5)]),
        (10, 25, [(0, 10), (1, 10), (2, 5)]),
        (4, 9, [(0, 4), (1, 4), (2, 1)]),
        (1, 3, [(0, 1), (1, 1), (2, 1)]),
        (100, 30, [(0, 10), (0.1, 10), (0.2, 10)]),
        (5, 0, []),
    ],
)
def test_no_more_leave_in_any_second_than_the_rate_says(
    rate: int | None, count: int, moves: list[tuple[float, int]]
) -> None:
    """A step is a second's letters at most, and SQS's batch at most; the next waits for its share of time."""
    letters = Letters(Clock())
    done = moved(letters, count, rate)

    assert (done.found, done.sent, done.deleted) == (count, count, count)
    assert [(round(at - 100, 6), size) for at, size in letters.moves] == moves


def test_step_that_took_long_is_not_made_up_for() -> None:
    """The queue hung for five seconds: what follows goes on at the rate, and not in a burst."""
    letters = Letters(Clock(), takes=[5.0])
    moved(letters, 8, 2)

    assert [at - 100 for at, _ in letters.moves] == [0, 5, 6, 7]


@pytest.mark.parametrize(
    ("count", "rate", "held"),
    [
        (30, 1, []),  # over while they are ours anyhow
        (31, 1, [(31, 31 + HELD)]),
        (40_000, 1, [(40_000, LONGEST_HOLD)]),
        (10_000, None, []),
    ],
)
def test_letters_that_wait_for_their_turn_are_kept_hidden(
    count: int, rate: int | None, held: list[tuple[int, float]]
) -> None:
    """Else another reader would have them before they are moved; twelve hours is the most that SQS allows."""
    letters = Letters(Clock())
    moved(letters, count, rate)

    assert letters.held == held


def test_bar_fills_on_a_terminal() -> None:
    """One line, written over, which ends when all are moved."""
    with redirect_stderr(Terminal()) as terminal:
        moved(Letters(Clock()), 25, None)

    assert isinstance(terminal, Terminal)
    positions = [part.rstrip().rpartition(" ")[2] for part in terminal.getvalue().split("\n")[0].split("\r")[1:]]
    assert [position.partition("\x1b")[0] for position in positions] == ["0/25", "10/25", "20/25", "25/25"]
    assert len(terminal.lines) == 2
    assert terminal.lines[0].startswith("moved  [####")


def test_bar_that_is_cut_short_ends_its_line() -> None:
    """What is said next begins a line of its own."""
    with redirect_stderr(Terminal()) as terminal:
        done = moved(Letters(Clock(), fails_at=1), 25, None)

    assert isinstance(terminal, Terminal)
    assert (done.sent, done.deleted, done.error is not None) == (11, 10, True)
    assert (terminal.lines[0].endswith("11/25"), terminal.lines[1:]) == (True, [""])


@pytest.mark.parametrize(("fails_at", "told"), [(None, "moved 25 of 25\n"), (1, "moved 11 of 25\n")])
def test_log_gets_one_line_that_says_how_far(fails_at: int | None, told: str) -> None:
    """No bar, no control characters, also where it ended early."""
    with redirect_stderr(io.StringIO()) as log:
        moved(Letters(Clock(), fails_at=fails_at), 25, 100)

    assert log.getvalue() == told


class Desk:
    """Looks at jobs, one of which opens again with each look from ``opens_at`` on."""

    def __init__(self, clock: Clock, opens_at: float) -> None:
        """Closed yet."""
        self.ports = SimpleNamespace(store=SimpleNamespace(get_job=lambda *_: None))
        self._clock, self._opens_at = clock, opens_at
        self.looks: list[float] = []

    def ask(self, _: object) -> Any:
        """The row as it is now."""
        self.looks.append(self._clock.at - 100)
        return a_job(state=JobState.QUEUED, epoch=2 if self._clock.at >= self._opens_at else 1)


@pytest.mark.parametrize(
    ("opens_at", "patience", "seen", "looks"),
    [(100.0, 30, 1, [0]), (102.0, 30, 1, [0, 1, 2]), (1_000.0, 2.5, 0, [0, 1, 2, 2.5]), (1_000.0, 0, 0, [0])],
)
def test_jobs_are_watched_once_a_second_until_open_or_out_of_patience(
    opens_at: float, patience: float, seen: int, looks: list[float]
) -> None:
    """It is told how many of them were seen again, and the line ends although not all were."""
    clock = Clock()
    desk: Any = Desk(clock, opens_at)
    with redirect_stderr(Terminal()) as terminal:
        found = watch(desk, planned(1), patience, clock.pace)

    assert isinstance(terminal, Terminal)
    assert (found, desk.looks) == (seen, looks)
    assert (terminal.lines[0].endswith(f"{seen}/1"), terminal.lines[1:]) == (True, [""])


def test_nothing_to_watch_says_nothing() -> None:
    """A wake-up opens nothing."""
    with redirect_stderr(io.StringIO()) as log:
        assert watch(SimpleNamespace(), planned(3, Fate.WAKES), timedelta(minutes=1).total_seconds()) == 0  # type: ignore[arg-type]

    assert log.getvalue() == ""
