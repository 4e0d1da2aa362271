"""The table of transitions, and the page that is printed from it."""

from __future__ import annotations

from pathlib import Path

import pytest

from onceward.domain.states import LEGAL, TERMINAL, JobState, is_legal

PAGE = Path(__file__).parents[3] / "docs" / "lifecycle.md"
HEADER = "| from | to | by |\n|---|---|---|\n"


def printed() -> str:
    """The table as Markdown."""
    rows = [
        f"| `{before}` | `{after}` | {cause} |" for before, edges in LEGAL.items() for after, cause in edges.items()
    ]
    return HEADER + "\n".join(rows) + "\n"


def test_every_state_has_its_row() -> None:
    """No state is forgotten."""
    assert set(JobState) == set(LEGAL)


def test_terminal_states_are_left_only_by_a_new_epoch() -> None:
    """What leads out of a terminal state is the deliberate re-opening of a failure."""
    edges = {(before, after) for before in TERMINAL for after in LEGAL[before]}

    assert {(JobState.FAILED, JobState.QUEUED), (JobState.FAILED, JobState.WAITING)} == edges


@pytest.mark.parametrize("state", JobState)
def test_staying_put_is_legal(state: JobState) -> None:
    """A write that leaves the state alone is no transition."""
    assert is_legal(state, state)


def test_every_state_can_be_reached() -> None:
    """From ``queued`` all states can be reached by the table's edges."""
    reached, edge = {JobState.QUEUED}, {JobState.QUEUED}
    while edge:
        edge = {after for before in edge for after in LEGAL[before]} - reached
        reached |= edge

    assert set(JobState) == reached


def test_lifecycle_page_is_printed_from_the_table() -> None:
    """``docs/lifecycle.md`` holds exactly this table; on a difference, paste what this test prints."""
    assert printed() in PAGE.read_text(), printed()
